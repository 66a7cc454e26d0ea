"""ONNX's interface goes through the router, and refuses with the route's text."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from rlx import onnx_backend

X = np.array([1, -2], np.float32)


def model(operation: str = "Neg", element: int = TensorProto.FLOAT) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node(operation, ["x"], ["y"])],
        operation.lower(),
        [helper.make_tensor_value_info("x", element, [2])],
        [helper.make_tensor_value_info("y", element, [2])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.fixture
def numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLX_BACKEND", "numpy")


@pytest.mark.usefixtures("numpy")
def test_a_prepared_model_runs_by_position_and_names_its_outputs() -> None:
    outputs = onnx_backend.prepare(model()).run([X])
    assert outputs.y.tolist() == [-1, 2]  # type: ignore[attr-defined]
    assert outputs["y"] is outputs[0]  # type: ignore[call-overload]


@pytest.mark.usefixtures("numpy")
def test_one_array_need_not_stand_in_a_list() -> None:
    assert onnx_backend.prepare(model()).run(X)[0].tolist() == [-1, 2]


@pytest.mark.usefixtures("numpy")
def test_a_model_runs_at_once() -> None:
    assert onnx_backend.run_model(model(), [X])[0].tolist() == [-1, 2]


@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_the_environment_of_that_moment_chooses(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLX_BACKEND", backend)
    assert onnx_backend.prepare(model()).compiled.backend == backend


def test_where_nobody_asks_it_is_the_cpu() -> None:
    assert str(onnx_backend.prepare(model()).compiled.device) == "cpu:0"


@pytest.mark.usefixtures("numpy")
def test_a_device_that_is_asked_for_is_stronger_than_the_environment() -> None:
    with pytest.raises(unittest.SkipTest) as caught:
        onnx_backend.prepare(model(), "CUDA:0")
    assert "cuda" in str(caught.value)


@pytest.mark.usefixtures("numpy")
def test_a_refusal_is_a_skip_with_the_routes_text() -> None:
    with pytest.raises(unittest.SkipTest) as caught:
        onnx_backend.prepare(model("RandomUniformLike"))
    assert type(caught.value) is unittest.SkipTest
    first, second = str(caught.value).splitlines()[:2]
    assert first == "numpy cannot run randomuniformlike (1 node)"
    assert "not-requested" in second


def test_what_is_no_program_is_a_skip() -> None:
    with pytest.raises(unittest.SkipTest):
        onnx_backend.prepare(onnx.ModelProto())


@pytest.mark.usefixtures("numpy")
def test_compatible_means_that_there_is_a_route() -> None:
    assert onnx_backend.is_compatible(model())
    assert not onnx_backend.is_compatible(model("RandomUniformLike"))
    assert not onnx_backend.is_compatible(onnx.ModelProto())


@pytest.mark.usefixtures("numpy")
def test_one_node_runs_with_its_types_inferred() -> None:
    node = helper.make_node("Concat", ["a", "b"], ["c"], axis=0)
    (c,) = onnx_backend.run_node(node, [X, X])
    assert c.tolist() == [1, -2, 1, -2]


@pytest.mark.usefixtures("numpy")
def test_one_node_runs_at_an_older_opset_with_its_types_given() -> None:
    node = helper.make_node("Softmax", ["x"], ["y"])
    info = [(np.float32, (1, 2, 2))]
    x = np.zeros((1, 2, 2), np.float32)
    (y,) = onnx_backend.run_node(node, [x], outputs_info=info, opset_version=11)
    assert y.tolist() == [[[0.25, 0.25], [0.25, 0.25]]]


@pytest.mark.parametrize(
    ("device", "supported"), [("CPU", True), ("CUDA", False), ("CUDA:x", False), ("TOASTER", False)]
)
def test_devices_are_supported_where_they_work(device: str, supported: bool) -> None:
    assert onnx_backend.supports_device(device) is supported


@pytest.mark.usefixtures("numpy")
def test_a_backend_chosen_by_the_environment_is_no_other_device() -> None:
    assert onnx_backend.supports_device("CPU")
    assert not onnx_backend.supports_device("METAL")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: onnx_backend.prepare(model(), speed=1), "prepare() has no argument 'speed'"),
        (lambda: onnx_backend.prepare(model()).run([X], n=1), "run() has no argument 'n'"),
        (lambda: onnx_backend.is_compatible(model(), a=1), "is_compatible() has no argument 'a'"),
    ],
)
def test_an_unknown_argument_is_an_error(call: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.usefixtures("numpy")
def test_the_tolerances_that_onnxs_runner_passes_are_taken() -> None:
    assert onnx_backend.prepare(model(), rtol=1e-3, atol=1e-5).run([X])[0].tolist() == [-1, 2]


def test_the_module_is_the_interface() -> None:
    names = ("prepare", "run_model", "run_node", "supports_device", "is_compatible")
    assert all(callable(getattr(onnx_backend, name)) for name in names)
    assert issubclass(onnx_backend.RlxBackend, onnx.backend.base.Backend)
