"""What PyTorch may compute float32 products in: float32, while a run is on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

EXACT = frozenset({"none", "ieee", False})


def _switches(device: str) -> list[tuple[Any, str, str | bool]]:
    """Where PyTorch keeps the setting for a kind of device, and what says float32."""
    backends = torch.backends
    if not hasattr(backends.cuda.matmul, "fp32_precision"):  # before PyTorch 2.9
        if device == "cpu":
            return []
        return [(backends.cuda.matmul, "allow_tf32", False), (backends.cudnn, "allow_tf32", False)]
    if device == "cpu":
        places = (backends.mkldnn.matmul, backends.mkldnn.conv, backends.mkldnn.rnn)
    else:
        places = (backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn)
    return [(place, "fp32_precision", "ieee") for place in places]


class Exactly:
    """Calls functions with float32 products exact on one kind of device.

    The setting is the process's, so the first of several runs at once makes it, and the last gives
    back what was there before.
    """

    def __init__(self, device: str):
        self.switches = _switches(device)
        self.lock = threading.Lock()
        self.runs = 0
        self.before: list[tuple[Any, str, Any]] = []

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call it, without recording gradients either."""
        with self.lock:
            self.runs += 1
            if self.runs == 1:
                for place, name, exact in self.switches:
                    found = getattr(place, name)
                    if found not in EXACT:
                        self.before.append((place, name, found))
                        setattr(place, name, exact)
        try:
            with torch.inference_mode():
                return function(*arguments)
        finally:
            with self.lock:
                self.runs -= 1
                if not self.runs:
                    while self.before:
                        setattr(*self.before.pop())
