"""Resize: nearest, linear and cubic interpolation, one axis after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.native import is_numpy
from rlx.backends.array.native_numpy_gathering import take_for_now
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.array.site import Builder, Kernel, Site

Host = np.ndarray[Any, Any]
MOST_PLANS = 64
"""How many combinations of input shape and scales a kernel remembers."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """How one axis is resampled: per output position, which inputs count, and how much."""

    axis: int
    indices: Host
    """(output size, taps): where to read, already inside the input."""
    weights: Host | None
    """(output size, taps); None: the one tap as it is."""
    outside: Host | None
    """(output size,): where the result is the extrapolation value instead."""


def cubic(distance: Host, a: float) -> Host:
    """Keys' cubic convolution kernel (IEEE TASSP 29(6), 1981, equation 4)."""
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    weights: Host = np.where(x <= 1, near, np.where(x < 2, far, 0.0))
    return weights


def linear(distance: Host) -> Host:
    """The triangle kernel."""
    weights: Host = np.clip(1 - np.abs(distance), 0, 1)
    return weights


def coordinates(
    mode: str, scale: float, size: int, out: int, roi: tuple[float, float] | None
) -> Host:
    """Where each output position lies in the input, by coordinate_transformation_mode."""
    width = scale * size
    y = np.arange(out, dtype=np.float64)
    if mode == "align_corners":
        return np.zeros(out) if width == 1 else y * (size - 1) / (width - 1)
    if mode == "asymmetric":
        return y / scale
    if mode == "tf_crop_and_resize":
        start, end = roi or (0.0, 1.0)
        if width == 1:
            return np.full(out, 0.5 * (start + end) * (size - 1))
        return start * (size - 1) + y * (end - start) * (size - 1) / (width - 1)
    if mode == "pytorch_half_pixel" and width == 1:
        return np.full(out, -0.5)
    shift = 0.0
    if mode == "half_pixel_symmetric":
        shift = size / 2 * (1 - out / width)
    return shift + (y + 0.5) / scale - 0.5


def _taps(attributes: Mapping[str, Any], scale: float, ratio: Host) -> tuple[int, Host | None]:
    """The first tap's offset, and the taps' weights, where the input lies `ratio` past a pixel."""
    mode = attributes.get("mode", "nearest")
    shrink = min(scale, 1.0) if attributes.get("antialias", 0) else 1.0
    reach = 1 if mode == "linear" else 2
    first = int(np.floor(-reach / shrink)) + 1
    offsets = np.arange(first, 2 - first)
    distance = (offsets[None, :] - ratio[:, None]) * shrink
    if mode == "linear":
        weights = linear(distance)
    else:
        weights = cubic(distance, attributes.get("cubic_coeff_a", -0.75))
    if shrink != 1.0:
        weights = weights / weights.sum(axis=1, keepdims=True)
    return first, weights


def _nearest(rounding: str, ratio: Host) -> Host:
    """One where the pixel above is nearer than the one below, by nearest_mode."""
    if rounding == "floor":
        upper = ratio == 1
    elif rounding == "ceil":
        upper = ratio > 0
    elif rounding == "round_prefer_ceil":
        upper = ratio >= 0.5
    else:
        upper = ratio > 0.5
    offset: Host = upper.astype(np.int64)
    return offset


def plan_axis(
    attributes: Mapping[str, Any],
    axis: int,
    size: int,
    out: int,
    scale: float,
    roi: tuple[float, float] | None,
) -> Axis:
    """Work out one axis."""
    if not out:
        return Axis(axis, np.zeros((0, 1), np.int64), None, None)
    mode = attributes.get("coordinate_transformation_mode", "half_pixel")
    where = coordinates(mode, scale, size, out, roi)
    below = np.ceil(where).astype(np.int64) - 1
    ratio = where - below
    outside = None
    if mode == "tf_crop_and_resize":
        mask = (where < 0) | (where > size - 1)
        outside = mask if mask.any() else None
    if attributes.get("mode", "nearest") == "nearest":
        rounding = attributes.get("nearest_mode", "round_prefer_floor")
        indices = (below + _nearest(rounding, ratio))[:, None]
        return Axis(axis, np.clip(indices, 0, size - 1), None, outside)
    first, weights = _taps(attributes, scale, ratio)
    assert weights is not None
    indices = below[:, None] + first + np.arange(weights.shape[1])
    if attributes.get("exclude_outside", 0):
        weights = np.where((indices < 0) | (indices >= size), 0.0, weights)
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(total == 0, 1.0, total)
    return Axis(axis, np.clip(indices, 0, size - 1), weights, outside)


