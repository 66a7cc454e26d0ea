"""Comparison, logic on booleans, and choosing by a condition."""

from __future__ import annotations

from rlx.backends.array.native import function
from rlx.backends.array.site import Builder, Fresh, Kernel, Site


def _function(name: str) -> Builder:
    def build(site: Site) -> Kernel:
        return Fresh(function(site.xp, name).call)

    return build


def _where(site: Site) -> Kernel:
    return Fresh(site.xp.where)


KERNELS: dict[str, Builder] = {
    "Equal": _function("equal"),
    "Greater": _function("greater"),
    "GreaterOrEqual": _function("greater_equal"),
    "Less": _function("less"),
    "LessOrEqual": _function("less_equal"),
    "And": _function("logical_and"),
    "Or": _function("logical_or"),
    "Xor": _function("logical_xor"),
    "Not": _function("logical_not"),
    "Where": _where,
}
