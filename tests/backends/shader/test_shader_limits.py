"""Adapters that allow little: kernels are made to fit, and what cannot fit is refused first."""

from dataclasses import replace

import numpy as np
import pytest
from onnx import TensorProto, helper

import rlx.backends.shader.namespace as xp
from rlx.backends.protocol import CompileOptions, TooLarge
from rlx.backends.shader.backend import ShaderBackend
from rlx.conformance.compare import Tolerance
from rlx.conformance.trial import DECLINED, Trial, attempt
from rlx.program import load

LITTLE = {
    "invocations": {"threads": 48},
    "shared memory": {"threads": 256, "shared_bytes": 512},
    "bindings": {"buffers": 3},
    "all": {"threads": 20, "shared_bytes": 200, "buffers": 3, "alignment": 256},
}
RNG = np.random.default_rng(7)
X, Y = (RNG.standard_normal((40, 300)).astype(np.float32) for _ in range(2))
COMPUTED = {
    "sum": (lambda x, y: xp.sum(x, axis=1), lambda x, y: x.sum(1)),
    "all of it": (lambda x, y: xp.sum(x * y), lambda x, y: (x * y).sum()),
    "largest": (lambda x, y: xp.argmax(x, axis=1), lambda x, y: x.argmax(1)),
    "normalised": (
        lambda x, y: (x - xp.mean(x, axis=1, keepdims=True)) / xp.std(x, axis=1, keepdims=True),
        lambda x, y: (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True),
    ),
    "product": (lambda x, y: xp.matmul(x, y.T), lambda x, y: x @ y.T),
    "joined": (
        lambda x, y: xp.concat([x, y, x + y, x * y, x - y], axis=0) * 2.0,
        lambda x, y: np.concatenate([x, y, x + y, x * y, x - y]) * 2,
    ),
}


@pytest.fixture
def allowing(driver):
    """Sets an adapter's limits, for one test."""
    limits = driver.limits

    def allow(**given):
        driver.limits = replace(limits, **given)

    yield allow
    driver.limits = limits


@pytest.mark.parametrize("name", COMPUTED)
@pytest.mark.parametrize("what", LITTLE)
def test_kernels_fit_an_adapter_that_allows_little(allowing, run, what, name):
    """Workgroups of no power of two, little shared memory, hardly any bindings."""
    allowing(**LITTLE[what])
    ours, theirs = COMPUTED[name]
    np.testing.assert_allclose(run(ours, X, Y), theirs(X, Y), rtol=1e-4, atol=1e-4)


def twice(count):
    """A program that adds an array to itself."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [count]) for name in "xy"]
    node = helper.make_node("Add", ["x", "x"], ["y"])
    return load(helper.make_model(helper.make_graph([node], "twice", values[:1], values[1:])))


REFUSED = {
    "seen": (
        {"binding_bytes": 1024},
        "an array float32[300] takes 1200 bytes; shaders of {} see 1024",
    ),
    "held": (
        {"buffer_bytes": 1000},
        "an array float32[300] takes 1200 bytes; shaders of {} see 1000",
    ),
    "groups": (
        {"groups": 4},
        "an array float32[300] needs 5 workgroups along an axis; {} allows 4",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_an_adapter_does_not_allow_is_refused_when_it_is_compiled(driver, allowing, what):
    """Before anything runs, with a code; and it is no claim that is broken."""
    limits, message = REFUSED[what]
    backend = ShaderBackend(driver, "shaders")
    program, x = twice(300), np.ones(300, np.float32)
    trial = Trial("twice", program, [x], [x + x], Tolerance())
    assert attempt(backend, trial).passed
    allowing(**limits)
    with pytest.raises(TooLarge) as caught:
        backend.compile(program, CompileOptions())
    assert caught.value.code == "unsupported-feature"
    assert str(caught.value) == (
        message.format(driver.detail) + ". Fix: choose another device: run `rlx devices`."
    )
    assert attempt(backend, trial).status == DECLINED
