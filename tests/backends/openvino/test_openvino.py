"""OpenVINO runs on the device that was asked for, in the precision that was, or says why not."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends import openvino
from rlx.backends.openvino.backend import OpenVino, unread
from rlx.backends.protocol import CompileOptions, Executable, Found
from rlx.device import DeviceSpec
from rlx.errors import (
    ContractError,
    ExecutionError,
    PrecisionError,
    RlxError,
    SessionClosed,
    SettingError,
    Unavailable,
)
from rlx.program import load

pytestmark = pytest.mark.needs("openvino")
CPU = DeviceSpec("cpu", 0)
ELSEWHERE = " Fix: choose another backend: run `rlx explain --all`."


def program(text: str, opset: int = 25) -> Any:
    """A program from ONNX's text syntax."""
    return load(onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": {opset}]> {text}'))


def compiled(text: str, **options: Any) -> Executable:
    asked = CompileOptions(precision_policy=options.pop("policy", "error"))
    return openvino.open_cpu(CPU, options).compile(program(text), asked)


NEG = "g (float[2] x) => (float[2] y) { y = Neg(x) }"
X = np.array([1, -2], np.float32)


def test_it_runs_where_it_says() -> None:
    executable = compiled(NEG)
    (y,) = executable.run([X])
    assert executable.device == "cpu"
    np.testing.assert_array_equal(y, -X)


def test_the_version_is_the_engines() -> None:
    assert openvino.import_engine().get_version().startswith(openvino.open_cpu(CPU, {}).version)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"INFERENCE_NUM_THREAD": 1},
            "openvino-cpu has no option 'INFERENCE_NUM_THREAD'. "
            "Fix: did you mean INFERENCE_NUM_THREADS?",
        ),
        (
            {"INFERENCE_PRECISION_HINT": "bf16"},
            "openvino-cpu: INFERENCE_PRECISION_HINT is not an option of rlx. "
            "Fix: set precision_policy.",
        ),
        (
            {"CACHE_DIR": "/tmp"},
            "openvino-cpu: CACHE_DIR is not an option of rlx. "
            "Fix: compiled programs are not kept on disk.",
        ),
        (
            {"NUM_STREAMS": "many"},
            "openvino-cpu: NUM_STREAMS can't be 'many': Could not read number of streams from str: "
            "many; stoi. Fix: write another value, or remove it.",
        ),
        (
            {"DYNAMIC_QUANTIZATION_GROUP_SIZE": 32},
            "openvino-cpu: DYNAMIC_QUANTIZATION_GROUP_SIZE 32 computes in less than float32. "
            "Fix: remove DYNAMIC_QUANTIZATION_GROUP_SIZE, or set precision_policy to allow.",
        ),
    ],
)
def test_an_option_that_can_not_be_kept_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        compiled(NEG, **options)
    assert str(caught.value) == message


def test_an_unlike_option_is_told_all_there_are() -> None:
    with pytest.raises(SettingError, match=r"no option 'zzz'\. Fix: use one of .*NUM_STREAMS"):
        openvino.open_cpu(CPU, {"zzz": 1})


def test_options_reach_the_engine() -> None:
    executable: Any = compiled(NEG, INFERENCE_NUM_THREADS=1)
    assert executable._compiled.get_property("INFERENCE_NUM_THREADS") == 1


@pytest.mark.parametrize(("policy", "hint"), [("error", "f32"), ("warn", "f32")])
def test_float32_is_computed_as_such(policy: str, hint: str) -> None:
    executable: Any = compiled(NEG, policy=policy)
    assert executable._compiled.get_property("INFERENCE_PRECISION_HINT").to_string() == hint


def test_lower_precision_is_the_engines_choice_where_it_is_allowed() -> None:
    core = openvino.import_engine().Core()
    executable: Any = compiled(NEG, policy="allow")
    used = executable._compiled.get_property("INFERENCE_PRECISION_HINT")
    assert used == core.get_property("CPU", "INFERENCE_PRECISION_HINT")


def test_float64_is_refused_unless_less_is_allowed() -> None:
    text = "g (double[2] x) => (double[2] y) { y = Neg(x) }"
    with pytest.raises(PrecisionError) as caught:
        compiled(text)
    assert str(caught.value) == (
        "openvino-cpu computes float64 in float32, and g states it. Fix: choose another backend, "
        "export the program in float32, or set precision_policy to allow."
    )
    (y,) = compiled(text, policy="allow").run([X.astype(np.float64)])
    np.testing.assert_array_equal(y, -X.astype(np.float64))


def test_there_is_one_cpu() -> None:
    with pytest.raises(Unavailable) as caught:
        openvino.open_cpu(DeviceSpec("cpu", 1), {})
    assert str(caught.value) == (
        "openvino-cpu cannot use cpu:1: openvino lists CPU, none of index 1. "
        "Fix: see `rlx devices`."
    )


