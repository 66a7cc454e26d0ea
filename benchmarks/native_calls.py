"""What a call through rlx costs beyond OpenVINO and tinygrad, each called in its own best way."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rlx
from benchmarks.models import add
from benchmarks.results import Figure
from benchmarks.timing import side_by_side
from rlx import testing
from rlx.backends.openvino import import_engine

Call = Callable[[], Any]
FACTORIES = {
    "openvino": "rlx.backends.openvino:open_cpu",
    "tinygrad": "rlx.backends.tinygrad:open_cpu",
}


def measure() -> tuple[list[Figure], dict[str, Any]]:
    """Two and four inputs of 4 floats, static sizes; the added time per call."""
    figures, details = [], {}
    for engine, direct in (("openvino", openvino), ("tinygrad", tinygrad)):
        for inputs in (2, 4):
            row = one(engine, direct, inputs)
            details[f"{engine}, {inputs} inputs"] = row
            figures.append(
                Figure(
                    f"a call through rlx adds to {engine}, {inputs} inputs",
                    (row["rlx"] - row["direct"]) * 1e6,
                    "µs",
                    0.5 + 0.1 * (inputs + 1),
                    against=f"{engine} directly {row['direct'] * 1e6:.2f} µs",
                )
            )
    return figures, details


def one(engine: str, direct: Callable[[Any, list[Any]], Call], inputs: int) -> dict[str, float]:
    """Seconds per call, through rlx and directly; what comes back is the caller's in both."""
    model = add(inputs, [4])
    arrays = [np.ones(4, np.float32) for _ in range(inputs)]
    program = rlx.load(model)
    registration = testing.registration(
        engine, "cpu", factory=FACTORIES[engine], options=(), coverage=testing.covering(program)
    )
    beside = direct(model, arrays)
    with rlx.Session(registry=testing.registry(registration)) as session:
        ours = session.compile(program)
        np.testing.assert_array_equal(ours(*arrays)[0], beside()[0])
        return side_by_side({"rlx": lambda: ours(*arrays), "direct": beside}, rounds=40)


def openvino(model: Any, arrays: list[Any]) -> Call:
    """Tensors bound once; inputs are copied into them, and outputs out."""
    core = import_engine().Core()
    config = {"INFERENCE_PRECISION_HINT": "f32"}
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", config)
    request = compiled.create_infer_request()
    bound = [request.get_input_tensor(place).data for place in range(len(arrays))]

    def call() -> list[Any]:
        for view, array in zip(bound, arrays, strict=True):
            view[...] = array
        return list(request.infer().values())

    return call


def tinygrad(model: Any, arrays: list[Any]) -> Call:
    """Its ONNX runner under its jit."""
    from tinygrad.helpers import Context

    with tempfile.TemporaryDirectory() as folder, Context(DEV="CPU"):
        from tinygrad import Tensor, TinyJit
        from tinygrad.nn.onnx import OnnxRunner

        file = Path(folder) / "model.onnx"
        file.write_bytes(model.SerializeToString())
        runner = OnnxRunner(file)
    names = [value.name for value in model.graph.input]
    jit = TinyJit(lambda **given: list(runner(given).values()))

    def call() -> list[Any]:
        given = {
            name: Tensor(array, device="CPU").realize()
            for name, array in zip(names, arrays, strict=True)
        }
        return [value.numpy() for value in jit(**given)]

    with Context(DEV="CPU"):
        for _ in range(3):  # the second call records
            call()
    return call
