"""`python -m benchmarks.gpu [MODEL.onnx]`: torch-cuda against PyTorch itself, on an NVIDIA GPU.

24 transformer layers (384 wide, 12 heads, 32 tokens, batch 1) and an encoder like MiniLM-L6, with
random weights: through rlx, as the same operations written in PyTorch, and those under
`torch.compile(mode="reduce-overhead")`. A model's file is measured with and without its program
recorded as a CUDA graph. All candidates take turns; each call waits for its result on the device.
Prints JSON: milliseconds, minimum of many, and the ratios that matter; `--output` writes it too.
With `--smoke` it does little, on the processor, without `torch.compile`: to see that it works.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import minilm, transformer
from benchmarks.timing import side_by_side
from rlx.backends.array import torch as backends
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.program import Program, load

WIDTH, HEADS, TOKENS = 384, 12, 32


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and how much is measured."""

    device: str = "cuda"
    layers: int = 24
    encoder_layers: int = minilm.LAYERS
    words: int = minilm.WORDS
    rounds: int = 20
    seconds: float = 0.2

    def executable(self, program: Program, *, graphs: bool = True) -> Any:
        """The program on the device."""
        if self.device == "cpu":
            backend = backends.open_cpu(DeviceSpec("cpu"), {})
        else:
            backend = backends.open_cuda(DeviceSpec("cuda"), {"cuda_graphs": graphs})
        return backend.compile(program, CompileOptions())

    def waiting(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """The function, and what it started on the device."""
        import torch

        def call() -> Any:
            result = function()
            torch.cuda.synchronize()
            return result

        return function if self.device == "cpu" else call

    def milliseconds(self, ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
        """Each way's, the minimum of many rounds in turn."""
        seconds = side_by_side(ways, rounds=self.rounds, seconds=self.seconds)
        return {name: round(value * 1e3, 4) for name, value in seconds.items()}

    def beside_torch(self, model: Any, hand: Callable[..., Any], drawn: Sequence[Any]) -> Any:
        """Latencies through rlx and of what is written by hand, and how far results lie apart."""
        import torch

        ours = self.executable(load(model))
        given = [torch.from_numpy(value).to(self.device) for value in drawn]

        def inference(function: Callable[..., Any]) -> Callable[[], Any]:
            def call() -> Any:
                with torch.inference_mode():
                    return function(*given)

            return self.waiting(call)

        ways = {"rlx": self.waiting(lambda: ours.run(given)[0]), "eager torch": inference(hand)}
        if self.device != "cpu":
            ways["torch.compile"] = inference(torch.compile(hand, mode="reduce-overhead"))
        for _ in range(3):
            answers = {name: way().clone() for name, way in ways.items()}
        taken = self.milliseconds(ways)
        apart = float((answers["rlx"] - answers["eager torch"]).abs().max())
        scale = float(answers["eager torch"].abs().max())
        compiled = taken.get("torch.compile")
        return {
            "milliseconds": taken,
            "times faster than eager torch": taken["eager torch"] / taken["rlx"],
            "of the time of torch.compile": taken["rlx"] / compiled if compiled else None,
            "apart, by scale": apart / scale,
            "uncompiled": ours.uncompiled,
        }


def layers(bench: Bench) -> Any:
    """The transformer."""
    held = transformer.weights(bench.layers, WIDTH)
    model = transformer.program(held, bench.layers, WIDTH, HEADS, TOKENS)
    hand = transformer.by_hand(held, bench.layers, HEADS, bench.device)
    drawn = np.random.default_rng(1).standard_normal((1, TOKENS, WIDTH)).astype(np.float32)
    return bench.beside_torch(model, hand, [drawn])


def encoder(bench: Bench) -> Any:
    """The encoder."""
    held = minilm.weights(bench.encoder_layers, bench.words)
    model = minilm.program(held, bench.encoder_layers)
    hand = minilm.by_hand(held, bench.device, bench.encoder_layers)
    return bench.beside_torch(model, hand, list(minilm.inputs(bench.words).values()))


def file(bench: Bench, path: str) -> dict[str, Any]:
    """A model's latencies with its program recorded, and as the same kernels one by one."""
    program = load(path)
    inputs = [np.ones(_sizes(value, TOKENS), value.type.dtype) for value in program.inputs]
    recorded, eager = bench.executable(program), bench.executable(program, graphs=False)
    ways = {
        "rlx": bench.waiting(lambda: recorded.run(inputs)),
        "eager": bench.waiting(lambda: eager.run(inputs)),
    }
    return {"milliseconds": bench.milliseconds(ways), "uncompiled": recorded.uncompiled}


def _sizes(value: Any, tokens: int) -> list[int]:
    """The input's sizes; those that are open are of one sequence of `tokens`."""
    open_sizes = (1, *(tokens,) * len(value.type.shape))
    pairs = zip(value.type.shape, open_sizes, strict=False)
    return [size if isinstance(size, int) else taken for size, taken in pairs]


def main(arguments: Sequence[str] | None = None) -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args(arguments)
    bench = Bench("cpu", 1, 1, 100, 1, 0.0) if chosen.smoke else Bench()
    found: dict[str, Any] = {
        "device": "cpu" if chosen.smoke else torch.cuda.get_device_name(),
        "torch": torch.__version__,
        f"transformer of {bench.layers} layers": layers(bench),
        "encoder like MiniLM-L6": encoder(bench),
    }
    for path in chosen.models:
        found[Path(path).name] = file(bench, path)
    text = json.dumps(found, indent=2)
    print(text)
    if chosen.output is not None:
        chosen.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
