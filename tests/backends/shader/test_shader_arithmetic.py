"""Drivers do not simplify floats: what NaN, infinities and rounding make of a formula is kept."""

import numpy as np
import pytest

import rlx.backends.shader.namespace as xp
from rlx.backends.shader import devices, wgsl
from rlx.errors import Unavailable

X = np.array(
    [
        *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 1e-8, 3e38, -3e38, 5.5, 1e10, 0.3),
        *(1e-30, -7.25, 123456.7),
    ],
    np.float32,
)
HALVES = 12582912.0
"""1.5 times 2^23: a number that it is added to and taken from is rounded."""
FORMULAS = {
    "x - x": lambda x, m: x - x,
    "x + -x": lambda x, m: x + (-x),
    "(x + 1) - x": lambda x, m: (x + 1.0) - x,
    "(x + c) - c": lambda x, m: (x + HALVES) - HALVES,
    "(x - 1) + 1": lambda x, m: (x - 1.0) + 1.0,
    "2x - x": lambda x, m: (x + x) - x,
    "0 x": lambda x, m: 0.0 * x,
    "x 0": lambda x, m: x * 0.0,
    "0 / x": lambda x, m: 0.0 / x,
    "x / x": lambda x, m: x / x,
    "1 / (1 / x)": lambda x, m: 1.0 / (1.0 / x),
    "10x - 10x": lambda x, m: x * 10.0 + x * -10.0,
    "x^2 - x^2": lambda x, m: x * x - x * x,
    "(c x) / c": lambda x, m: (x * 1e30) * 1e-30,
    "c (c x)": lambda x, m: (x * 1e-30) * 1e-30 * 1e30 * 1e30,
    "x + c + c - c": lambda x, m: (x + 3e38) + 3e38 - 3e38,
    "x == x": lambda x, m: x == x,
    "x != x": lambda x, m: x != x,
    "x != 1": lambda x, m: x != 1.0,
    "x <= x": lambda x, m: x <= x,
    "x < x": lambda x, m: x < x,
    "not x < 1": lambda x, m: ~(x < 1.0),
    "not x >= 1": lambda x, m: ~(x >= 1.0),
    "x + 1 < x": lambda x, m: (x + 1.0) < x,
    "a truth times x": lambda x, m: m.where(x > 1.0, 1.0, 0.0) * x,
    "sqrt x sqrt x": lambda x, m: m.sqrt(x) * m.sqrt(x),
    "exp log x": lambda x, m: m.exp(m.log(x)),
    "log exp x": lambda x, m: m.log(m.exp(x)),
    "e^x e^-x": lambda x, m: m.exp(x) * m.exp(-x),
    "max of min": lambda x, m: m.minimum(m.maximum(x, 1.0), 1.0),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_is_computed_as_it_is_written(run, name):
    """Each is one kernel, whose driver might see that operands cancel, and what of NaN then?"""
    formula = FORMULAS[name]
    with np.errstate(all="ignore"):
        expected = np.asarray(formula(X, np))
    found = run(lambda x: formula(x, xp), X)
    if expected.dtype == bool:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected.astype(np.float32), rtol=2e-5, atol=1e-30)


@pytest.mark.needs("wgpu")
def test_a_driver_that_simplifies_floats_is_not_opened(monkeypatch):
    """Mesa's does, where it can see that two operands are one."""
    monkeypatch.setitem(wgsl._HIDDEN, "zero", "0u")
    with pytest.raises(Unavailable) as caught:
        devices._wgpu_driver("vulkan", 0)
    name = caught.value.message.partition(" (Vulkan)")[0]
    assert str(caught.value) == (
        f"{name} (Vulkan) simplifies x - x to 0, which is wrong for NaN and infinities. "
        "Fix: update the GPU's driver, or choose another device."
    )
