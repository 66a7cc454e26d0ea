"""What libraries made after NumPy leave to NumPy itself, on the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rlx.backends.array.dtypes import CODES, numpy_dtype
from rlx.backends.array.host import NUMPY
from rlx.backends.array.kernels.table import KERNELS
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site

EXTENDED = frozenset(
    name for name in CODES.values() if name == "string" or numpy_dtype(name).isbuiltin != 1
)
"""dtypes that NumPy has only by objects and ml_dtypes, such as string, bfloat16, int4."""


def scatters(
    to_host: Callable[[Any], Any], to_native: Callable[[Any], Any]
) -> Mapping[str, Builder]:
    """ScatterElements and ScatterND for a library without combining updates of one element.

    With a reduction NumPy computes them on the host; without, they are the portable ones.
    """

    def builder(name: str) -> Builder:
        def build(site: Site) -> Kernel:
            if site.attributes.get("reduction", "none") == "none":
                return KERNELS[name](site)
            kernel = KERNELS[name](replace(site, library=NUMPY))
            return Fresh(lambda *inputs: to_native(kernel(*map(to_host, inputs))))

        return build

    return {name: builder(name) for name in ("ScatterElements", "ScatterND")}
