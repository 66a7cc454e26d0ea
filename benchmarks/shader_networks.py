"""`python -m benchmarks.shader_networks`: whole networks on rlx's own shaders, on one GPU.

An encoder like MiniLM-L6 and ResNet-50 of batch 1, both with random weights, and the OCR detector
and silero-vad where `make models` has put them: how many kernels and submissions a run takes, and
how long, as they are and with every function of arrays in a kernel of its own, as if nothing were
fused. With a GPU of NVIDIA's the first two are held against eager PyTorch. All ways of a network
take turns; each call waits for its result on the device. Prints JSON; `--output` writes it too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from benchmarks import minilm
from benchmarks.models import image, randomized
from benchmarks.timing import side_by_side
from rlx.backends.array.engine import ArrayBackend
from rlx.backends.protocol import CompileOptions
from rlx.backends.shader import devices
from rlx.backends.shader.backend import library_of
from rlx.backends.shader.driver import Dispatch, Driver, Memory, Prepared
from rlx.backends.shader.evaluation import Form, arrays_in
from rlx.backends.shader.schedule import in_order
from rlx.errors import Unavailable
from rlx.program import Program, load
from tests.models.catalogue import MODELS

Feeds = dict[str, Any]
DRIVERS: dict[str, Callable[[], Driver]] = {
    "vulkan": partial(devices._wgpu_driver, "vulkan", 0),
    "opengl": partial(devices._gl_driver, 0),
}
WORK = frozenset({"map", "pick", "concat", "pad", "reduce", "matmul"})
"""The array operations that move or compute values: the others are views of memory."""
REAL = ("ocr-detector", "silero-vad-ifless")


@dataclass(slots=True)
class Tally:
    """What a driver has launched."""

    kernels: int = 0
    submissions: int = 0
    reads: int = 0

    def watch(self, driver: Driver) -> None:
        """Count what is launched from now on."""
        prepare, read = driver.prepare, driver.read

        def counted(dispatches: Sequence[Dispatch]) -> Prepared:
            launch = prepare(dispatches)

            def call(before: Any, after: Any) -> None:
                self.kernels += len(dispatches)
                self.submissions += 1
                launch(before, after)

            return call

        def counted_read(memory: Memory, size: int) -> Any:
            self.reads += 1
            return read(memory, size)

        driver.prepare, driver.read = counted, counted_read  # type: ignore[method-assign]


def apart(function: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """The traced program with every operation in a kernel of its own."""

    def traced(weights: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        outputs = function(weights, inputs)
        for one in in_order(list(arrays_in(outputs))):
            one.cut = one.op in WORK
        return outputs

    return traced


def executable(driver: Driver, program: Program, *, fused: bool) -> Any:
    """The network on the driver."""

    def compiled(function: Any, weights: Sequence[Any], inputs: Sequence[Any]) -> Form:
        return Form(driver, function if fused else apart(function), weights, inputs)

    library = replace(library_of(driver, "shaders"), compile=compiled)
    return ArrayBackend(library).compile(program, CompileOptions())


def networks(
    layers: int = minilm.LAYERS,
) -> Iterator[tuple[str, onnx.ModelProto, Feeds, Callable[[], Any] | None]]:
    """Each network with inputs, and how the same is made in PyTorch on a GPU."""
    held = minilm.weights(layers)
    yield (
        "encoder like MiniLM-L6",
        minilm.program(held, layers),
        dict(minilm.inputs()),
        lambda: minilm.by_hand(held, "cuda", layers),
    )
    model = randomized("resnet50")
    yield "ResNet-50 (light)", model, dict([image(model)]), residual
    for name in REAL:
        if MODELS[name].path.is_file():
            yield name, onnx.load(MODELS[name].path), MODELS[name].feeds(), None


def residual() -> Any:
    """ResNet-50 as torchvision has it."""
    network = import_module("torchvision").models.resnet50(weights=None)
    return network.eval().cuda()


def eager(make: Callable[[], Any], feeds: Feeds) -> Callable[[], Any] | None:
    """A run of the network in PyTorch; None without a GPU of NVIDIA's."""
    import torch

    if not torch.cuda.is_available():
        return None
    network = make()
    given = [torch.from_numpy(value).cuda() for value in feeds.values()]

    def call() -> Any:
        with torch.inference_mode():
            result = network(*given)
        torch.cuda.synchronize()
        return result

    return call


def measure(
    driver: Driver,
    names: Sequence[str] = (),
    *,
    layers: int = minilm.LAYERS,
    rounds: int = 5,
    seconds: float = 0.2,
) -> dict[str, Any]:
    """Every network that is asked for by a part of its name, or all, on one driver."""
    tally = Tally()
    tally.watch(driver)
    found: dict[str, Any] = {}
    for name, model, feeds, make in networks(layers):
        if names and not any(one in name for one in names):
            continue
        program = load(model)
        row: dict[str, Any] = {}
        ways: dict[str, Callable[[], Any]] = {}
        answers = {}
        for way, fused in (("fused", True), ("apart", False)):
            made = executable(driver, program, fused=fused)
            given = [made.to_device(np.asarray(feeds[one.name])) for one in program.inputs]
            ways[way] = waiting(driver, tally, made, given)
            answers[way] = [made.to_host(one) for one in made.run(given)]
            tally.kernels = tally.submissions = 0
            made.run(given)
            row[way] = {"kernels": tally.kernels, "submissions": tally.submissions}
            if made.uncompiled is not None:
                row[way]["uncompiled"] = made.uncompiled
        row["apart, by scale"] = max(map(distance, answers["fused"], answers["apart"]))
        peer = eager(make, feeds) if make is not None else None
        if peer is not None:
            ways["eager torch"] = peer
        row["milliseconds"] = {
            way: value * 1e3
            for way, value in side_by_side(ways, rounds=rounds, seconds=seconds).items()
        }
        taken = row["milliseconds"]
        row["times faster than apart"] = taken["apart"] / taken["fused"]
        if peer is not None:
            row["times faster than eager torch"] = taken["eager torch"] / taken["fused"]
        found[name] = row
    return found


def waiting(driver: Driver, tally: Tally, made: Any, given: Sequence[Any]) -> Callable[[], Any]:
    """A run that is waited for: by reading four bytes, unless it has read whether it failed."""

    def call() -> None:
        before = tally.reads
        memory = next(one.storage for one in made.run(given) if one.storage is not None)
        if tally.reads == before:
            driver.read(memory, 4)

    return call


def distance(one: Any, other: Any) -> float:
    """How far two arrays lie apart, by the largest value."""
    if not one.size:
        return 0.0
    scale = max(float(np.abs(other).max()), 1e-30)
    return float(np.abs(one - other).max()) / scale


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and perhaps write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the networks' names; all by default")
    parser.add_argument("--driver", action="append", choices=tuple(DRIVERS))
    parser.add_argument("--smoke", action="store_true", help="an encoder of one layer, once")
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args(arguments)
    report: dict[str, Any] = {}
    for name in chosen.driver or DRIVERS:
        try:
            driver = DRIVERS[name]()
        except Unavailable as error:
            report[name] = error.message
            continue
        if chosen.smoke:
            found = measure(driver, ("encoder",), layers=1, rounds=1, seconds=0.0)
        else:
            found = measure(driver, chosen.names)
        report[name] = {"adapter": driver.detail, **found}
        driver.close()
    text = json.dumps(report, indent=1)
    print(text)
    if chosen.output is not None:
        chosen.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
