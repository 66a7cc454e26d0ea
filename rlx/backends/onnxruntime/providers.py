"""The execution providers that rlx registers: a constant each, named in `configs/backends.yaml`."""

from __future__ import annotations

from rlx.backends.onnxruntime import keys
from rlx.backends.onnxruntime.places import openvino, tensorrt
from rlx.backends.onnxruntime.provider import Provider
from rlx.backends.onnxruntime.qnn import htp

INDEX = {"device_id": "ask for the device by its index, such as cuda:1"}
STATED = "a program is computed as it states: export it in another precision"

CPU = Provider("onnxruntime-cpu", "CPUExecutionProvider", "cpu")

CUDA = Provider(
    "onnxruntime-cuda",
    "CUDAExecutionProvider",
    "cuda",
    package="onnxruntime-gpu",
    keys=keys.CUDA,
    ours={**INDEX, "use_tf32": STATED},
    fixed={"use_tf32": "0"},
    numbered=True,
)

TENSORRT = Provider(
    "onnxruntime-tensorrt",
    "TensorrtExecutionProvider",
    "cuda",
    package="onnxruntime-gpu",
    keys=keys.TENSORRT,
    ours={
        **INDEX,
        **dict.fromkeys(
            (
                "trt_bf16_enable",
                "trt_dla_core",
                "trt_dla_enable",
                "trt_fp16_enable",
                "trt_int8_calibration_table_name",
                "trt_int8_enable",
                "trt_int8_use_native_calibration_table",
            ),
            STATED,
        ),
    },
    place=tensorrt,
    numbered=True,
)

MIGRAPHX = Provider(
    "onnxruntime-migraphx",
    "MIGraphXExecutionProvider",
    "rocm",
    package="onnxruntime-migraphx",
    keys=keys.MIGRAPHX,
    ours={
        **INDEX,
        **dict.fromkeys(
            (
                "migraphx_bf16_enable",
                "migraphx_fp16_enable",
                "migraphx_fp8_enable",
                "migraphx_int8_calibration_table_name",
                "migraphx_int8_enable",
                "migraphx_int8_use_native_calibration_table",
            ),
            STATED,
        ),
    },
    numbered=True,
)

COREML = Provider(
    "onnxruntime-coreml",
    "CoreMLExecutionProvider",
    "ane",
    keys=keys.COREML,
    ours={
        "MLComputeUnits": "ane is the Neural Engine; choose another device for another unit",
        "AllowLowPrecisionAccumulationOnGPU": STATED,
    },
    fixed={"MLComputeUnits": "CPUAndNeuralEngine", "ModelFormat": "MLProgram"},
    computes="float16",
)

QNN = Provider(
    "onnxruntime-qnn",
    "QNNExecutionProvider",
    "hexagon",
    keys=keys.QNN,
    ours={
        **dict.fromkeys(("backend_path", "backend_type"), "hexagon is its HTP library"),
        **dict.fromkeys(("enable_htp_fp16_precision", "htp_bf16_enable"), STATED),
    },
    place=htp,
    plugin="onnxruntime_qnn",
    hardware=("NPU",),
    computes="float16",
    sticky=True,
)

QNN_EMULATED = Provider(
    "onnxruntime-qnn-emulated",
    QNN.name,
    QNN.device,
    keys=QNN.keys,
    ours=QNN.ours,
    place=htp,
    plugin=QNN.plugin,
    hardware=("CPU",),
    sticky=True,
)

VITISAI = Provider(
    "onnxruntime-vitisai",
    "VitisAIExecutionProvider",
    "xdna",
    package="onnxruntime-vitisai",
    keys=keys.VITISAI,
    computes="bfloat16",
)

OPENVINO = Provider(
    "onnxruntime-openvino",
    "OpenVINOExecutionProvider",
    "oneapi",
    package="onnxruntime-openvino",
    keys=keys.OPENVINO,
    ours={
        **dict.fromkeys(("device_id", "device_luid"), "ask for oneapi:0, or another index"),
        "device_type": "ask for oneapi:0, or another index",
        "enable_qdq_optimizer": STATED,
        "load_config": STATED,
        "precision": STATED,
        "graph_optimization": "OpenVINO optimizes: what onnxruntime folds first goes wrong there",
    },
    session={"graph_optimization": "disable"},
    place=openvino,
    plugin="onnxruntime_ep_openvino",
)

DIRECTML = Provider(
    "onnxruntime-directml",
    "DmlExecutionProvider",
    "directx",
    package="onnxruntime-directml",
    keys=keys.DIRECTML,
    ours={
        **INDEX,
        **dict.fromkeys(("device_filter", "performance_preference"), INDEX["device_id"]),
    },
    numbered=True,
)

WEBGPU = Provider(
    "onnxruntime-webgpu",
    "WebGpuExecutionProvider",
    "webgpu",
    package="onnxruntime-webgpu",
    keys=keys.WEBGPU,
    ours={
        "deviceId": "it is the number of an open device, not of an adapter",
        "forceCpuNodeNames": "no node is left to the CPU",
    },
    plugin="onnxruntime_ep_webgpu",
)

KNOWN = {
    one.name: one
    for one in (CUDA, TENSORRT, MIGRAPHX, COREML, QNN, VITISAI, OPENVINO, DIRECTML, WEBGPU)
}
"""By onnxruntime's names."""
