"""Random numbers: the same at each run where the node has a seed, new ones where it has none.

A whole seed gives the numbers of NumPy's Mersenne Twister seeded with it, as onnx's reference does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlx.backends.array.dtypes import CODES, numpy_dtype
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def generator(seed: float | None) -> np.random.RandomState:
    """A source of random numbers; a seed that is no whole number counts by its 32 bits."""
    if seed is None:
        return np.random.RandomState()
    if float(seed).is_integer() and 0 <= seed < 2**32:
        return np.random.RandomState(int(seed))
    return np.random.RandomState(int(np.float32(seed).view(np.uint32)))


def _dtype(site: Site, default: str | None = None) -> Any:
    code = site.attributes.get("dtype")
    first = site.inputs[0].dtype if site.inputs and site.inputs[0] is not None else None
    name = CODES[code] if code is not None else default or first
    if not name:
        raise NotImplementedError("the output's dtype is unknown")
    return numpy_dtype(name)


def _drawn(draw: Callable[[Site], Callable[[Any, Any], Array]], *, like: bool) -> Builder:
    """Builds an operation of a shape, or like its input, from `draw(site)(source, shape)`."""

    def build(site: Site) -> Kernel:
        number = draw(site)
        seed = site.attributes.get("seed")
        dtype = _dtype(site)
        if like:
            return Fresh(lambda x: np.asarray(number(generator(seed), x.shape)).astype(dtype))
        shape = tuple(site.attributes["shape"])
        return Fresh(lambda: np.asarray(number(generator(seed), shape)).astype(dtype))

    return build


def _normal(site: Site) -> Callable[[Any, Any], Array]:
    mean, scale = site.attributes["mean"], site.attributes["scale"]
    return lambda source, shape: source.standard_normal(shape) * scale + mean


def _uniform(site: Site) -> Callable[[Any, Any], Array]:
    """From `low` to below `high`, in the output's dtype too: rounding up to `high` is undone."""
    low, high = site.attributes["low"], site.attributes["high"]
    dtype = _dtype(site)
    below = np.nextafter(dtype.type(high), dtype.type(low))

    def draw(source: Any, shape: Any) -> Array:
        y = np.asarray(source.uniform(0, 1, shape) * (high - low) + low).astype(dtype)
        return np.minimum(y, below) if low < high else y

    return draw


def _bernoulli(site: Site) -> Kernel:
    seed, dtype = site.attributes.get("seed"), _dtype(site)

    def draw(p: Array) -> Array:
        return np.asarray(generator(seed).binomial(1, p.astype(np.float64))).astype(dtype)

    return Fresh(draw)


def _multinomial(site: Site) -> Kernel:
    """Classes by logarithms of their probabilities, which need not add up to 1."""
    seed, count = site.attributes.get("seed"), site.attributes["sample_size"]
    dtype = _dtype(site, "int32")

    def draw(logits: Array) -> Array:
        wide = logits.astype(np.float64)
        most = np.max(wide, axis=1, keepdims=True)
        if not np.isfinite(most).all():
            raise ValueError("a row has no finite greatest logarithm")
        heights = np.cumsum(np.exp(wide - most), axis=1)
        places = generator(seed).uniform(0, 1, (len(wide), count)) * heights[:, -1:]
        return (places[:, :, None] >= heights[:, None, :]).sum(axis=2).astype(dtype)

    return Fresh(draw)


KERNELS: dict[str, Builder] = {
    "RandomNormal": _drawn(_normal, like=False),
    "RandomNormalLike": _drawn(_normal, like=True),
    "RandomUniform": _drawn(_uniform, like=False),
    "RandomUniformLike": _drawn(_uniform, like=True),
    "Bernoulli": _bernoulli,
    "Multinomial": _multinomial,
}
HOSTED = dict.fromkeys(KERNELS)
