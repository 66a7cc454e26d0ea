"""`python -m benchmarks.gpu [MODEL.onnx]`: torch-cuda against PyTorch itself, on an NVIDIA GPU.

24 transformer layers (384 wide, 12 heads, 32 tokens, batch 1) and an encoder like MiniLM-L6, with
random weights: through rlx, as the same operations written in PyTorch, and those under
`torch.compile(mode="reduce-overhead")`. A model's file is measured with and without its program
recorded as a CUDA graph. All candidates take turns; each call waits for its result on the device.
Prints JSON: milliseconds, minimum of many.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import minilm, transformer
from benchmarks.timing import side_by_side
from rlx.backends.array.torch import open_cuda
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.program import Program, load

LAYERS, WIDTH, HEADS, TOKENS = 24, 384, 12, 32
ROUNDS, SECONDS = 20, 0.2


def executable(program: Program, *, graphs: bool = True) -> Any:
    """The program on the first GPU."""
    backend = open_cuda(DeviceSpec("cuda"), {"cuda_graphs": graphs})
    return backend.compile(program, CompileOptions())


def waiting(function: Callable[[], Any]) -> Callable[[], Any]:
    """The function, and what it started on the device."""
    import torch

    def call() -> Any:
        result = function()
        torch.cuda.synchronize()
        return result

    return call


def layers() -> dict[str, Any]:
    """The transformer's latencies, and how far results lie apart."""
    import torch

    held = transformer.weights(LAYERS, WIDTH)
    model = transformer.program(held, LAYERS, WIDTH, HEADS, TOKENS)
    ours = executable(load(model))
    hand = transformer.by_hand(held, LAYERS, HEADS, "cuda")
    compiled = torch.compile(hand, mode="reduce-overhead")
    drawn = np.random.default_rng(1).standard_normal((1, TOKENS, WIDTH)).astype(np.float32)
    x = torch.from_numpy(drawn).cuda()

    def inference(function: Callable[[Any], Any]) -> Callable[[], Any]:
        def call() -> Any:
            with torch.inference_mode():
                return function(x)

        return waiting(call)

    ways = {
        "rlx": waiting(lambda: ours.run([x])[0]),
        "eager torch": inference(hand),
        "torch.compile": inference(compiled),
    }
    for _ in range(3):
        answers = {name: way().clone() for name, way in ways.items()}
    apart = float((answers["rlx"] - answers["eager torch"]).abs().max())
    return {
        "milliseconds": _milliseconds(ways),
        "apart": apart,
        "uncompiled": ours.uncompiled,
    }


def encoder() -> dict[str, Any]:
    """The latencies of an encoder like MiniLM-L6, and how far results lie apart."""
    import torch

    held = minilm.weights()
    ours = executable(load(minilm.program(held)))
    hand = minilm.by_hand(held, "cuda")
    compiled = torch.compile(hand, mode="reduce-overhead")
    given = [torch.from_numpy(value).cuda() for value in minilm.inputs().values()]

    def inference(function: Callable[..., Any]) -> Callable[[], Any]:
        def call() -> Any:
            with torch.inference_mode():
                return function(*given)

        return waiting(call)

    ways = {
        "rlx": waiting(lambda: ours.run(given)[0]),
        "eager torch": inference(hand),
        "torch.compile": inference(compiled),
    }
    for _ in range(3):
        answers = {name: way().clone() for name, way in ways.items()}
    apart = float((answers["rlx"] - answers["eager torch"]).abs().max())
    return {
        "milliseconds": _milliseconds(ways),
        "apart": apart,
        "uncompiled": ours.uncompiled,
    }


def model(path: str, tokens: int = TOKENS) -> dict[str, Any]:
    """A model's latencies with its program recorded, and as the same kernels one by one."""
    program = load(path)
    inputs = [np.ones(_sizes(value, tokens), value.type.dtype) for value in program.inputs]
    recorded, eager = executable(program), executable(program, graphs=False)
    ways = {
        "rlx": waiting(lambda: recorded.run(inputs)),
        "eager": waiting(lambda: eager.run(inputs)),
    }
    return {"milliseconds": _milliseconds(ways), "uncompiled": recorded.uncompiled}


def _sizes(value: Any, tokens: int) -> list[int]:
    """The input's sizes; those that are open are of one sequence of `tokens`."""
    open_sizes = (1, *(tokens,) * len(value.type.shape))
    pairs = zip(value.type.shape, open_sizes, strict=False)
    return [size if isinstance(size, int) else taken for size, taken in pairs]


def _milliseconds(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    seconds = side_by_side(ways, rounds=ROUNDS, seconds=SECONDS)
    return {name: round(value * 1e3, 4) for name, value in seconds.items()}


def main() -> None:
    import torch

    found: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "transformer": layers(),
        "minilm": encoder(),
    }
    for path in sys.argv[1:]:
        found[path.rpartition("/")[2]] = model(path)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
