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


DOMAINS = {"": 28, "ai.onnx.ml": 5, "ai.onnx.preview": 1, "ai.onnx.preview.training": 1}


def text_model(text: str) -> onnx.ModelProto:
    """A model in ONNX's text form, its header left out."""
    imports = ", ".join(f'"{domain}": {version}' for domain, version in DOMAINS.items())
    return onnx.parser.parse_model(f"<ir_version: 11, opset_import: [{imports}]>\n{text}")


@pytest.fixture(scope="session")
def run_text() -> Callable[..., list[Any]]:
    """`run_text(text, *inputs)`: a program in ONNX's text form, without its header."""
    return lambda text, *inputs: run_model(text_model(text), inputs)


@pytest.fixture(scope="session")
def run_typed() -> Callable[..., list[Any]]:
    """`run_typed(operation, attributes, inputs, outputs)`: one node; outputs by ONNX's types.

    Inputs are arrays, those of strings objects; an output is an element type or a TypeProto.
    """
    return lambda *case: run_model(typed_model(*case), case[2])


def typed_model(
    operation: str, attributes: dict[str, Any], inputs: Sequence[Array], outputs: Sequence[Any]
) -> onnx.ModelProto:
    """A model of one node of any domain: `ai.onnx.ml::Scaler`."""
    domain, _, name = operation.rpartition("::")
    given = [
        onnx.helper.make_tensor_value_info(f"x{i}", _element(value), value.shape)
        for i, value in enumerate(inputs)
    ]
    results = [
        onnx.helper.make_value_info(f"y{i}", kind)
        if isinstance(kind, onnx.TypeProto)
        else onnx.helper.make_tensor_value_info(f"y{i}", kind, None)
        for i, kind in enumerate(outputs)
    ]
    names = [value.name for value in given], [value.name for value in results]
    node = onnx.helper.make_node(name, *names, domain=domain, **attributes)
    graph = onnx.helper.make_graph([node], "one", given, results)
    imports = [onnx.helper.make_opsetid(*each) for each in DOMAINS.items()]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=11)


def _element(value: Array) -> int:
    if value.dtype == object:
        return int(onnx.TensorProto.STRING)
    return int(onnx.helper.np_dtype_to_tensor_dtype(value.dtype))


@pytest.fixture(scope="session")
def run_beside() -> Callable[..., tuple[list[Any], list[Any]]]:
    """`run_beside(operation, attributes, inputs, outputs)`: by numpy, and by onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4

    def run(*case: Any) -> tuple[list[Any], list[Any]]:
        model = typed_model(*case)
        ours = run_model(model, case[2])
        model.opset_import[0].version = 22  # the newest that this onnxruntime is built for
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return ours, session.run(None, {f"x{i}": value for i, value in enumerate(case[2])})

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
