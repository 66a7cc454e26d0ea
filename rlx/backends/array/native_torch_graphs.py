"""CUDA graphs: a program's kernels recorded once, and launched together after that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from rlx.backends.array.library import Compiler, Function, Host

WARM_UPS = 2
"""Runs before recording: libraries make their work spaces, and choose algorithms, in the first."""
Move = Callable[["Host"], torch.Tensor]


class _Tape(threading.local):
    """What the calling thread moved to the device, to be given again instead of moved again."""

    moved: list[torch.Tensor] | None = None
    at: int | None = None


_tape = _Tape()


def moving(move: Move) -> Move:
    """`move`, which a recording cannot repeat: there it gives what the run before it moved.

    What the host computes depends on the inputs' shapes alone, so each run moves the same arrays
    in the same order.
    """

    def to_native(x: Host) -> torch.Tensor:
        tape = _tape
        if tape.moved is None:
            return move(x)
        if tape.at is None:
            tape.moved.append(move(x))
            return tape.moved[-1]
        tape.at += 1
        return tape.moved[tape.at - 1]

    return to_native


@contextmanager
def _taped(moved: list[torch.Tensor], at: int | None) -> Iterator[None]:
    _tape.moved, _tape.at = moved, at
    try:
        yield
    finally:
        _tape.moved, _tape.at = None, None


def recorded(device: torch.device, move: Move) -> Compiler:
    """What compiles a program to a CUDA graph on `device`; `move` takes an array there."""

    def record(
        function: Function, weights: Sequence[Any], inputs: Sequence[Any]
    ) -> Callable[[Sequence[Any]], list[Any]]:
        return _Recording(device, move, function, weights, inputs)

    return record


class _Recording:
    """One graph, with the memory that it reads its inputs from and leaves its outputs in."""

    def __init__(
        self,
        device: torch.device,
        move: Move,
        function: Function,
        weights: Sequence[Any],
        inputs: Sequence[Any],
    ):
        if not all(isinstance(x, torch.Tensor | np.ndarray) for x in inputs):
            raise NotImplementedError("sequences and optionals are not recorded")
        self.device = device
        self.move = move
        self.lock = threading.Lock()
        self.weights = weights
        self.moved: list[torch.Tensor] = []
        with torch.cuda.device(device):
            given = (move(x) if isinstance(x, np.ndarray) else x for x in inputs)
            self.inputs = [x.clone(memory_format=torch.contiguous_format) for x in given]
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(WARM_UPS):
                    self.moved.clear()
                    with _taped(self.moved, None):
                        function(weights, self.inputs)
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with (
                _taped(self.moved, 0),
                torch.cuda.graph(self.graph, capture_error_mode="thread_local"),
            ):
                self.outputs = function(weights, self.inputs)

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Copy the inputs in, launch, and copy the outputs out; one run at a time."""
        with self.lock, torch.cuda.device(self.device):
            for mine, x in zip(self.inputs, inputs, strict=True):
                mine.copy_(self.move(x) if isinstance(x, np.ndarray) else x)
            self.graph.replay()
            return [_own(y) for y in self.outputs]


def _own(y: Any) -> Any:
    """An output in memory of its own: the graph's is written over by its next run."""
    if isinstance(y, torch.Tensor):
        return y.clone(memory_format=torch.contiguous_format)
    return [_own(item) for item in y] if isinstance(y, list) else y
