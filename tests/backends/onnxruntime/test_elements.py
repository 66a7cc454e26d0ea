"""What a provider does not take with elements, it does not take without."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends.onnxruntime import open_qnn_emulated
from rlx.backends.onnxruntime.elements import with_elements
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError
from rlx.program import Program, load

ELSEWHERE = " Fix: choose another backend for this program: try `rlx explain --all`."


def program(text: str) -> Program:
    return load(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 18]> {text}'))


def shape(value: onnx.ValueInfoProto) -> list[int | str]:
    return [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]


def test_an_axis_without_elements_has_one() -> None:
    model = program("g (float[2,0,n] x) => (float[2,0,n] y) { y = Neg(x) }").to_onnx()
    before = model.SerializeToString()
    made = with_elements(model)
    assert [shape(value) for value in made.graph.input] == [[2, 1, "n"]]
    assert not made.graph.output[0].type.tensor_type.HasField("shape")
    assert model.SerializeToString() == before


@pytest.fixture(scope="module")
def emulated() -> Any:
    backend = open_qnn_emulated(DeviceSpec("hexagon", 0), {})
    yield backend
    backend.close()


QNN = pytest.mark.needs("onnxruntime_qnn")
EMULATES = pytest.mark.skipif(sys.platform != "linux", reason="QNN emulates on Linux")


@QNN
@EMULATES
def test_what_the_provider_gives_back_is_refused_without_elements_too(emulated: Any) -> None:
    source = program("g (double[0,1,4] x, double[2,1,2] w) => (double[0,2,3] y) { y = Conv(x, w) }")
    with pytest.raises(ExecutionError) as caught:
        emulated.compile(source, CompileOptions())
    assert caught.value.message.startswith(
        "onnxruntime-qnn-emulated does not compute this program, had it elements: "
    )


@QNN
@EMULATES
@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("Abs", None),
        ("Sinh", "onnxruntime-qnn-emulated leaves node 'Sinh_0' Sinh to the CPU."),
    ],
)
def test_what_the_provider_lacks_is_refused_without_elements_too(
    emulated: Any, operation: str, message: str | None
) -> None:
    source = program(f"g (float[2,0] x) => (float[2,0] y) {{ y = {operation}(x) }}")
    if message is not None:
        with pytest.raises(ExecutionError) as caught:
            emulated.compile(source, CompileOptions())
        assert str(caught.value) == message + ELSEWHERE
        return
    (y,) = emulated.compile(source, CompileOptions()).run([np.zeros((2, 0), np.float32)])
    assert y.shape == (2, 0)
