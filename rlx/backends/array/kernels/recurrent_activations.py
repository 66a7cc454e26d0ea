"""The activation functions of recurrent operations, with their parameters and the clip."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Activation(Protocol):
    """An activation; its input is clipped first, unless told otherwise."""

    def __call__(self, x: Any, /, *, clipped: bool = True) -> Any:
        """Apply it."""
        ...


DEFAULTS: dict[str, tuple[float | None, float | None]] = {
    "relu": (None, None),
    "tanh": (None, None),
    "sigmoid": (None, None),
    "softsign": (None, None),
    "softplus": (None, None),
    "affine": (1.0, 0.0),
    "leakyrelu": (0.01, None),
    "thresholdedrelu": (1.0, None),
    "scaledtanh": (nan, nan),
    "hardsigmoid": (0.2, 0.5),
    "elu": (1.0, None),
}
"""Per function, in lower case: its default alpha and beta; None: it takes none, nan: no default."""


def activations(
    xp: Any, attributes: Mapping[str, Any], defaults: Sequence[str], directions: int
) -> list[tuple[Activation, ...]]:
    """Per direction, the node's activation functions.

    A function that takes alpha or beta consumes the next of the node's values.
    """
    names = list(attributes.get("activations") or list(defaults) * directions)
    count = len(defaults)
    names = names[: count * directions]
    alphas = list(attributes.get("activation_alpha") or ())
    betas = list(attributes.get("activation_beta") or ())
    made = []
    for name in names:
        key = name.lower()
        if key not in DEFAULTS:
            raise NotImplementedError(f"activation {name!r}; known: {', '.join(DEFAULTS)}")
        alpha, beta = DEFAULTS[key]
        if alpha is not None and alphas:
            alpha = alphas.pop(0)
        if beta is not None and betas:
            beta = betas.pop(0)
        if alpha != alpha or beta != beta:
            raise NotImplementedError(f"activation {name!r} without activation_alpha and _beta")
        made.append(_clipped(xp, _function(xp, key, alpha, beta), attributes.get("clip")))
    return [tuple(made[d * count : (d + 1) * count]) for d in range(directions)]


def _clipped(xp: Any, function: Callable[[Any], Any], clip: float | None) -> Activation:
    def call(x: Any, /, *, clipped: bool = True) -> Any:
        return function(xp.clip(x, -clip, clip) if clip and clipped else x)

    return call


def _function(xp: Any, name: str, alpha: Any, beta: Any) -> Callable[[Any], Any]:
    table: dict[str, Callable[[Any], Any]] = {
        "relu": lambda x: xp.where(x > 0, x, xp.zeros_like(x)),
        "tanh": xp.tanh,
        "sigmoid": lambda x: 1 / (1 + xp.exp(-x)),
        "softsign": lambda x: x / (1 + xp.abs(x)),
        "softplus": lambda x: xp.log1p(xp.exp(-xp.abs(x))) + xp.where(x > 0, x, xp.zeros_like(x)),
        "affine": lambda x: alpha * x + beta,
        "leakyrelu": lambda x: xp.where(x >= 0, x, alpha * x),
        "thresholdedrelu": lambda x: xp.where(x > alpha, x, xp.zeros_like(x)),
        "scaledtanh": lambda x: alpha * xp.tanh(beta * x),
        "hardsigmoid": lambda x: xp.clip(alpha * x + beta, 0, 1),
        "elu": lambda x: xp.where(x >= 0, x, alpha * xp.expm1(x)),
    }
    return table[name]
