"""Reading between pixels: GridSample, AffineGrid, RoiAlign, MaxRoiPool and DeformConv."""

from __future__ import annotations

from itertools import product
from math import ceil, floor, prod
from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.updates import put
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site


def reflected(xp: Any, x: Any, low: float, high: float) -> Any:
    """Coordinates mirrored at the borders until they are inside."""
    span = high - low
    if span <= 0:
        return xp.zeros_like(x) + low
    away = xp.abs(x - low)
    turns = xp.floor(away / span)
    rest = away - turns * span
    return xp.where(turns % 2 == 0, low + rest, high - rest)


def weights_for(mode: str, fraction: Any) -> list[tuple[int, Any]]:
    """The taps of one axis: (offset from the pixel below, weight)."""
    if mode == "linear":
        return [(0, 1 - fraction), (1, fraction)]
    a, t = -0.75, fraction
    far, near = t + 1, 1 - t
    return [
        (-1, ((a * far - 5 * a) * far + 8 * a) * far - 4 * a),
        (0, ((a + 2) * t - (a + 3)) * t * t + 1),
        (1, ((a + 2) * near - (a + 3)) * near * near + 1),
        (2, ((a * (near + 1) - 5 * a) * (near + 1) + 8 * a) * (near + 1) - 4 * a),
    ]


def sample(
    xp: Any, x: Any, points: list[Any], mode: str, padding: str, borders: list[tuple[float, float]]
) -> Any:
    """Values of x (N, C, *spatial) at per-axis pixel coordinates (N, P): (N, C, P)."""
    spatial = x.shape[2:]
    if not x.shape[0]:
        return xp.zeros((*x.shape[:2], points[0].shape[1]), dtype=x.dtype)
    axes = []
    for point, size in zip(points, spatial, strict=True):
        if mode == "nearest":
            axes.append([(xp.astype(point, xp.int64), None)])
        else:
            below = xp.floor(point)
            taps = weights_for(mode, point - below)
            axes.append([(xp.astype(below, xp.int64) + o, w) for o, w in taps])
        for index, (place, weight) in enumerate(axes[-1]):
            inside, weight = _inside(xp, place, weight, size, padding, borders[len(axes) - 1])
            axes[-1][index] = (inside, weight)
    flat = xp.reshape(x, (*x.shape[:2], prod(spatial)))
    total = None
    for chosen in product(*axes):
        place, weight = None, None
        for (index, factor), size in zip(chosen, spatial, strict=True):
            place = index if place is None else place * size + index
            if factor is not None:
                weight = factor if weight is None else weight * factor
        part = xp.stack([xp.take(flat[n, ...], place[n, :], axis=1) for n in range(x.shape[0])])
        if weight is not None:
            gone = xp.zeros((), dtype=x.dtype)
            if xp.isdtype(x.dtype, "real floating"):
                part = xp.where(weight[:, None, :] == 0, gone, part)
                part = part * xp.astype(weight, x.dtype)[:, None, :]
            else:
                part = xp.where(weight[:, None, :] == 0, gone, part)
        total = part if total is None else total + part
    return total


def _inside(
    xp: Any, place: Any, weight: Any, size: int, padding: str, border: tuple[float, float]
) -> tuple[Any, Any]:
    """An index inside the axis, and its weight; with zero padding, no weight outside."""
    if padding == "zeros":
        valid = (place >= 0) & (place < size)
        weight = (
            xp.astype(valid, xp.float32) if weight is None else xp.where(valid, weight, 0 * weight)
        )
    elif padding == "reflection":
        mirrored = reflected(xp, xp.astype(place, xp.float64), *border)
        place = xp.astype(mirrored, xp.int64)
    return xp.clip(place, 0, size - 1), weight


