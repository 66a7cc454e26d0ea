"""Optionals: the value itself, or None."""

from __future__ import annotations

from typing import Any

from rlx.backends.array.site import Builder, Fresh, Kernel, Site


def _optional(_: Site) -> Kernel:
    return lambda value=None: value


def _get(_: Site) -> Kernel:
    def get(value: Any = None) -> Any:
        if value is None:
            raise ValueError("the optional holds nothing")
        return value

    return get


def _has(site: Site) -> Kernel:
    xp = site.xp
    return Fresh(lambda value=None: xp.asarray(value is not None, dtype=xp.bool))


KERNELS: dict[str, Builder] = {
    "Optional": _optional,
    "OptionalGetElement": _get,
    "OptionalHasElement": _has,
}
