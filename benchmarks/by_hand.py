"""torch-cpu against the same operations written in PyTorch, and jax-cpu against jitted jax."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import rlx
from benchmarks import convnet, transformer
from benchmarks.results import Figure
from benchmarks.timing import side_by_side

LAYERS, WIDTH, HEADS, TOKENS = 2, 384, 12, 32
BAR = 1.05


def measure() -> tuple[list[Figure], dict[str, Any]]:
    """A transformer and a residual network on both libraries: through rlx, and by hand."""
    figures, details = [], {}
    for library, ways in (("torch", torch_ways), ("jax", jax_ways)):
        for network, (ours, hand) in ways().items():
            print(f"  {library}, {network}", file=sys.stderr)
            row = side_by_side({"rlx": ours, "by hand": hand}, rounds=60, seconds=0.03)
            details[f"{library}, {network}"] = row
            figures.append(
                Figure(
                    f"{library}-cpu against the same operations by hand, {network}",
                    row["rlx"] / row["by hand"],
                    "x the time",
                    BAR,
                    against=f"{library} by hand {row['by hand'] * 1e3:.2f} ms",
                )
            )
    return figures, {"seconds": details}


Ways = dict[str, tuple[Callable[[], Any], Callable[[], Any]]]


def networks() -> dict[str, tuple[Any, Any]]:
    """Programs and inputs by name."""
    random = np.random.default_rng(1)
    held = transformer.weights(LAYERS, WIDTH)
    tokens = random.standard_normal((1, TOKENS, WIDTH)).astype(np.float32)
    image = random.standard_normal(convnet.IMAGE).astype(np.float32)
    return {
        "transformer": (transformer.program(held, LAYERS, WIDTH, HEADS, TOKENS), tokens),
        "residual network": (convnet.program(convnet.weights()), image),
    }


def through(backend: str, model: Any, x: Any) -> Callable[[], Any]:
    """A call through rlx with arrays of the library's own, in and out."""
    executable = rlx.Session(backend=backend).compile(model)
    return lambda: executable(x, native=True)[0]


def torch_ways() -> Ways:
    """Through torch-cpu, and eager PyTorch; one thread each."""
    import torch

    torch.set_num_threads(1)
    hands = {
        "transformer": transformer.by_hand(
            transformer.weights(LAYERS, WIDTH), LAYERS, HEADS, "cpu"
        ),
        "residual network": convnet.in_torch(convnet.weights()),
    }
    found: Ways = {}
    for name, (model, drawn) in networks().items():
        x, hand = torch.from_numpy(drawn), hands[name]
        ours = through("torch-cpu", model, x)

        def inference(hand: Any = hand, x: Any = x) -> Any:
            with torch.inference_mode():
                return hand(x)

        np.testing.assert_allclose(ours().numpy(), inference().numpy(), rtol=1e-3, atol=1e-3)
        found[name] = ours, inference
    return found


@contextmanager
def one_processor() -> Iterator[None]:
    """XLA makes as many threads as there are processors to run on, when it starts: make that one.

    The threads may run on any afterwards. Linux alone says and takes where threads run.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_of_them)})
    try:
        yield
    finally:
        for thread in Path("/proc/self/task").iterdir():
            os.sched_setaffinity(int(thread.name), all_of_them)


def jax_ways() -> Ways:
    """Through jax-cpu, and jax.jit; one thread each, and both are waited for."""
    with one_processor():
        return _jax_ways()


def _jax_ways() -> Ways:
    import jax

    hands = {
        "transformer": in_jax(transformer.weights(LAYERS, WIDTH)),
        "residual network": convnet.in_jax(convnet.weights()),
    }
    found: Ways = {}
    for name, (model, drawn) in networks().items():
        hand = jax.jit(hands[name])
        own = jax.device_put(drawn)
        ours = through("jax-cpu", model, drawn)

        def waited(ours: Any = ours) -> Any:
            return jax.block_until_ready(ours())

        def jitted(hand: Any = hand, own: Any = own) -> Any:
            return jax.block_until_ready(hand(own))

        np.testing.assert_allclose(waited(), jitted(), rtol=1e-3, atol=1e-3)
        found[name] = waited, jitted
    return found


def in_jax(held: transformer.Weights) -> Callable[[Any], Any]:
    """The transformer's operations, as one would write them in jax: a function of an array."""
    import jax
    import jax.numpy as jnp

    w = {name: jnp.asarray(value) for name, value in held.items()}

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        spread = jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return centred * spread * w[name] + w[f"{name}b"]

    def linear(x: Any, name: str) -> Any:
        return jnp.matmul(x, w[name]) + w[f"{name}b"]

    def run(x: Any) -> Any:
        for at in range(LAYERS):
            y = norm(x, f"{at}.first")
            q, k, v = (linear(y, f"{at}.{part}").reshape(*x.shape[:2], HEADS, -1) for part in "qkv")
            y = jax.nn.dot_product_attention(q, k, v).reshape(x.shape)
            x = x + linear(y, f"{at}.o")
            y = jax.nn.gelu(linear(norm(x, f"{at}.second"), f"{at}.up"), approximate=False)
            x = x + linear(y, f"{at}.down")
        return x

    return run