def grid_sample(site: Site) -> Kernel:
    """Build GridSample."""
    xp, attributes = site.xp, site.attributes
    mode = attributes.get("mode", "linear")
    padding = attributes.get("padding_mode", "zeros")
    align = bool(attributes.get("align_corners", 0))
    operand = site.inputs[0]
    if operand is not None and mode != "nearest" and not operand.dtype.startswith("float"):
        raise NotImplementedError(f"GridSample: {operand.dtype} cannot be interpolated")

    def run(x: Any, grid: Any) -> Any:
        spatial = x.shape[2:]
        flat = xp.reshape(grid, (grid.shape[0], prod(grid.shape[1:-1]), len(spatial)))
        points, borders = [], []
        for axis, size in enumerate(spatial):
            n = flat[..., len(spatial) - 1 - axis]
            point = (n + 1) / 2 * (size - 1) if align else ((n + 1) * size - 1) / 2
            low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
            if mode == "nearest":
                point = xp.round(point)
            outside = (point < low) | (point > high)
            if padding == "border":
                point = xp.where(outside, xp.clip(point, 0, size - 1), point)
            elif padding == "reflection":
                point = xp.where(outside, reflected(xp, point, low, high), point)
            points.append(point)
            borders.append((low, high))
        y = sample(xp, x, points, mode, padding, borders)
        return xp.reshape(y, (*x.shape[:2], *grid.shape[1:-1]))

    return Fresh(run)


def affine_grid(site: Site) -> Kernel:
    """Build AffineGrid."""
    xp, align = site.xp, bool(site.attributes.get("align_corners", 0))

    def run(theta: Any, size: Any) -> Any:
        batch, spatial = theta.shape[0], [int(n) for n in size][2:]
        columns: list[Any] = []
        for axis, n in enumerate(spatial):
            steps = xp.arange(n, dtype=xp.float64)
            line = steps * (2 / max(n - 1, 1)) - 1 if align else (2 * steps + 1) / n - 1
            line = xp.reshape(line, (-1, *(1,) * (len(spatial) - axis - 1)))
            columns.insert(0, xp.reshape(xp.broadcast_to(line, tuple(spatial)), (-1,)))
        points = xp.stack([*columns, xp.ones_like(columns[0])], axis=1)
        grid = xp.matmul(xp.astype(points, theta.dtype), xp.matrix_transpose(theta))
        return xp.reshape(grid, (batch, *spatial, len(spatial)))

    return Fresh(run)


