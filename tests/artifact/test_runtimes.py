"""Runtimes of artifacts: outputs that lie on a device, and libraries that are missing."""

import numpy as np
import pytest

from rlx.artifact.build import build
from rlx.artifact.checking import check
from rlx.errors import UnsupportedFeature
from rlx.session.artifacts import load_artifact
from tests.artifact.test_artifacts import FORMAT, Needy, Odd, registered

__all__ = ["Needy"]


class Far:
    """An array on a device: only its own executable reads it."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        raise TypeError("this memory is the device's")


class Distant(Odd):
    """A materializer of executables that give arrays of their own."""

    payload_format = FORMAT
    device = "cpu"

    def materialize(self, payload, spec):
        return self

    def run(self, inputs):
        return [Far(np.maximum(np.asarray(inputs[0]) + np.asarray(inputs[1]), 0))]

    def adopt(self, value):
        return value if isinstance(value, Far) else None

    def describe(self, array):
        return str(array.values.dtype), array.values.shape

    def to_host(self, array):
        return array.values

    def to_device(self, array):
        return Far(array)

    def close(self):
        pass


class Late(Distant):
    """It finds only when it is asked that its library is not installed."""

    def accepts(self, toolchain):
        raise ModuleNotFoundError("No module named 'iree'", name="iree")

    def materialize(self, payload, spec):
        raise ModuleNotFoundError("No module named 'iree'", name="iree")


class LaterStill(Late):
    def accepts(self, toolchain):
        return None


@pytest.mark.needs("onnxruntime")
def test_outputs_on_a_device_come_back_as_numpy_arrays(program):
    registry = registered(materializer=f"{__name__}:Distant")
    artifact = build(program, registry.get("onnxruntime-cpu"), registry)
    x = np.array([[1, -2], [3, -4]], np.float32)
    b = np.array([1, 1], np.float32)
    with load_artifact(artifact, registry) as model:
        (y,) = model(x, b)
        (again,) = model.run({"x": x, "b": b})
    assert (type(y), type(again)) == (np.ndarray, np.ndarray)
    np.testing.assert_array_equal(y, [[2, 0], [4, 0]])


@pytest.mark.parametrize("runtime", ["Needy", "Late", "LaterStill"])
def test_a_runtime_that_is_not_installed_is_named_whenever_it_is_missed(program, runtime):
    registry = registered(materializer=f"{__name__}:{runtime}", install="pip install it")
    artifact = build(program, registry.get("onnxruntime-cpu"), registry)
    needs = "the materializer of onnxruntime-cpu needs iree, which is not installed"
    found = check(artifact.header, registry)
    assert found.word == "compatible"
    assert found.notes == (
        () if runtime == "LaterStill" else (f"{needs}: its version was not compared",)
    )
    with pytest.raises(UnsupportedFeature) as caught:
        load_artifact(artifact, registry)
    assert str(caught.value) == f"{needs}. Fix: pip install it"
