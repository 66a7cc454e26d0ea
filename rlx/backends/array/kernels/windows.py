"""Where a sliding window falls: the geometry that convolutions and poolings share."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.updates import put

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows over one input; every field has one entry per spatial dimension.

    `begins` and `ends` are the padding that the windows reach into. `declared` is the part of
    `ends` that the node asks for: with ceil_mode the last window may reach further.
    """

    kernel: Shape
    strides: Shape
    dilations: Shape
    begins: Shape
    ends: Shape
    declared: Shape
    spatial: Shape
    """The input's sizes, without padding."""
    sizes: Shape
    """How many windows there are: the output's sizes."""

    @property
    def padded(self) -> bool:
        """Whether any window reaches outside the input."""
        return any(self.begins) or any(self.ends)

    @property
    def overhanging(self) -> bool:
        """Whether a window reaches further than the padding that was asked for."""
        axes = zip(self.sizes, self.ends, self.declared, strict=True)
        return any(size and end > declared for size, end, declared in axes)

    @property
    def padded_shape(self) -> Shape:
        """The input's sizes with the padding."""
        return tuple(
            b + s + e for b, s, e in zip(self.begins, self.spatial, self.ends, strict=True)
        )

    @property
    def taps(self) -> int:
        """How many elements a window has."""
        return prod(self.kernel)

    def slices(self) -> Iterator[tuple[slice, ...]]:
        """Per element of the window, row-major: where it falls in the padded input."""
        per_axis = [self.axis_slices(axis) for axis in range(len(self.kernel))]
        return product(*per_axis)

    def axis_slices(self, axis: int) -> list[slice]:
        """Per element of the window along one axis: where it falls in the padded input."""
        stride, size = self.strides[axis], self.sizes[axis]
        if not size:
            return [slice(0, 0)] * self.kernel[axis]
        reach = (size - 1) * stride + 1
        starts = (i * self.dilations[axis] for i in range(self.kernel[axis]))
        return [slice(start, start + reach, stride) for start in starts]


def windows(
    attributes: Mapping[str, Any], kernel: Sequence[int], spatial: Sequence[int]
) -> Windows:
    """The windows of a Conv or pooling node over an input with these spatial sizes.

    Raises:
        ValueError: a window does not fit.
    """
    ndim = len(kernel)
    strides = tuple(attributes.get("strides") or (1,) * ndim)
    dilations = tuple(attributes.get("dilations") or (1,) * ndim)
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    auto = attributes.get("auto_pad", "NOTSET")
    if auto.startswith("SAME"):
        sizes = [-(-n // s) for n, s in zip(spatial, strides, strict=True)]
        totals = [
            max((o - 1) * s + e - n, 0)
            for o, s, e, n in zip(sizes, strides, extents, spatial, strict=True)
        ]
        small = [total // 2 for total in totals]
        large = [total - half for total, half in zip(totals, small, strict=True)]
        begins, ends = (small, large) if auto == "SAME_UPPER" else (large, small)
        declared = ends
    else:
        pads = tuple(attributes.get("pads") or ()) if auto == "NOTSET" else ()
        pads = pads or (0,) * (2 * ndim)
        begins, declared = list(pads[:ndim]), list(pads[ndim:])
        ceil = bool(attributes.get("ceil_mode", 0))
        sizes, ends = [], []
        for n, b, e, s, extent in zip(spatial, begins, declared, strides, extents, strict=True):
            size = _count(n, b, e, s, extent, ceil=ceil)
            sizes.append(size)
            ends.append(max(e, (size - 1) * s + extent - n - b) if size else e)
    return Windows(
        kernel=tuple(kernel),
        strides=strides,
        dilations=dilations,
        begins=tuple(begins),
        ends=tuple(ends),
        declared=tuple(declared),
        spatial=tuple(spatial),
        sizes=tuple(sizes),
    )


def _count(n: int, begin: int, end: int, stride: int, extent: int, *, ceil: bool) -> int:
    """How many windows there are along an axis, as ONNX's inference and onnxruntime count.

    With ceil, one may hang over, if it starts before the padding's end. Without, the quotient is
    rounded toward zero, so that a window that is too large by less than a stride counts as well.
    """
    room = n + begin + end - extent
    size = (-(-room // stride) if ceil else int(room / stride)) + 1
    if ceil and (size - 1) * stride >= n + begin:
        size -= 1
    if size < 0:
        raise ValueError(f"a window of {extent} does not fit into {n} with padding {begin}, {end}")
    return size


def padded(xp: Any, x: Any, shape: Windows, value: Any) -> Any:
    """The input with its padding filled with `value`; the input itself where there is none."""
    if not shape.padded:
        return x
    room = xp.full((*x.shape[:2], *shape.padded_shape), value, dtype=x.dtype)
    inside = (slice(b, b + n) for b, n in zip(shape.begins, shape.spatial, strict=True))
    return put(room, (..., *inside), x)
