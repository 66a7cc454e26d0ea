"""Whether a device's floats are IEEE 754's, and computed as written: tried, for no API tells."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rlx.backends.shader.limits import bytes_of
from rlx.backends.shader.namespace.elementwise import divide, multiply, subtract
from rlx.backends.shader.plan import planned
from rlx.backends.shader.tensor import Tensor

if TYPE_CHECKING:
    from rlx.backends.shader.driver import Driver
    from rlx.backends.shader.dtypes import Host


ROUNDING = 12582912.0
"""1.5 times 2^23: what it is added to and taken from comes out rounded."""


def is_faithful(driver: Driver) -> bool:
    """Whether the driver computes what is written; it may take that x - x is 0, whatever x is."""
    x = np.array([np.inf, 0.375, 2.5, np.nan], np.float32)
    held = Tensor.of_source(x)
    shifted = subtract(held + ROUNDING, ROUNDING)
    found = _computed(driver, [subtract(held, held), multiply(held, 0.0), shifted])
    with np.errstate(invalid="ignore"):
        expected = [x - x, x * np.float32(0), np.rint(x)]
    return all(map(partial(np.array_equal, equal_nan=True), found, expected))


def is_exact(driver: Driver) -> bool:
    """Whether subnormal numbers are kept, and quotients are the nearest float32."""
    draw = np.random.default_rng(0)
    top, bottom = (draw.random(1 << 12, np.float32) + np.float32(0.5) for _ in range(2))
    edges = np.array([2.9e-39, 1e-45, 3.4e38, 1.2e-38], np.float32)
    top, bottom = np.append(top, edges), np.append(bottom, edges)
    one = np.ones_like(top)
    held = [Tensor.of_source(array) for array in (top, bottom, one)]
    found = _computed(driver, [divide(held[0], held[1]), multiply(held[0], held[2])])
    return np.array_equal(found[0], top / bottom) and np.array_equal(found[1], top)


def _computed(driver: Driver, wanted: list[Tensor]) -> list[Host]:
    """The arrays, of float32, computed on the device."""
    made = planned(wanted, driver, {}, keep=True)
    driver.prepare(made.dispatches)((), ())
    return [
        driver.read(made.results[each.serial].memory, bytes_of(each)).view(np.float32)
        for each in wanted
    ]