def deform_conv(site: Site) -> Kernel:
    """Build DeformConv (two spatial dimensions): samples at moved places, then a product."""
    xp, attributes = site.xp, site.attributes
    group, offsets = attributes.get("group", 1), attributes.get("offset_group", 1)

    def run(x: Any, w: Any, offset: Any, bias: Any = None, mask: Any = None) -> Any:
        if x.ndim != 4:
            raise NotImplementedError(f"DeformConv: {x.ndim - 2} spatial dimensions")
        batch, channels, out = x.shape[0], x.shape[1], offset.shape[2:]
        kernel, maps = w.shape[2:], w.shape[0]
        taps, pixels = prod(kernel), prod(out)
        steps = attributes.get("strides") or (1, 1)
        dilations = attributes.get("dilations") or (1, 1)
        pads = attributes.get("pads") or (0, 0, 0, 0)
        moved = xp.reshape(offset, (batch * offsets, *kernel, 2, *out))
        points = []
        for axis in range(2):
            base = xp.arange(out[axis], dtype=x.dtype) * steps[axis] - pads[axis]
            tap = xp.arange(kernel[axis], dtype=x.dtype) * dilations[axis]
            shape_tap, shape_out = [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]
            shape_tap[1 + axis], shape_out[3 + axis] = -1, -1
            place = xp.reshape(tap, tuple(shape_tap)) + xp.reshape(base, tuple(shape_out))
            point = moved[:, :, :, axis, ...] + place
            points.append(xp.reshape(point, (batch * offsets, taps * pixels)))
        source = xp.reshape(x, (batch * offsets, channels // offsets, *x.shape[2:]))
        values = sample(xp, source, points, "linear", "zeros", [(0.0, 0.0)] * 2)
        if mask is not None:
            values = values * xp.reshape(mask, (batch * offsets, 1, taps * pixels))
        columns = xp.reshape(values, (batch, group, channels // group * taps, pixels))
        y = xp.matmul(xp.reshape(w, (group, maps // group, prod(w.shape[1:]))), columns)
        y = xp.reshape(y, (batch, maps, *out))
        return y if bias is None else y + xp.reshape(bias, (-1, 1, 1))

    return Fresh(run)


def roi_align(site: Site) -> Kernel:
    """Build RoiAlign."""
    xp, attributes = site.xp, site.attributes
    out = (attributes.get("output_height", 1), attributes.get("output_width", 1))
    ratio, scale = attributes.get("sampling_ratio", 0), attributes.get("spatial_scale", 1.0)
    half = attributes.get("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    largest = attributes.get("mode", "avg") == "max"

    def taps(start: float, length: float, bins: int, size: int) -> tuple[Any, Any, int]:
        samples = ratio if ratio > 0 else ceil(length / bins)
        steps = xp.arange(bins * samples, dtype=xp.float64)
        point = start + (steps + 0.5) * (length / bins / max(samples, 1))
        valid = xp.astype((point >= -1) & (point <= size), xp.float64)
        point = xp.clip(point, 0, size - 1)
        below = xp.floor(point)
        low = xp.astype(below, xp.int64)
        fraction = point - below
        high = xp.clip(low + 1, 0, size - 1)
        return (
            xp.concat((low, high)),
            xp.concat(((1 - fraction) * valid, fraction * valid)),
            samples,
        )

    def one(image: Any, roi: list[float]) -> Any:
        shift = 0.5 if half else 0.0
        left, top, right, bottom = (v * scale - shift for v in roi)
        width, height = right - left, bottom - top
        if not half:
            width, height = max(width, 1.0), max(height, 1.0)
        rows, row_weights, gh = taps(top, height, out[0], image.shape[1])
        columns, column_weights, gw = taps(left, width, out[1], image.shape[2])
        if gh <= 0 or gw <= 0:
            return xp.zeros((image.shape[0], *out), dtype=image.dtype)
        picked = xp.take(xp.take(image, rows, axis=1), columns, axis=2)
        weight = row_weights[:, None] * column_weights[None, :]
        picked = picked * xp.astype(weight, image.dtype)
        split = xp.reshape(picked, (image.shape[0], 2, out[0], gh, 2, out[1], gw))
        if largest:
            return xp.max(split, axis=(1, 3, 4, 6))
        return xp.sum(split, axis=(1, 3, 4, 6)) / (gh * gw)

    def run(x: Any, rois: Any, batch_indices: Any) -> Any:
        if not rois.shape[0] or 0 in out:
            return xp.zeros((rois.shape[0], x.shape[1], *out), dtype=x.dtype)
        boxes = [[float(rois[i, side]) for side in range(4)] for i in range(rois.shape[0])]
        images = [int(batch_indices[i]) for i in range(rois.shape[0])]
        parts = [one(x[n, ...], box) for n, box in zip(images, boxes, strict=True)]
        return xp.astype(xp.stack(parts), x.dtype, copy=False)

    return Fresh(run)


def max_roi_pool(site: Site) -> Kernel:
    """Build MaxRoiPool: each region, rounded to pixels, is cut into bins; an empty bin is zero."""
    xp, out = site.xp, tuple(site.attributes["pooled_shape"])
    scale = site.attributes.get("spatial_scale", 1.0)

    def bins(low: float, high: float, count: int, size: int) -> list[tuple[int, int]]:
        start, end = floor(low * scale + 0.5), floor(high * scale + 0.5)
        length = max(end - start + 1, 1) / count
        edges = [(floor(i * length) + start, ceil((i + 1) * length) + start) for i in range(count)]
        return [(min(max(a, 0), size), min(max(b, 0), size)) for a, b in edges]

    def run(x: Any, rois: Any) -> Any:
        y = xp.zeros((rois.shape[0], x.shape[1], *out), dtype=x.dtype)
        for index in range(rois.shape[0]):
            image, left, top, right, bottom = (float(rois[index, side]) for side in range(5))
            rows = bins(top, bottom, out[0], x.shape[2])
            columns = bins(left, right, out[1], x.shape[3])
            for (i, (a, b)), (j, (c, d)) in product(enumerate(rows), enumerate(columns)):
                if b > a and d > c:
                    largest = xp.max(x[int(image), :, a:b, c:d], axis=(1, 2))
                    y = put(y, (index, slice(None), i, j), largest)
        return y

    return Fresh(run)


HOST = {"AffineGrid": (1,), "RoiAlign": (1, 2), "MaxRoiPool": (1,)}
KERNELS: dict[str, Builder] = {
    "GridSample": widened(grid_sample),
    "AffineGrid": widened(affine_grid),
    "DeformConv": widened(deform_conv),
    "RoiAlign": widened(roi_align),
    "MaxRoiPool": widened(max_roi_pool),
}
