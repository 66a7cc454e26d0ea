"""Whether a device's floats are IEEE 754's: tried, for no API tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rlx.backends.shader.namespace.elementwise import divide, multiply
from rlx.backends.shader.plan import bytes_of, planned
from rlx.backends.shader.tensor import Tensor

if TYPE_CHECKING:
    from rlx.backends.shader.driver import Driver


def is_exact(driver: Driver) -> bool:
    """Whether subnormal numbers are kept, and quotients are the nearest float32."""
    draw = np.random.default_rng(0)
    top, bottom = (draw.random(1 << 12, np.float32) + np.float32(0.5) for _ in range(2))
    edges = np.array([2.9e-39, 1e-45, 3.4e38, 1.2e-38], np.float32)
    top, bottom = np.append(top, edges), np.append(bottom, edges)
    one = np.ones_like(top)
    held = [Tensor.of_source(array) for array in (top, bottom, one)]
    wanted = [divide(held[0], held[1]), multiply(held[0], held[2])]
    made = planned(wanted, driver, {}, keep=True)
    driver.prepare(made.dispatches)((), ())
    found = [
        driver.read(made.results[each.serial].memory, bytes_of(each)).view(np.float32)
        for each in wanted
    ]
    return bool(np.array_equal(found[0], top / bottom) and np.array_equal(found[1], top))
