"""A transformer with random weights: as a program, and the same operations written in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx

Weights = dict[str, np.ndarray[Any, Any]]
PARTS = ("q", "k", "v", "o")


def weights(layers: int, width: int, seed: int = 0) -> Weights:
    """Random float32 weights by name, of a scale that keeps activations near 1."""
    random = np.random.default_rng(seed)
    made: Weights = {}

    def draw(name: str, *shape: int) -> None:
        made[name] = (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    for at in range(layers):
        for part in PARTS:
            draw(f"{at}.{part}", width, width)
            draw(f"{at}.{part}b", width)
        draw(f"{at}.up", width, 4 * width)
        draw(f"{at}.upb", 4 * width)
        draw(f"{at}.down", 4 * width, width)
        draw(f"{at}.downb", width)
        for norm in ("first", "second"):
            made[f"{at}.{norm}"] = np.ones(width, np.float32)
            made[f"{at}.{norm}b"] = np.zeros(width, np.float32)
    return made


def program(held: Weights, layers: int, width: int, heads: int, tokens: int) -> onnx.ModelProto:
    """The transformer as an ONNX program of one input, `x` (1, tokens, width), and one output."""
    nodes: list[onnx.NodeProto] = []

    def add(operation: str, inputs: list[str], **attributes: Any) -> str:
        name = f"{operation}_{len(nodes)}"
        nodes.append(onnx.helper.make_node(operation, inputs, [name], name, **attributes))
        return name

    def linear(x: str, name: str) -> str:
        return add("Add", [add("MatMul", [x, name]), f"{name}b"])

    x = "x"
    for at in range(layers):
        y = add("LayerNormalization", [x, f"{at}.first", f"{at}.firstb"], axis=-1)
        q, k, v = (linear(y, f"{at}.{part}") for part in PARTS[:3])
        y = add("Attention", [q, k, v], q_num_heads=heads, kv_num_heads=heads)
        x = add("Add", [x, linear(y, f"{at}.o")])
        y = add("LayerNormalization", [x, f"{at}.second", f"{at}.secondb"], axis=-1)
        y = linear(add("Gelu", [linear(y, f"{at}.up")]), f"{at}.down")
        x = add("Add", [x, y])
    shape = (1, tokens, width)
    graph = onnx.helper.make_graph(
        nodes,
        "transformer",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [onnx.helper.make_tensor_value_info(x, onnx.TensorProto.FLOAT, shape)],
        [onnx.numpy_helper.from_array(value, name) for name, value in held.items()],
    )
    imports = [onnx.helper.make_opsetid("", 24)]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=11)


def by_hand(held: Weights, layers: int, heads: int, device: str) -> Callable[[Any], Any]:
    """The same operations, as one would write them in PyTorch: a function of a tensor."""
    import torch
    import torch.nn.functional as F  # noqa: N812 - the name that everybody knows

    w = {name: torch.from_numpy(value).to(device) for name, value in held.items()}

    def split(x: Any) -> Any:
        return x.reshape(1, x.shape[1], heads, x.shape[2] // heads).transpose(1, 2)

    def run(x: Any) -> Any:
        for at in range(layers):
            size = (x.shape[-1],)
            y = F.layer_norm(x, size, w[f"{at}.first"], w[f"{at}.firstb"])
            q, k, v = (
                split(torch.matmul(y, w[f"{at}.{part}"]) + w[f"{at}.{part}b"]) for part in PARTS[:3]
            )
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
            x = x + (torch.matmul(y, w[f"{at}.o"]) + w[f"{at}.ob"])
            y = F.layer_norm(x, size, w[f"{at}.second"], w[f"{at}.secondb"])
            y = F.gelu(torch.matmul(y, w[f"{at}.up"]) + w[f"{at}.upb"])
            x = x + (torch.matmul(y, w[f"{at}.down"]) + w[f"{at}.downb"])
        return x

    return run
