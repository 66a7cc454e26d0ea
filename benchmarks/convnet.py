"""A small residual network with random weights: as a program, and by hand in PyTorch and in jax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import helper

Weights = dict[str, np.ndarray[Any, Any]]
STAGES = ((32, 2), (64, 2), (128, 2))
"""Channels and blocks; every stage but the first halves the image."""
CLASSES = 10
IMAGE = (1, 3, 64, 64)


def weights(seed: int = 0) -> Weights:
    """Random float32 weights by name: batch normalizations are already in the convolutions."""
    random = np.random.default_rng(seed)
    made: Weights = {}

    def conv(name: str, into: int, out: int, size: int) -> None:
        spread = np.sqrt(2 / (into * size * size))
        made[name] = (random.standard_normal((out, into, size, size)) * spread).astype(np.float32)
        made[f"{name}b"] = (random.standard_normal(out) * 0.1).astype(np.float32)

    conv("stem", IMAGE[1], STAGES[0][0], 3)
    before = STAGES[0][0]
    for name, channels, _ in blocks():
        conv(f"{name}.first", before, channels, 3)
        conv(f"{name}.second", channels, channels, 3)
        if before != channels:
            conv(f"{name}.skip", before, channels, 1)
        before = channels
    made["head"] = (random.standard_normal((before, CLASSES)) / np.sqrt(before)).astype(np.float32)
    return made


def blocks() -> list[tuple[str, int, int]]:
    """Each block's name, channels and stride."""
    return [
        (f"{stage}.{block}", channels, 2 if stage and not block else 1)
        for stage, (channels, count) in enumerate(STAGES)
        for block in range(count)
    ]


def program(held: Weights) -> onnx.ModelProto:
    """The network as an ONNX program of one input, `x` (1, 3, 64, 64), and one output (1, 10)."""
    nodes: list[onnx.NodeProto] = []

    def add(operation: str, inputs: list[str], **attributes: Any) -> str:
        name = f"{operation}_{len(nodes)}"
        nodes.append(helper.make_node(operation, inputs, [name], name, **attributes))
        return name

    def conv(x: str, name: str, stride: int = 1) -> str:
        pad = held[name].shape[2] // 2
        attributes = {"pads": [pad] * 4, "strides": [stride] * 2}
        return add("Conv", [x, name, f"{name}b"], **attributes)

    x = add("Relu", [conv("x", "stem")])
    for name, _, stride in blocks():
        y = add("Relu", [conv(x, f"{name}.first", stride)])
        skip = conv(x, f"{name}.skip", stride) if f"{name}.skip" in held else x
        x = add("Relu", [add("Add", [conv(y, f"{name}.second"), skip])])
    x = add("Flatten", [add("GlobalAveragePool", [x])])
    x = add("MatMul", [x, "head"])
    graph = helper.make_graph(
        nodes,
        "convnet",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, IMAGE)],
        [helper.make_tensor_value_info(x, onnx.TensorProto.FLOAT, (1, CLASSES))],
        [onnx.numpy_helper.from_array(value, name) for name, value in held.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def network(
    held: Weights, conv: Callable[[Any, str, int], Any], relu: Any, end: Any
) -> Callable[[Any], Any]:
    """The order of operations, which both libraries are written in."""

    def run(x: Any) -> Any:
        x = relu(conv(x, "stem", 1))
        for name, _, stride in blocks():
            y = relu(conv(x, f"{name}.first", stride))
            skip = conv(x, f"{name}.skip", stride) if f"{name}.skip" in held else x
            x = relu(conv(y, f"{name}.second", 1) + skip)
        return end(x)

    return run


def in_torch(held: Weights) -> Callable[[Any], Any]:
    """The same operations, as one would write them in PyTorch: a function of a tensor."""
    import torch
    import torch.nn.functional as F  # noqa: N812 - the name that everybody knows

    w = {name: torch.from_numpy(value) for name, value in held.items()}

    def conv(x: Any, name: str, stride: int) -> Any:
        pad = held[name].shape[2] // 2
        return F.conv2d(x, w[name], w[f"{name}b"], stride, pad)

    return network(held, conv, F.relu, lambda x: torch.matmul(x.mean(dim=(2, 3)), w["head"]))


def in_jax(held: Weights) -> Callable[[Any], Any]:
    """The same operations, as one would write them in jax: a function of an array, not jitted."""
    import jax
    import jax.numpy as jnp

    w = {name: jnp.asarray(value) for name, value in held.items()}

    def conv(x: Any, name: str, stride: int) -> Any:
        pad = held[name].shape[2] // 2
        y = jax.lax.conv_general_dilated(x, w[name], (stride, stride), [(pad, pad)] * 2)
        return y + w[f"{name}b"][None, :, None, None]

    return network(held, conv, jax.nn.relu, lambda x: jnp.matmul(x.mean(axis=(2, 3)), w["head"]))
