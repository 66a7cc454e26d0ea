"""CUDA graphs: a program's kernels recorded once, and launched together after that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from rlx.backends.array.library import Compiler, Function

WARM_UPS = 2
"""Runs before recording: libraries make their work spaces, and choose algorithms, in the first."""


def recorded(device: torch.device) -> Compiler:
    """What compiles a program to a CUDA graph on `device`."""

    def record(
        function: Function, weights: Sequence[Any], inputs: Sequence[Any]
    ) -> Callable[[Sequence[Any]], list[Any]]:
        return _Recording(device, function, weights, inputs)

    return record


class _Recording:
    """One graph, with the memory that it reads its inputs from and leaves its outputs in."""

    def __init__(
        self,
        device: torch.device,
        function: Function,
        weights: Sequence[Any],
        inputs: Sequence[torch.Tensor],
    ):
        self.device = device
        self.lock = threading.Lock()
        self.weights = weights
        with torch.cuda.device(device):
            self.inputs = [x.clone(memory_format=torch.contiguous_format) for x in inputs]
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(WARM_UPS):
                    function(weights, self.inputs)
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
                self.outputs = function(weights, self.inputs)

    def __call__(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Copy the inputs in, launch, and copy the outputs out; one run at a time."""
        with self.lock, torch.cuda.device(self.device):
            for mine, x in zip(self.inputs, inputs, strict=True):
                mine.copy_(x, non_blocking=True)
            self.graph.replay()
            return [y.clone(memory_format=torch.contiguous_format) for y in self.outputs]
