"""Programs to measure with: the light networks with random weights, and small made-up ones."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from rlx.cli.demo import folder


def randomized(network: str, seed: int = 0) -> onnx.ModelProto:
    """A light network whose weights are drawn rather than constant.

    The networks as shipped make each weight with ConstantOfShape, so that every filter is alike.
    Matrices and filters are drawn from a normal distribution of variance 2 / fan-in, as He et
    al. (2015) do; vectors, such as biases and variances, are uniform in [0.5, 1.5).
    """
    model = onnx.load(folder() / f"light_{network}.onnx")
    graph = model.graph
    generator = np.random.default_rng(seed)
    shapes = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    shapes |= {
        node.output[0]: numpy_helper.to_array(node.attribute[0].t)
        for node in graph.node
        if node.op_type == "Constant" and node.attribute[0].name == "value"
    }
    kept = []
    for node in graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in shapes:
            shape = tuple(int(size) for size in shapes[node.input[0]])
            graph.initializer.append(
                numpy_helper.from_array(draw(generator, shape), node.output[0])
            )
        else:
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)
    return model


def draw(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """One weight."""
    if len(shape) < 2:
        return generator.uniform(0.5, 1.5, shape).astype(np.float32)
    fan_in = int(np.prod(shape[1:]))
    return (generator.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)


def image(model: onnx.ModelProto) -> tuple[str, np.ndarray]:
    """The network's one input, with a random image for it."""
    held = {one.name for one in model.graph.initializer}
    value = next(one for one in model.graph.input if one.name not in held)
    shape = [size.dim_value for size in value.type.tensor_type.shape.dim]
    return value.name, np.random.default_rng(1).random(shape, dtype=np.float32)


def chain(
    nodes: int, operations: tuple[str, ...] = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg")
) -> onnx.ModelProto:
    """`nodes` elementwise operations one after the other."""
    steps = [
        helper.make_node(operations[i % len(operations)], [f"v{i}"], [f"v{i + 1}"])
        for i in range(nodes)
    ]
    return _model(steps, "v0", f"v{nodes}", [4])


def add(inputs: int, shape: list[int | str]) -> onnx.ModelProto:
    """The sum of `inputs` tensors."""
    names = [f"x{i}" for i in range(inputs)]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names]
    node = helper.make_node("Sum", names, ["y"])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph([node], "sum", values, [out])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def _model(nodes: list[onnx.NodeProto], first: str, last: str, shape: list[int]) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info(first, TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, shape)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
