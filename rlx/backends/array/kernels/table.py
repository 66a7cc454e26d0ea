"""All kernel builders by operation, gathered from the family modules beside this one."""

from __future__ import annotations

import importlib
import pkgutil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import rlx.backends.array.kernels as families

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.array.site import Builder


def gather(name: str) -> dict[str, Any]:
    """Every family's table of this name, merged.

    Raises:
        ValueError: two families claim one operation.
    """
    table: dict[str, Any] = {}
    for module in pkgutil.iter_modules(families.__path__, families.__name__ + "."):
        if module.name == __name__:
            continue
        family = getattr(importlib.import_module(module.name), name, {})
        if clash := table.keys() & family.keys():
            raise ValueError(f"{module.name}: {sorted(clash)} have {name} in another family")
        table |= family
    return table


KERNELS: Mapping[str, Builder] = MappingProxyType(gather("KERNELS"))
HOST_OPERANDS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"If": (0,), "Loop": (0, 1)} | gather("HOST")
)
"""By operation, the positions of the inputs that its kernel reads as Python numbers, such as a
shape or axes: they come as NumPy arrays, whatever the library."""
HOSTED = frozenset({"NonMaxSuppression", "Unique"} | gather("HOSTED").keys())
"""Operations that choose step by step, or hold texts, trees and maps: NumPy computes them on the
host, for every library."""
DYNAMIC = frozenset({"Compress", "NonZero", "NonMaxSuppression", "Unique"})
"""Operations whose results' sizes depend on the data."""
