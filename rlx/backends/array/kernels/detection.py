"""NonMaxSuppression, MaxUnpool, Col2Im and CenterCropPad."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.updates import add, put
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.kernels.windows import windows
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site


def corners(xp: Any, boxes: Any, *, centered: bool) -> tuple[Any, Any, Any, Any]:
    """The lowest and highest y and x of boxes (n, 4), given as two corners or center and size."""
    if centered:
        x, y, width, height = (boxes[:, i] for i in range(4))
        return y - height / 2, y + height / 2, x - width / 2, x + width / 2
    y1, x1, y2, x2 = (boxes[:, i] for i in range(4))
    return xp.minimum(y1, y2), xp.maximum(y1, y2), xp.minimum(x1, x2), xp.maximum(x1, x2)


def overlap(xp: Any, sides: tuple[Any, Any, Any, Any], one: int, others: Any) -> Any:
    """Intersection over union of one box with others; zero where either is empty, or infinite."""
    low_y, high_y, low_x, high_x = sides
    picked = [xp.take(side, others) for side in sides]
    height = xp.minimum(high_y[one], picked[1]) - xp.maximum(low_y[one], picked[0])
    width = xp.minimum(high_x[one], picked[3]) - xp.maximum(low_x[one], picked[2])
    shared = xp.clip(height, 0) * xp.clip(width, 0)
    area = (picked[1] - picked[0]) * (picked[3] - picked[2])
    own = (high_y[one] - low_y[one]) * (high_x[one] - low_x[one])
    union = area + own - shared
    valid = (shared > 0) & (area > 0) & (own > 0) & (union > 0)
    return xp.where(
        valid, shared / xp.where(valid, union, xp.ones_like(union)), xp.zeros_like(union)
    )


def non_max_suppression(site: Site) -> Kernel:
    """Build NonMaxSuppression: per class, the best boxes that overlap no better one too much."""
    xp = site.xp
    centered = bool(site.attributes.get("center_point_box", 0))

    def run(boxes: Any, scores: Any, most: Any = None, iou: Any = None, least: Any = None) -> Any:
        limit = _first(most, 0)
        allowed = _first(iou, 0.0)
        found: list[tuple[int, int, int]] = []
        for batch in range(boxes.shape[0] if limit > 0 else 0):
            sides = corners(xp, boxes[batch, ...], centered=centered)
            for label in range(scores.shape[1]):
                line = scores[batch, label, :]
                order = xp.argsort(line, descending=True, stable=True)
                if least is not None:
                    order = order[xp.take(line, order) > _first(least, 0.0)]
                kept = 0
                while order.shape[0] and kept < limit:
                    best = int(order[0])
                    found.append((batch, label, best))
                    kept += 1
                    order = order[1:]
                    order = order[overlap(xp, sides, best, order) <= allowed]
        return xp.reshape(xp.asarray(found, dtype=xp.int64), (len(found), 3))

    return Fresh(run)


def _first(operand: Any, default: Any) -> Any:
    """The one value of an optional operand that has at most one element."""
    if operand is None or 0 in operand.shape:
        return default
    return type(default)(operand[(0,) * operand.ndim])


def scattered(xp: Any, indices: Any, values: Any, size: int) -> Any:
    """A line of zeros with the values at the indices; the last of several for one place wins."""
    places, line = xp.reshape(indices, (-1,)), xp.reshape(values, (-1,))
    if not line.shape[0]:
        return xp.zeros((size,), dtype=values.dtype)
    order = xp.argsort(places, stable=True)
    places = xp.take(places, order)
    targets = xp.arange(size, dtype=places.dtype)
    last = xp.clip(xp.searchsorted(places, targets, side="right") - 1, 0)
    found = xp.take(xp.take(line, order), last)
    return xp.where(xp.take(places, last) == targets, found, xp.zeros_like(found))


def max_unpool(site: Site) -> Kernel:
    """Build MaxUnpool: values go back to where MaxPool found them, zeros elsewhere."""
    xp, attributes = site.xp, site.attributes
    kernel = attributes["kernel_shape"]
    steps = attributes.get("strides") or (1,) * len(kernel)
    pads = attributes.get("pads") or (0,) * (2 * len(kernel))

    def run(x: Any, indices: Any, output_shape: Any = None) -> Any:
        spatial = [
            (n - 1) * s - pads[i] - pads[i + len(kernel)] + k
            for i, (n, s, k) in enumerate(zip(x.shape[2:], steps, kernel, strict=True))
        ]
        shape = (*x.shape[:2], *spatial)
        y = xp.reshape(scattered(xp, indices, x, prod(shape)), shape)
        if output_shape is None:
            return y
        room = xp.zeros(tuple(int(n) for n in output_shape), dtype=x.dtype)
        return put(room, tuple(slice(n) for n in shape), y)

    return Fresh(run)


def col2im(site: Site) -> Kernel:
    """Build Col2Im: columns of windows are added up where the windows lie."""
    xp, attributes = site.xp, site.attributes

    def run(x: Any, image_shape: Any, block_shape: Any) -> Any:
        spatial, kernel = [int(n) for n in image_shape], [int(n) for n in block_shape]
        shape = windows(attributes, kernel, spatial)
        maps = x.shape[1] // prod(kernel)
        columns = xp.reshape(x, (x.shape[0], maps, prod(kernel), *shape.sizes))
        room = xp.zeros((x.shape[0], maps, *shape.padded_shape), dtype=x.dtype)
        for index, where in enumerate(shape.slices()):
            room = add(room, (..., *where), columns[:, :, index, ...])
        return room[(..., *(slice(b, b + n) for b, n in zip(shape.begins, spatial, strict=True)))]

    return Fresh(run)


def center_crop_pad(site: Site) -> Kernel:
    """Build CenterCropPad: each axis is cut or filled with zeros around its middle."""
    xp, axes = site.xp, site.attributes.get("axes")

    def run(x: Any, shape: Any) -> Any:
        sizes = list(x.shape)
        cut, place = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        for axis, wanted in zip(axes or range(x.ndim), shape, strict=True):
            old, new = x.shape[axis], int(wanted)
            sizes[axis] = new
            if new <= old:
                start = (old - new) // 2
                cut[axis] = slice(start, start + new)
            else:
                start = (new - old) // 2
                place[axis] = slice(start, start + old)
        y = xp.zeros(tuple(sizes), dtype=x.dtype)
        return put(y, tuple(place), x[tuple(cut)])

    return Fresh(run)


HOST = {
    "NonMaxSuppression": (2, 3, 4),
    "MaxUnpool": (2,),
    "Col2Im": (1, 2),
    "CenterCropPad": (1,),
}
KERNELS: dict[str, Builder] = {
    "NonMaxSuppression": non_max_suppression,
    "MaxUnpool": max_unpool,
    "Col2Im": widened(col2im),
    "CenterCropPad": center_crop_pad,
}
