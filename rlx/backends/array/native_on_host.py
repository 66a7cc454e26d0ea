"""What libraries made after NumPy, on other devices, do not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlx.backends.array.dtypes import CODES, numpy_dtype
from rlx.backends.array.kernels.table import KERNELS

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site

EXTENDED = frozenset(
    name for name in CODES.values() if name == "string" or numpy_dtype(name).isbuiltin != 1
)
"""dtypes that NumPy has only by objects and ml_dtypes, such as string, bfloat16, int4."""


def scatters() -> Mapping[str, Builder]:
    """ScatterElements and ScatterND for a library that can't combine updates of one element."""

    def builder(name: str) -> Builder:
        def build(site: Site) -> Kernel:
            if site.attributes.get("reduction", "none") != "none":
                raise NotImplementedError(f"{site.library.name} can't combine updates")
            return KERNELS[name](site)

        return build

    return {name: builder(name) for name in ("ScatterElements", "ScatterND")}