@pytest.mark.parametrize("kind", ["gpu", "npu"])
def test_a_device_that_is_missing_is_never_another(kind: str) -> None:
    found = {"gpu": openvino.probe_gpu, "npu": openvino.probe_npu}[kind](0)
    if isinstance(found, Found):
        pytest.skip(f"there is one: {found.detail}")
    assert found.startswith(
        f"openvino lists CPU and no {kind.upper()}: its driver is missing, or there is no such "
        "device"
    )
    opening = {"gpu": openvino.open_gpu, "npu": openvino.open_npu}[kind]
    device = {"gpu": "oneapi", "npu": "npu"}[kind]
    with pytest.raises(Unavailable) as caught:
        opening(DeviceSpec(device, 0), {})
    assert str(caught.value) == (
        f"openvino-{kind} cannot use {device}:0: {found}. "
        f"Fix: install {openvino.DRIVERS[kind.upper()]}, or ask for another device."
    )


def test_an_operation_that_is_not_read_is_named() -> None:
    with pytest.raises(ExecutionError) as caught:
        compiled("g (float[3,3] x) => (float y) { y = Det(x) }")
    said = "openvino-cpu can't read g: No conversion rule found for operations: Det-"
    assert str(caught.value).startswith(said)


def test_an_operation_that_is_answered_wrongly_is_refused() -> None:
    with pytest.raises(ExecutionError) as caught:
        compiled(
            'g (uint8[2] x, uint8[2] n) => (uint8[2] y) { y = BitShift<direction = "LEFT">(x, n) }'
        )
    assert str(caught.value) == (
        f"openvino-cpu answers BitShift wrongly, which is node BitShift_0.{ELSEWHERE}"
    )


def test_what_can_not_be_read_is_said_in_its_last_words() -> None:
    assert unread(RuntimeError("Exception from a.cpp:1:\nbroken\n\n")) == "broken"
    assert unread(RuntimeError("")) == "RuntimeError"


class Core:
    """OpenVINO's core, changed."""

    def __init__(self, core: Any):
        self._core = core

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)


class Lacking(Core):
    """OpenVINO's core, where a node is on no device."""

    def query_model(self, model: Any, name: str) -> dict[str, str]:
        found = dict(self._core.query_model(model, name))
        return {node: where for node, where in found.items() if node != "y"}

    def compile_model(self, *_: Any) -> Any:
        raise RuntimeError("Exception from a.cpp:1:\nno kernel\n")


class Elsewhere(Core):
    """OpenVINO's core, which compiles for another device, or in another precision."""

    def __init__(self, core: Any, **wrong: Any):
        super().__init__(core)
        self._wrong = wrong

    def compile_model(self, *arguments: Any) -> Any:
        made, wrong = self._core.compile_model(*arguments), self._wrong
        get = made.get_property
        return type("Made", (), {"get_property": lambda _, key: wrong.get(key) or get(key)})()


def opened(core: type[Core], **wrong: Any) -> OpenVino:
    engine = openvino.import_engine()
    return OpenVino(engine, core(engine.Core(), **wrong), "cpu", "CPU", "openvino-cpu", {})


def test_a_node_that_is_on_no_device_is_named() -> None:
    with pytest.raises(ExecutionError) as caught:
        opened(Lacking).compile(program(NEG), CompileOptions())
    assert str(caught.value) == f"openvino-cpu can't run y (Negative) of g on CPU.{ELSEWHERE}"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"EXECUTION_DEVICES": ["GPU.0", "CPU"]}, "openvino runs on GPU.0, CPU, asked for CPU"),
        ({"INFERENCE_PRECISION_HINT": "bf16"}, "openvino computes in bf16, asked for f32"),
    ],
)
def test_a_broken_promise_is_noticed(wrong: dict[str, Any], message: str) -> None:
    if "INFERENCE_PRECISION_HINT" in wrong:
        wrong = {"INFERENCE_PRECISION_HINT": openvino.import_engine().Type.bf16}
    with pytest.raises(ContractError) as caught:
        opened(Elsewhere, **wrong).compile(program(NEG), CompileOptions())
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("capable", "states", "hint"),
    [
        (["FP32", "FP16"], "float", "f32"),
        (["FP32", "FP16"], "float16", "f32"),
        (["FP16", "INT8"], "float16", "f16"),
        (["FP16", "INT8"], "bool", "f32"),
        (["FP16", "INT8"], "float", None),
    ],
)
def test_the_precision_asked_for_is_never_less_than_the_programs(
    capable: list[str], states: str, hint: str | None
) -> None:
    class Capable(Core):
        def get_property(self, name: str, key: str) -> Any:
            return capable if key == "OPTIMIZATION_CAPABILITIES" else {}

    text = f"g ({states}[2] x) => ({states}[2] y) {{ y = Identity(x) }}"
    if hint is None:
        with pytest.raises(PrecisionError) as caught:
            opened(Capable)._hint(program(text))
        assert str(caught.value) == (
            "openvino-cpu computes in FP16, INT8, g in float32. Fix: export the program in "
            "float16, or set precision_policy to allow."
        )
    else:
        assert opened(Capable)._hint(program(text)) == hint


def test_it_can_be_closed_and_closed_again() -> None:
    executable = compiled(NEG)
    executable.close()
    executable.close()
    with pytest.raises(SessionClosed) as caught:
        executable.run([X])
    assert str(caught.value) == (
        "this executable was closed, called with 1 inputs. Fix: compile again."
    )


def test_an_error_without_words_has_its_name() -> None:
    assert openvino.said(ValueError("")) == "ValueError"
    assert issubclass(SettingError, RlxError)
