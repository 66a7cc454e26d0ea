"""Drivers do not simplify floats: what NaN, infinities and rounding make of a formula is kept."""

from dataclasses import replace

import numpy as np
import pytest

import rlx.backends.shader.namespace as xp
from rlx.backends.shader import devices, wgsl
from rlx.backends.shader.backend import library_of
from rlx.backends.shader.exactness import COMPARED
from rlx.backends.shader.exactness import loose as tried
from rlx.errors import Unavailable
from tests.backends.shader.conftest import opened

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


@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_what_is_left_of_a_division_is_exact(run, name):
    """However much larger the dividend is, and for subnormal numbers; zeros and infinities too."""
    draw = np.random.default_rng(5)
    a, b = (draw.integers(0, 1 << 32, 20000, np.uint32).view(np.float32) for _ in range(2))
    near = draw.standard_normal((2, 5000)).astype(np.float32)
    a = np.concatenate([a, np.repeat(X, len(X)), near[0] * 100, near[0] * near[1]])
    b = np.concatenate([b, np.tile(X, len(X)), near[1], near[1]])
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a, b)
    np.testing.assert_array_equal(run(getattr(xp, name), a, b), expected)


USUAL = "abs({0} / {1}) > 1e-30 && abs({0} / {1}) < 1e30"
LOOSE = f"bitcast<f32>(bitcast<u32>({{0}} / {{1}}) + select(0u, 2u, {USUAL}))"


@pytest.fixture
def loose(monkeypatch):
    """Computes on an adapter that is no IEEE 754's: it says so, and its quotients are off."""
    driver = opened("wgpu")
    monkeypatch.setitem(wgsl._FLOAT, "div", LOOSE)
    assert "div" in tried(driver)
    wrong = frozenset({"mul", "div", "floor", "ceil", *COMPARED})
    monkeypatch.setattr(driver, "limits", replace(driver.limits, loose=wrong))
    library = library_of(driver, "loose")

    def call(function, *arrays):
        held = [library.to_native(array) for array in arrays]
        (made,) = library.guard(lambda: [function(*held)])
        return library.to_host(made)

    return call


@pytest.mark.needs("wgpu")
def test_quotients_are_rounded_where_the_adapter_does_not(loose):
    """It may be two places off, says Vulkan; QuantizeLinear rounds halves to even."""
    draw = np.random.default_rng(6)
    b = draw.random(20000, np.float32) + np.float32(0.01)
    a = draw.random(20000, np.float32) * 100
    scale = np.float32(2.0) ** draw.integers(-10, 10, 5000).astype(np.float32) * np.float32(0.375)
    halves = (draw.integers(-200, 200, 5000) + 0.5).astype(np.float32)
    a = np.concatenate([a, halves * scale, np.repeat(X, len(X)), [1e-40, 3e-39, -1.0, 1e-45]])
    b = np.concatenate([b, scale, np.tile(X, len(X)), [2e-40, 1e10, 5e-39, 1e-38]])
    a, b = a.astype(np.float32), b.astype(np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(loose(xp.divide, a, b), a / b)


@pytest.mark.needs("wgpu")
@pytest.mark.parametrize(
    "name", ["multiply", "less", "equal", "greater_equal", "fmod", "remainder"]
)
def test_functions_of_two_are_mended_where_the_adapter_is_loose(loose, name):
    """As on any other."""
    x = np.append(X, np.array([1e-40, -3e-39, 1e-45], np.float32))
    a, b = np.repeat(x, len(x)), np.tile(x, len(x))
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a, b)
    np.testing.assert_array_equal(loose(getattr(xp, name), a, b), expected)


@pytest.mark.needs("wgpu")
@pytest.mark.parametrize("name", ["floor", "ceil", "sign", "log"])
def test_functions_of_one_are_mended_where_the_adapter_is_loose(loose, name):
    """Of subnormal numbers as well."""
    x = np.append(X, np.array([1e-40, -3e-39, 1e-45, -1e-45], np.float32))
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    np.testing.assert_allclose(loose(getattr(xp, name), x), expected, rtol=1e-6)


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
