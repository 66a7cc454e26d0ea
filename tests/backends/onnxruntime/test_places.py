"""Which device an index is, and in what it computes: OpenVINO's, TensorRT's, Hexagon's."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import onnx
import pytest

from rlx.backends.onnxruntime import providers
from rlx.backends.onnxruntime.narrow import promised
from rlx.backends.protocol import CompileOptions
from rlx.errors import PrecisionError, Unavailable
from rlx.program import load
from tests.backends.onnxruntime.engines import CPU, Engine, plugin_device

pytestmark = pytest.mark.needs("onnxruntime")
OPENVINO, TENSORRT = providers.OPENVINO, providers.TENSORRT
INTEL = ["CPU", "GPU.0", "GPU.1", "NPU"]


def with_openvino(*devices: str) -> Engine:
    """An onnxruntime that OpenVINO is built into."""
    engine = Engine([OPENVINO.name, CPU])
    state = SimpleNamespace(get_available_openvino_device_ids=lambda: list(devices))
    engine.capi = SimpleNamespace(_pybind_state=state)  # type: ignore[attr-defined]
    return engine


@pytest.mark.parametrize(
    ("devices", "index", "name", "precision", "computes", "software"),
    [
        (["CPU"], 0, "CPU", "FP32", None, True),
        (["CPU", "GPU"], 0, "GPU", "FP32", None, False),
        (INTEL, 1, "GPU.1", "FP32", None, False),
        (INTEL, 2, "NPU", "FP16", "float16", False),
    ],
)
def test_openvino_has_accelerators_first_and_the_cpu_where_there_are_none(
    devices: list[str], index: int, name: str, precision: str, computes: str, software: bool
) -> None:
    found = OPENVINO.placed(with_openvino(*devices), index, {"num_streams": "1"})
    assert found.settings == {"num_streams": "1", "device_type": name, "precision": precision}
    assert (found.computes, found.software) == (computes, software)
    assert found.detail == f"OpenVINO {name}"


@pytest.mark.parametrize(
    ("devices", "index", "message"),
    [
        (
            ["CPU"],
            1,
            "onnxruntime-openvino has only oneapi:0, got oneapi:1. Fix: ask for oneapi.",
        ),
        (
            INTEL,
            3,
            "onnxruntime-openvino finds 3 devices, none of index 3. Fix: see `rlx devices`.",
        ),
        (
            [],
            0,
            "onnxruntime-openvino finds 0 devices, none of index 0. Fix: see `rlx devices`.",
        ),
    ],
)
def test_a_device_of_openvino_that_is_not_there(
    devices: list[str], index: int, message: str
) -> None:
    with pytest.raises(Unavailable) as caught:
        OPENVINO.placed(with_openvino(*devices), index, {})
    assert str(caught.value) == message


def test_a_device_of_openvinos_plugin_is_told_its_precision() -> None:
    device = plugin_device(OPENVINO.name, "GPU")
    device.ep_metadata["ov_device"] = "GPU.0"
    engine = Engine([CPU], devices=[device])
    engine.registered.append((OPENVINO.name, "/plugin.so"))
    found = OPENVINO.placed(engine, 0, {})
    assert found.device is device
    assert found.settings == {
        "load_config": '{"GPU":{"INFERENCE_PRECISION_HINT":"f32","EXECUTION_MODE_HINT":"ACCURACY"}}'
    }


@pytest.mark.parametrize(("value", "computes"), [("0", None), ("1", "tf32"), (None, "tf32")])
def test_tensorrt_computes_float32_only_where_the_variable_says_so(
    monkeypatch: pytest.MonkeyPatch, value: str | None, computes: str | None
) -> None:
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE", raising=False)
    if value is not None:
        monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", value)
    found = TENSORRT.placed(Engine([TENSORRT.name, CPU]), 2, {})
    assert (found.settings, found.computes) == ({"device_id": "2"}, computes)


def stating(dtype: str) -> Any:
    text = f"g ({dtype}[2] x) => ({dtype}[2] y) {{ y = Neg(x) }}"
    return load(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}'))


REFUSED = [
    ("float", "float16", CompileOptions()),
    ("float", "float16", CompileOptions("f32")),
    ("double", "float16", CompileOptions()),
    ("float", "bfloat16", CompileOptions("f16")),
    ("float", "tf32", CompileOptions()),
    ("float", "tf32", CompileOptions("f16")),
    ("float16", None, CompileOptions("f32")),
]
KEPT = [
    ("float16", "float16", CompileOptions("f16")),
    ("float16", "float16", CompileOptions()),
    ("float", "float16", CompileOptions("f16")),
    ("int32", "float16", CompileOptions()),
    ("float", "bfloat16", CompileOptions("bf16")),
    ("double", "tf32", CompileOptions()),
    ("float16", "tf32", CompileOptions()),
    ("float", "float16", CompileOptions(precision_policy="allow")),
    ("float", "tf32", CompileOptions(precision_policy="warn")),
    ("float", None, CompileOptions("f32")),
]


@pytest.mark.parametrize(("dtype", "computes", "options"), REFUSED)
def test_less_than_is_stated_is_refused(
    dtype: str, computes: str | None, options: CompileOptions
) -> None:
    with pytest.raises(PrecisionError):
        promised(stating(dtype), options, "it", computes)


@pytest.mark.parametrize(("dtype", "computes", "options"), KEPT)
def test_what_is_stated_or_asked_for_or_allowed_is_kept(
    dtype: str, computes: str | None, options: CompileOptions
) -> None:
    promised(stating(dtype), options, "it", computes)


def test_less_is_said_under_the_policy_warn(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "rlx"):
        promised(stating("float"), CompileOptions(precision_policy="warn"), "it", "tf32")
    assert [one.message for one in caplog.records] == ["it computes g in tf32, it states float32"]
