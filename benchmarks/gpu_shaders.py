"""`python -m benchmarks.gpu_shaders`: rlx's own shaders against PyTorch, on one GPU.

A float32 product of 4096 x 4096 matrices (TF32 off), and x + 1, softmax and layer norm of 64 M
elements in rows of 4096: the kernels alone, on memory of the device, through Vulkan and OpenGL.
All candidates take turns. Then whole networks, as `benchmarks.shader_networks` measures them.
Prints JSON: milliseconds, minimum of many, what they amount to, and the ratio to PyTorch;
`--output` writes it too. With `--smoke` it does little, on whatever adapter there is, against
PyTorch on the processor: to see that it works.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import rlx.backends.shader.namespace as functions
from benchmarks.shader_networks import DRIVERS
from benchmarks.shader_networks import measure as networks
from benchmarks.timing import side_by_side
from rlx.backends.shader.driver import Driver
from rlx.backends.shader.plan import planned
from rlx.backends.shader.tensor import Tensor
from rlx.errors import Unavailable

xp: Any = functions


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is computed."""

    side: int = 4096
    rows: int = 1 << 14
    columns: int = 1 << 12
    device: str = "cuda"
    rounds: int = 10
    seconds: float = 0.2
    at_once: int = 200
    """How often a kernel runs before its result is waited for."""


SMOKE = Sizes(64, 16, 512, "cpu", rounds=2, seconds=0.01, at_once=2)


def normalised(x: Any, weight: Any, bias: Any) -> Any:
    """A layer norm over the last axis."""
    count = float(x.shape[-1])
    off = x - xp.sum(x, axis=-1, keepdims=True) / count
    variance = xp.sum(off * off, axis=-1, keepdims=True) / count
    return off / xp.sqrt(variance + 1e-5) * weight + bias


def softmax(x: Any) -> Any:
    """A softmax over the last axis."""
    grown = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return grown / xp.sum(grown, axis=-1, keepdims=True)


def shaders(arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, Tensor]:
    """What is computed, as lazy arrays."""
    held = {name: Tensor.of_source(array) for name, array in arrays.items()}
    return {
        "matmul": xp.matmul(held["a"], held["b"]),
        "add": held["x"] + 1.0,
        "softmax": softmax(held["x"]),
        "layer_norm": normalised(held["x"], held["w"], held["c"]),
    }


def launched(driver: Driver, wanted: Tensor, times: int) -> tuple[Callable[[], Any], Any, int]:
    """A call that runs the kernels some times and waits; the memory of the result; their number."""
    made = planned([wanted], driver, {}, keep=True)
    launch = driver.prepare(made.dispatches * times)
    memory = made.results[wanted.serial].memory

    def call() -> None:
        launch((), ())
        driver.read(memory, 4)

    return call, memory, len(made.dispatches)


def beside(arrays: dict[str, np.ndarray[Any, Any]], device: str) -> Iterator[tuple[str, Any]]:
    """The same in PyTorch."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    held = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
    width = held["x"].shape[-1:]
    yield "matmul", lambda: torch.matmul(held["a"], held["b"])
    yield "add", lambda: held["x"] + 1.0
    yield "softmax", lambda: torch.softmax(held["x"], -1)
    yield (
        "layer_norm",
        lambda: torch.nn.functional.layer_norm(held["x"], width, held["w"], held["c"]),
    )


def repeated(function: Callable[[], Any], device: str, times: int) -> Callable[[], Any]:
    """The function some times, and then what it started on the device."""

    def call() -> None:
        for _ in range(times):
            function()
        if device == "cuda":
            import torch

            torch.cuda.synchronize()

    return call


def measure(sizes: Sizes) -> dict[str, Any]:
    """Everything, in one run."""
    rng = np.random.default_rng(0)
    shapes = {
        "a": (sizes.side, sizes.side),
        "b": (sizes.side, sizes.side),
        "x": (sizes.rows, sizes.columns),
        "w": (sizes.columns,),
        "c": (sizes.columns,),
    }
    arrays = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}
    peers = dict(beside(arrays, sizes.device))
    calls = {
        f"torch {name}": repeated(call, sizes.device, sizes.at_once) for name, call in peers.items()
    }
    report: dict[str, Any] = {"adapters": {}, "kernels": {}, "errors": {}, "networks": {}}
    drivers: dict[str, Driver] = {}
    for name, open_driver in DRIVERS.items():
        try:
            driver = open_driver()
        except Unavailable as error:
            report["adapters"][name] = error.message
            continue
        drivers[name] = driver
        report["adapters"][name] = driver.detail
        for what, wanted in shaders(arrays).items():
            call, memory, count = launched(driver, wanted, sizes.at_once)
            calls[f"{name} {what}"] = call
            call()
            expected = peers[what]().cpu().numpy()
            found = driver.read(memory, wanted.size * 4).view(np.float32).reshape(wanted.shape)
            worst = float(np.abs(found - expected).max() / np.abs(expected).max())
            report["errors"][f"{name} {what}"] = worst
            report["kernels"][f"{name} {what}"] = count
    took = side_by_side(calls, rounds=sizes.rounds, seconds=sizes.seconds)
    each = {name: value / sizes.at_once for name, value in took.items()}
    work = {"matmul": 2 * sizes.side**3}
    bytes_moved = 2 * sizes.rows * sizes.columns * 4
    report["milliseconds"] = {name: value * 1e3 for name, value in each.items()}
    report["per_second"] = {
        name: work.get(name.split()[1], bytes_moved) / value for name, value in each.items()
    }
    report["of_torch"] = {
        name: each[f"torch {name.split()[1]}"] / value
        for name, value in each.items()
        if not name.startswith("torch")
    }
    if sizes is not SMOKE:
        report["networks"] = {name: networks(driver) for name, driver in drivers.items()}
    return report


def main() -> None:
    """Measure, print, and perhaps write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    text = json.dumps(measure(SMOKE if given.smoke else Sizes()), indent=1) + "\n"
    print(text, end="")
    if given.output is not None:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
