"""An encoder of MiniLM's architecture with random weights: as a program, and by hand in PyTorch.

Word, position and token type embeddings, and layers that normalize after each residual, with a
padding mask: what sentence-transformers' MiniLM-L6 is made of (Wang et al., 2020).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import helper

Weights = dict[str, np.ndarray[Any, Any]]
LAYERS, WIDTH, HEADS, TOKENS, WORDS = 6, 384, 12, 32, 30522
PARTS = ("q", "k", "v", "o")
LOWEST = -1e4
"""What masked scores are lowered by."""


def weights(layers: int = LAYERS, words: int = WORDS, seed: int = 0) -> Weights:
    """Random float32 weights by name."""
    random = np.random.default_rng(seed)
    made: Weights = {}

    def draw(name: str, *shape: int, by: float = 1.0) -> None:
        made[name] = (random.standard_normal(shape) * by).astype(np.float32)

    for name, rows in (("word", words), ("place", 512), ("kind", 2)):
        draw(name, rows, WIDTH, by=0.5)
    norms = ["start", *(f"{at}.{part}" for at in range(layers) for part in ("first", "second"))]
    for name in norms:
        made[name], made[f"{name}b"] = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    for at in range(layers):
        for part in PARTS:
            draw(f"{at}.{part}", WIDTH, WIDTH, by=WIDTH**-0.5)
            draw(f"{at}.{part}b", WIDTH, by=0.1)
        draw(f"{at}.up", WIDTH, 4 * WIDTH, by=WIDTH**-0.5)
        draw(f"{at}.upb", 4 * WIDTH, by=0.1)
        draw(f"{at}.down", 4 * WIDTH, WIDTH, by=(4 * WIDTH) ** -0.5)
        draw(f"{at}.downb", WIDTH, by=0.1)
    return made


def inputs(words: int = WORDS, tokens: int = TOKENS) -> Weights:
    """A sentence of three quarters of the tokens, padded."""
    ids = np.random.default_rng(1).integers(0, words, (1, tokens))
    mask = (np.arange(tokens)[None] < tokens * 3 // 4).astype(np.int64)
    return {"ids": ids, "mask": mask, "kinds": np.zeros((1, tokens), np.int64)}


def program(held: Weights, layers: int = LAYERS, tokens: int = TOKENS) -> onnx.ModelProto:
    """The encoder as an ONNX program of `ids`, `mask` and `kinds`, each int64 (1, tokens)."""
    nodes: list[onnx.NodeProto] = []
    extra = {
        "places": np.arange(tokens),
        "axes": np.array([1, 2]),
        "one": np.float32(1),
        "lowest": np.float32(LOWEST),
    }

    def add(operation: str, operands: list[str], **attributes: Any) -> str:
        name = f"{operation}_{len(nodes)}"
        nodes.append(helper.make_node(operation, operands, [name], name, **attributes))
        return name

    def linear(x: str, name: str) -> str:
        return add("Add", [add("MatMul", [x, name]), f"{name}b"])

    def norm(x: str, name: str) -> str:
        return add("LayerNormalization", [x, name, f"{name}b"], axis=-1, epsilon=1e-12)

    mask = add("Unsqueeze", [add("Cast", ["mask"], to=onnx.TensorProto.FLOAT), "axes"])
    mask = add("Mul", [add("Sub", ["one", mask]), "lowest"])
    x = add("Add", [add("Gather", ["word", "ids"]), add("Gather", ["kind", "kinds"])])
    x = norm(add("Add", [x, add("Gather", ["place", "places"])]), "start")
    for at in range(layers):
        q, k, v = (linear(x, f"{at}.{part}") for part in PARTS[:3])
        y = add("Attention", [q, k, v, mask], q_num_heads=HEADS, kv_num_heads=HEADS)
        x = norm(add("Add", [x, linear(y, f"{at}.o")]), f"{at}.first")
        y = linear(add("Gelu", [linear(x, f"{at}.up")]), f"{at}.down")
        x = norm(add("Add", [x, y]), f"{at}.second")
    shape = (1, tokens)
    graph = helper.make_graph(
        nodes,
        "minilm",
        [
            helper.make_tensor_value_info(name, onnx.TensorProto.INT64, shape)
            for name in ("ids", "mask", "kinds")
        ],
        [helper.make_tensor_value_info(x, onnx.TensorProto.FLOAT, (*shape, WIDTH))],
        [
            onnx.numpy_helper.from_array(np.asarray(value), name)
            for name, value in {**held, **extra}.items()
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)


def by_hand(held: Weights, device: str, layers: int = LAYERS) -> Callable[[Any, Any, Any], Any]:
    """The same operations, as one would write them in PyTorch: a function of three tensors."""
    import torch
    import torch.nn.functional as F  # noqa: N812 - the name that everybody knows

    w = {name: torch.from_numpy(value).to(device) for name, value in held.items()}

    def split(x: Any) -> Any:
        return x.reshape(1, x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)

    def norm(x: Any, name: str) -> Any:
        return F.layer_norm(x, (WIDTH,), w[name], w[f"{name}b"], 1e-12)

    def linear(x: Any, name: str) -> Any:
        return torch.matmul(x, w[name]) + w[f"{name}b"]

    def run(ids: Any, mask: Any, kinds: Any) -> Any:
        lowered = (1 - mask[:, None, None].float()) * LOWEST
        x = norm(w["word"][ids] + w["kind"][kinds] + w["place"][: ids.shape[1]], "start")
        for at in range(layers):
            q, k, v = (split(linear(x, f"{at}.{part}")) for part in PARTS[:3])
            y = F.scaled_dot_product_attention(q, k, v, lowered).transpose(1, 2).reshape(x.shape)
            x = norm(x + linear(y, f"{at}.o"), f"{at}.first")
            x = norm(x + linear(F.gelu(linear(x, f"{at}.up")), f"{at}.down"), f"{at}.second")
        return x

    return run
