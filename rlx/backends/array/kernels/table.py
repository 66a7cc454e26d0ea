"""All kernel builders by operation, gathered from the family modules beside this one."""

from __future__ import annotations

import importlib
import pkgutil
from types import MappingProxyType
from typing import TYPE_CHECKING

import rlx.backends.array.kernels as families

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.array.site import Builder


def gather() -> dict[str, Builder]:
    """Every family's `KERNELS`, merged.

    Raises:
        ValueError: two families claim one operation.
    """
    table: dict[str, Builder] = {}
    for module in pkgutil.iter_modules(families.__path__, families.__name__ + "."):
        if module.name == __name__:
            continue
        family = getattr(importlib.import_module(module.name), "KERNELS", {})
        if clash := table.keys() & family.keys():
            raise ValueError(f"{module.name}: {sorted(clash)} have kernels in another family")
        table |= family
    return table


KERNELS: Mapping[str, Builder] = MappingProxyType(gather())
