"""One step of an optimizer, from ai.onnx.preview.training: Adagrad, Adam, Momentum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

Step = Callable[[float, int, Sequence[Array]], tuple[Array, ...]]
"""From the rate, the count of updates, and a tensor with its gradient and state: the new tensor
and the new state."""


def _optimizer(states: int, make: Callable[[Site], Step]) -> Builder:
    """The operation's tensors come grouped: all tensors, all gradients, all of each state."""

    def build(site: Site) -> Kernel:
        step = make(site)
        members = states + 2

        def update(rate: Array, count: Array, *tensors: Array) -> Any:
            groups = len(tensors) // members
            if groups * members != len(tensors):
                raise ValueError(f"{len(tensors)} tensors are no groups of {members}")
            r, t = float(rate.reshape(())), int(count.reshape(()))
            new = [step(r, t, tensors[first::groups]) for first in range(groups)]
            results = [group[place] for place in range(states + 1) for group in new]
            return tuple(results) if site.outputs > 1 else results[0]

        return Fresh(update)

    return build


def _adagrad(site: Site) -> Step:
    decay, epsilon, norm = (
        site.attributes[name] for name in ("decay_factor", "epsilon", "norm_coefficient")
    )
    xp = site.xp

    def step(rate: float, count: int, group: Sequence[Array]) -> tuple[Array, ...]:
        x, gradient, squares = group
        gradient = norm * x + gradient
        squares = squares + gradient * gradient
        rate = rate / (1 + count * decay)
        return x - rate * gradient / (xp.sqrt(squares) + epsilon), squares

    return step


def _adam(site: Site) -> Step:
    alpha, beta, epsilon, norm, after = (
        site.attributes[name]
        for name in ("alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post")
    )
    xp = site.xp

    def step(rate: float, count: int, group: Sequence[Array]) -> tuple[Array, ...]:
        x, gradient, means, squares = group
        gradient = norm * x + gradient
        means = alpha * means + (1 - alpha) * gradient
        squares = beta * squares + (1 - beta) * gradient * gradient
        if count > 0:
            rate = rate * (1 - beta**count) ** 0.5 / (1 - alpha**count)
        x = x - rate * means / (xp.sqrt(squares) + epsilon)
        return (1 - after) * x, means, squares

    return step


def _momentum(site: Site) -> Step:
    alpha, beta, norm, mode = (
        site.attributes[name] for name in ("alpha", "beta", "norm_coefficient", "mode")
    )
    if mode not in {"standard", "nesterov"}:
        raise NotImplementedError(f"mode {mode!r}")

    def step(rate: float, count: int, group: Sequence[Array]) -> tuple[Array, ...]:
        x, gradient, momentum = group
        gradient = norm * x + gradient
        momentum = alpha * momentum + (beta if count > 0 else 1) * gradient
        ahead = gradient + alpha * momentum if mode == "nesterov" else momentum
        return x - rate * ahead, momentum

    return step


KERNELS: dict[str, Builder] = {
    "ai.onnx.preview.training::Adagrad": _optimizer(1, _adagrad),
    "ai.onnx.preview.training::Adam": _optimizer(2, _adam),
    "ai.onnx.preview.training::Momentum": _optimizer(1, _momentum),
}
HOST = dict.fromkeys(KERNELS, (0, 1))
