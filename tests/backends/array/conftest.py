"""Running one operation on the numpy backend, as a program of one node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends.array.numpy import open_cpu
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.program import load

Array = np.ndarray[Any, Any]


def node_model(
    operation: str,
    attributes: dict[str, Any],
    inputs: Sequence[Array | None],
    outputs: Sequence[Array],
    constants: Sequence[int] = (),
    symbolic: bool = False,
) -> onnx.ModelProto:
    """A model of one node at opset 28; inputs named by `constants` become initializers.

    `outputs` gives the outputs' dtypes and numbers of dimensions; their sizes are inferred.
    """
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    results = [f"y{i}" for i in range(len(outputs))]
    node = onnx.helper.make_node(operation, names, results, **attributes)
    held, given = [], []
    for i, value in enumerate(inputs):
        if value is None:
            continue
        code = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        if i in constants:
            held.append(onnx.numpy_helper.from_array(value, names[i]))
            continue
        shape = [f"{names[i]}_{d}" for d in range(value.ndim)] if symbolic else value.shape
        given.append(onnx.helper.make_tensor_value_info(names[i], code, shape))
    out = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(like.dtype), [None] * like.ndim
        )
        for name, like in zip(results, outputs, strict=True)
    ]
    graph = onnx.helper.make_graph([node], "one", given, out, held)
    return onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 28)], ir_version=11
    )


def run_model(model: onnx.ModelProto, inputs: Sequence[Array]) -> list[Array]:
    """Compile and run a model on the numpy backend."""
    backend = open_cpu(DeviceSpec("cpu"), {})
    return backend.compile(load(model), CompileOptions()).run(list(inputs))


@pytest.fixture(scope="session")
def run_node() -> Callable[..., list[Array]]:
    """`run_node(operation, attributes, inputs, outputs, constants=(), symbolic=False)`.

    `outputs` are arrays like those expected; `constants` are the positions of the inputs that
    are initializers; `symbolic` leaves the sizes of the others open.
    """

    def run(
        operation: str,
        attributes: dict[str, Any],
        inputs: Sequence[Array | None],
        outputs: Sequence[Array],
        constants: Sequence[int] = (),
        symbolic: bool = False,
    ) -> list[Array]:
        model = node_model(operation, attributes, inputs, outputs, constants, symbolic)
        given = [x for i, x in enumerate(inputs) if x is not None and i not in constants]
        return run_model(model, given)

    return run


@pytest.fixture(scope="session")
def run_onnxruntime() -> Callable[..., list[Array]]:
    """`run_onnxruntime(operation, attributes, inputs, outputs=1, opset=22)`: by onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4

    def run(
        operation: str,
        attributes: dict[str, Any],
        inputs: Sequence[Array | None],
        outputs: int = 1,
        opset: int = 22,
    ) -> list[Array]:
        likes = [np.zeros(0, np.float32)] * outputs
        model = node_model(operation, attributes, inputs, likes)
        model.opset_import[0].version = opset
        for value in model.graph.output:
            value.ClearField("type")
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        feeds = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
        return list(session.run(None, feeds))

    return run


@pytest.fixture(scope="session")
def make_node_model() -> Callable[..., onnx.ModelProto]:
    """`node_model`, for tests that open a backend themselves."""
    return node_model
