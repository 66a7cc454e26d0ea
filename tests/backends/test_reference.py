"""The oracle answers as ONNX's evaluator does, and keeps the protocol."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends.protocol import CompileOptions, Executable
from rlx.backends.reference import open_cpu
from rlx.device import DeviceSpec
from rlx.errors import SessionClosed, SettingError, Unavailable
from rlx.program import load

CPU = DeviceSpec("cpu", 0)


def compiled(text: str, opset: int = 21) -> Executable:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> {text}')
    return open_cpu(CPU, {}).compile(load(model), CompileOptions())


def test_a_value_that_a_person_can_check() -> None:
    executable = compiled("g (float[2] x, float[2] w) => (float[2] y) { y = Add(x, w) }")
    (y,) = executable.run([np.array([1, 2], np.float32), np.array([10, 20], np.float32)])
    assert (executable.device, y.tolist()) == ("cpu", [11.0, 22.0])


def test_softmax_of_an_old_opset_is_what_that_opset_says() -> None:
    """onnx's evaluator alone takes the last axis; opset 11 flattens to two axes first."""
    executable = compiled("g (float[1,2,2] x) => (float[1,2,2] y) { y = Softmax(x) }", opset=11)
    (y,) = executable.run([np.zeros((1, 2, 2), np.float32)])
    assert y.tolist() == [[[0.25, 0.25], [0.25, 0.25]]]


def test_scalars_come_out_as_arrays() -> None:
    executable = compiled("g (float[2] x) => (float y) { y = ReduceSum <keepdims = 0> (x) }")
    (y,) = executable.run([np.ones(2, np.float32)])
    assert isinstance(y, np.ndarray)
    assert y.tolist() == 2.0


def test_outputs_are_not_views() -> None:
    executable = compiled(
        "g (float[2] x) => (float[1,2] y) "
        "{ s = Constant <value_ints = [1, 2]> () y = Reshape(x, s) }"
    )
    x = np.ones(2, np.float32)
    (y,) = executable.run([x])
    y[:] = 7
    assert x.tolist() == [1, 1]


def test_infinities_are_no_warning() -> None:
    executable = compiled("g (float[1] x) => (float[1] y) { y = Reciprocal(x) }")
    assert executable.run([np.zeros(1, np.float32)])[0].tolist() == [np.inf]


def test_its_version_is_that_of_onnx() -> None:
    assert open_cpu(CPU, {}).version == onnx.__version__


@pytest.mark.parametrize(
    ("spec", "options", "error", "message"),
    [
        (DeviceSpec("cpu", 2), {}, Unavailable,
         "reference has only cpu:0, got cpu:2. Fix: ask for cpu."),
        (CPU, {"fast": True}, SettingError, "reference has no option 'fast'. Fix: remove it."),
    ],
)  # fmt: skip
def test_what_it_lacks_is_refused(
    spec: DeviceSpec, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        open_cpu(spec, options)
    assert str(caught.value) == message


def test_closing_twice_is_safe_and_running_then_is_an_error() -> None:
    executable = compiled("g (float[2] x) => (float[2] y) { y = Neg(x) }")
    executable.close()
    executable.close()
    with pytest.raises(SessionClosed) as caught:
        executable.run([np.ones(2, np.float32)])
    assert str(caught.value) == "this executable was closed. Fix: compile again."
