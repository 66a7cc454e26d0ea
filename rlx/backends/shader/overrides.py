"""Kernels that shaders do better, or at all, by another formula than the portable one."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi, prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

import rlx.backends.shader.namespace as functions
from rlx.backends.array.dtypes import INTEGERS
from rlx.backends.array.kernels.convolution import kernel_of
from rlx.backends.array.kernels.operands import axis_within
from rlx.backends.array.kernels.signal import frames_of
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.kernels.windows import windows
from rlx.backends.array.site import Fresh
from rlx.backends.shader.namespace.elementwise import subtract
from rlx.backends.shader.namespace.movement import pad, unfold
from rlx.backends.shader.tensor import Tensor

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site

xp: Any = functions
LONGEST = 1 << 12
"""How long a Fourier transform may be, which is a product with a matrix of its size here."""


def conv(site: Site) -> Kernel:
    """Build Conv: the weights times a view of all windows, which no memory holds."""

    def run(x: Tensor, w: Tensor, bias: Tensor | None = None) -> Any:
        y = convolved(site.attributes, x, w)
        if bias is not None:
            y = y + xp.reshape(bias, (-1, *(1,) * (y.ndim - 2)))
        return y

    return Fresh(run)


def convolved(attributes: Mapping[str, Any], x: Tensor, w: Tensor) -> Any:
    """A convolution, without bias.

    Raises:
        ValueError: the kernel does not fit.
    """
    group = attributes.get("group", 1)
    shape = windows(attributes, kernel_of(attributes, w), x.shape[2:])
    if shape.overhanging:
        raise ValueError(f"a kernel of {w.shape[2:]} does not fit into {x.shape[2:]}")
    batch, channels, maps = x.shape[0], x.shape[1], w.shape[0]
    before, after = (0, 0, *shape.begins), (0, 0, *shape.ends)
    source = pad(x, before, after, 0)
    view = unfold(source, shape.kernel, shape.strides, shape.dilations, shape.sizes)
    terms, pixels = channels // group * shape.taps, prod(shape.sizes)
    right = xp.reshape(view, (batch, group, terms, pixels))
    left = xp.reshape(w, (1, group, maps // group, terms))
    return xp.reshape(xp.matmul(left, right), (batch, maps, *shape.sizes))


def _fourier(
    real: Tensor, imaginary: Tensor | None, size: int, bins: int, *, inverse: bool
) -> tuple[Tensor, Tensor]:
    """The transform over the last axis, as real and imaginary part: products with a matrix."""
    if max(size, bins) > LONGEST:
        raise NotImplementedError(f"a Fourier transform of {size}; shaders take {LONGEST}")
    real = _fitted(real, size)
    turns = np.outer(np.arange(size), np.arange(bins)) % max(size, 1)
    angle = turns * ((2 if inverse else -2) * pi / max(size, 1))
    scale = 1 / size if inverse and size else 1.0
    cosine = Tensor.of_source((np.cos(angle) * scale).astype(np.float32))
    sine = Tensor.of_source((np.sin(angle) * scale).astype(np.float32))
    first, second = xp.matmul(real, cosine), xp.matmul(real, sine)
    if imaginary is None:
        return first, second
    imaginary = _fitted(imaginary, size)
    return (
        first - xp.matmul(imaginary, sine),
        second + xp.matmul(imaginary, cosine),
    )


def _fitted(x: Tensor, size: int) -> Tensor:
    """The last axis cut, or filled up with zeros, to a size."""
    x = x[..., :size]
    return pad(x, (0,) * x.ndim, (*(0,) * (x.ndim - 1), size - x.shape[-1]), 0)


def _parts(x: Tensor) -> tuple[Tensor, Tensor | None]:
    """The real and the imaginary part of a trailing axis of one or two."""
    return x[..., 0], None if x.shape[-1] == 1 else x[..., 1]


def dft(site: Site) -> Kernel:
    """Build DFT."""
    inverse = bool(site.attributes.get("inverse", 0))
    onesided = bool(site.attributes.get("onesided", 0))

    def run(x: Tensor, length: Any = None, axis: Any = None) -> Any:
        where = axis_within(-2 if axis is None else int(axis), x.ndim)
        halved = inverse and onesided
        default = 2 * (x.shape[where] - 1) if halved else x.shape[where]
        size = default if length is None else int(length)
        line = xp.moveaxis(x, where, -2)
        real, imaginary = _parts(line)
        if halved:
            y = _halved_back(real, imaginary, size)[..., None]
            return xp.moveaxis(y, -2, where)
        bins = size // 2 + 1 if onesided else size
        y = xp.stack(_fourier(real, imaginary, size, bins, inverse=inverse), axis=-1)
        return xp.moveaxis(y, -2, where)

    return Fresh(run)


def _halved_back(real: Tensor, imaginary: Tensor | None, size: int) -> Tensor:
    """The real signal of which the first half of the transform is given."""
    bins = size // 2 + 1
    weights = np.full(bins, 2.0)
    weights[0] = 1.0
    if size % 2 == 0:
        weights[-1] = 1.0
    angle = np.outer(np.arange(bins), np.arange(size)) % size * (2 * pi / size)
    cosine = (np.cos(angle) * weights[:, None] / size).astype(np.float32)
    sine = (np.sin(angle) * weights[:, None] / size).astype(np.float32)
    y: Tensor = xp.matmul(_fitted(real, bins), Tensor.of_source(cosine))
    if imaginary is None:
        return y
    other: Tensor = xp.matmul(_fitted(imaginary, bins), Tensor.of_source(sine))
    return subtract(y, other)  # type: ignore[no-any-return]


def stft(site: Site) -> Kernel:
    """Build STFT: frames are windows over the signal."""
    onesided = bool(site.attributes.get("onesided", 1))

    def run(signal: Tensor, step: Any, window: Any = None, length: Any = None) -> Any:
        hop = int(step)
        size, frames, reach = frames_of(signal, hop, window, length)

        def cut(line: Tensor) -> Any:
            taps = unfold(line, (reach,), (hop,), (1,), (frames,))  # (batch, reach, frames)
            made = xp.matrix_transpose(taps)
            return made if window is None else made * window[:reach]

        real, imaginary = _parts(signal)
        bins = size // 2 + 1 if onesided else size
        parts = _fourier(
            cut(real),
            None if imaginary is None else cut(imaginary),
            size,
            bins,
            inverse=False,
        )
        return xp.stack(parts, axis=-1)

    return Fresh(run)


def power(site: Site) -> Kernel:
    """Build Pow: whole exponents by their parity, and whole bases without floats.

    Raises:
        NotImplementedError: a whole base has a real exponent, which float32 is too coarse for.
    """
    base, exponent = site.inputs
    assert base is not None
    assert exponent is not None
    whole_base, whole_exponent = base.dtype in INTEGERS, exponent.dtype in INTEGERS
    if whole_base and not whole_exponent:
        raise NotImplementedError("shaders do not raise integers to real powers")
    if whole_base:
        return Fresh(_whole_power)
    if whole_exponent:
        return Fresh(_real_power)
    return Fresh(lambda x, y: xp.pow(x, xp.astype(y, x.dtype)))


def _whole_power(x: Tensor, y: Tensor) -> Any:
    """Exact, wrapping; of negative exponents the real power, rounded toward zero."""
    if y.dtype.kind == "uint":
        return xp.pow(x, xp.astype(y, x.dtype))
    positive = xp.pow(x, xp.astype(xp.maximum(y, 0), x.dtype))
    turned = xp.where(y & 1 == 1, x, xp.ones_like(x))
    unit = (x == 1) | (x == -1) if x.dtype.kind == "int" else x == 1
    return xp.where(y < 0, xp.where(unit, turned, xp.zeros_like(x)), positive)


def _real_power(x: Tensor, y: Tensor) -> Any:
    """A negative base gives the sign by the exponent's parity, which float32 may not hold."""
    grown = xp.pow(xp.abs(x), xp.astype(y, x.dtype))
    return xp.where((x < 0) & (y & 1 == 1), -grown, grown)


OVERRIDES: Mapping[str, Builder] = MappingProxyType(
    {"Conv": widened(conv), "DFT": widened(dft), "Pow": power, "STFT": widened(stft)}
)