def plan(
    attributes: Mapping[str, Any],
    shape: Sequence[int],
    roi: tuple[float, ...],
    scales: tuple[float, ...],
    sizes: tuple[int, ...],
) -> list[Axis]:
    """Work out every axis that changes; what shrinks the array most comes first."""
    ndim = len(shape)
    axes = [axis % ndim for axis in attributes.get("axes") or range(ndim)]
    inputs = [shape[axis] for axis in axes]
    if sizes:
        if any(size and not n for size, n in zip(sizes, inputs, strict=True)):
            raise ValueError(f"an empty axis cannot be resized: {tuple(inputs)} to {sizes}")
        factors = [size / n if n else 1.0 for size, n in zip(sizes, inputs, strict=True)]
        policy = attributes.get("keep_aspect_ratio_policy", "stretch")
        outs = list(sizes)
        if policy != "stretch":
            factor = min(factors) if policy == "not_larger" else max(factors)
            factors = [factor] * len(axes)
            outs = [int(factor * n + 0.5) for n in inputs]
    else:
        factors = list(scales)
        outs = [int(np.float32(f) * np.float32(n)) for f, n in zip(factors, inputs, strict=True)]
    spans: list[tuple[float, float] | None] = [None] * len(axes)
    cropping = attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    if roi and cropping:
        spans = [(roi[i], roi[i + len(axes)]) for i in range(len(axes))]
    steps = [
        (out / n, -axis, plan_axis(attributes, axis, n, out, factor, span))
        for axis, n, out, factor, span in zip(axes, inputs, outs, factors, spans, strict=True)
        if n and not (isclose(factor, 1.0) and out == n and span in (None, (0.0, 1.0)))
    ]
    return [step for _, _, step in sorted(steps, key=lambda step: step[:2])]


def _take(xp: Any, x: Any, indices: Any, axis: int) -> Any:
    return xp.take(x, indices, axis=axis)


def _apply(xp: Any, x: Any, step: Axis, extrapolation: float) -> Any:
    """Resample along one axis."""
    line = [1] * x.ndim
    line[step.axis] = -1
    if step.weights is None:
        y = xp.take(x, xp.asarray(step.indices[:, 0]), axis=step.axis)
    else:
        again = take_for_now if is_numpy(xp) else _take
        for tap in range(step.weights.shape[1]):
            indices = xp.asarray(step.indices[:, tap])
            weight = xp.asarray(step.weights[:, tap], dtype=x.dtype)
            part = (again if tap else _take)(xp, x, indices, step.axis)
            part *= xp.reshape(weight, tuple(line))
            if tap:
                y += part
            else:
                y = part
    if step.outside is not None:
        mask = xp.reshape(xp.asarray(step.outside), tuple(line))
        y = xp.where(mask, xp.asarray(extrapolation, dtype=y.dtype), y)
    return y


def resize(site: Site) -> Kernel:
    """Build Resize."""
    xp, attributes = site.xp, site.attributes
    extrapolation = attributes.get("extrapolation_value", 0.0)
    nearest = attributes.get("mode", "nearest") == "nearest"
    if nearest and attributes.get("antialias", 0):
        raise NotImplementedError("Resize: antialias has no meaning with mode 'nearest'")
    operand = site.inputs[0]
    if not nearest and operand is not None and operand.dtype in _NOT_NUMBERS:
        raise NotImplementedError(f"Resize: {operand.dtype} cannot be interpolated")
    plans: dict[Any, list[Axis]] = {}

    def run(x: Any, roi: Any = None, scales: Any = None, sizes: Any = None) -> Any:
        key = (x.shape, _host(roi, float), _host(scales, float), _host(sizes, int))
        steps = plans.get(key)
        if steps is None:
            if len(plans) >= MOST_PLANS:
                plans.clear()
            steps = plans[key] = plan(attributes, *key)
        floating = xp.isdtype(x.dtype, "real floating")
        if nearest or floating:
            y = x if steps else xp.asarray(x, copy=True)
        else:
            y = xp.astype(x, xp.float64)
        for step in steps:
            y = _apply(xp, y, step, extrapolation)
        if nearest or floating:
            return y
        limits = xp.iinfo(x.dtype)
        return xp.astype(xp.clip(xp.round(y), limits.min, limits.max), x.dtype)

    return Fresh(run)


_NOT_NUMBERS = frozenset({"string", "bool", "complex64", "complex128"})


def _host(values: Any, kind: type) -> tuple[Any, ...]:
    """An optional operand as a tuple of Python numbers."""
    return () if values is None else tuple(kind(v) for v in values)


HOST = {"Resize": (1, 2, 3)}
KERNELS: dict[str, Builder] = {"Resize": widened(resize)}
