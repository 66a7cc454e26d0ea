"""Whether a device's floats are IEEE 754's, and computed as written: tried, for no API tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.shader.limits import bytes_of
from rlx.backends.shader.mending import REFINED
from rlx.backends.shader.namespace import elementwise as xp
from rlx.backends.shader.plan import planned
from rlx.backends.shader.tensor import Tensor

if TYPE_CHECKING:
    from rlx.backends.shader.driver import Driver
    from rlx.backends.shader.dtypes import Host


ROUNDING = 12582912.0
"""1.5 times 2^23: what it is added to and taken from comes out rounded."""


COMPARED: Mapping[str, tuple[Any, Any]] = MappingProxyType(
    {
        "eq": (xp.equal, np.equal),
        "ne": (xp.not_equal, np.not_equal),
        "lt": (xp.less, np.less),
        "le": (xp.less_equal, np.less_equal),
        "gt": (xp.greater, np.greater),
        "ge": (xp.greater_equal, np.greater_equal),
    }
)
"""Comparisons, by the name that kernels have for them, and NumPy's."""


def is_faithful(driver: Driver) -> bool:
    """Whether the driver computes what is written; it may take that x - x is 0, whatever x is."""
    x = np.array([np.inf, 0.375, 2.5, np.nan], np.float32)
    held = Tensor.of_source(x)
    shifted = xp.subtract(held + ROUNDING, ROUNDING)
    found = _computed(driver, [xp.subtract(held, held), xp.multiply(held, 0.0), shifted])
    with np.errstate(invalid="ignore"):
        expected = [x - x, x * np.float32(0), np.rint(x)]
    return all(map(partial(np.array_equal, equal_nan=True), found, expected))


def loose(driver: Driver) -> frozenset[str]:
    """The functions that are not computed as IEEE 754 says, subnormal numbers apart.

    Quotients that are right once they are rounded again, which is cheap, are called so.
    """
    wrong = _wrong(driver)
    if "div" not in wrong:
        return wrong
    limits = driver.limits
    driver.limits = replace(limits, loose=frozenset({REFINED}))
    try:
        refined = "div" not in _wrong(driver)
    finally:
        driver.limits = limits
    return (wrong - {"div"}) | {REFINED} if refined else wrong


def _wrong(driver: Driver) -> frozenset[str]:
    """Comparisons, and quotients, that the driver gets wrong as it is."""
    draw = np.random.default_rng(0)
    top, bottom = (draw.random(1 << 12, np.float32) + np.float32(0.5) for _ in range(2))
    edges = np.array([0.0, -0.0, 1.0, -2.0, 3.4e38, np.inf, -np.inf, np.nan], np.float32)
    top = np.concatenate([top, np.repeat(edges, len(edges))])
    bottom = np.concatenate([bottom, np.tile(edges, len(edges))])
    held = [Tensor.of_source(array) for array in (top, bottom)]
    wanted = [xp.where(ours(*held), 1.0, 0.0) for ours, _ in COMPARED.values()]
    *truths, quotients = _computed(driver, [*wanted, xp.divide(*held)])
    with np.errstate(all="ignore"):
        expected = [theirs(top, bottom) for _, theirs in COMPARED.values()]
        exact = top / bottom
    normal = ~((np.abs(exact) < np.finfo(np.float32).smallest_normal) & (exact != 0))
    right = map(np.array_equal, truths, expected)
    found = {name for name, same in zip(COMPARED, right, strict=True) if not same}
    if not np.array_equal(quotients[normal], exact[normal], equal_nan=True):
        found.add("div")
    return frozenset(found)


def _computed(driver: Driver, wanted: list[Tensor]) -> list[Host]:
    """The arrays, of float32, computed on the device."""
    made = planned(wanted, driver, {}, keep=True)
    driver.prepare(made.dispatches)((), ())
    return [
        driver.read(made.results[each.serial].memory, bytes_of(each)).view(np.float32)
        for each in wanted
    ]
