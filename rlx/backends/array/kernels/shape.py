"""Rearranging: other shapes and orders of the same values."""

from __future__ import annotations

import math
from collections.abc import Callable

from rlx.backends.array.kernels.operands import Ints, axis_of, axis_within, with_ints
from rlx.backends.array.native import is_numpy
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def _reshaper(site: Site, target: Ints) -> Callable[[Array], Array]:
    if is_numpy(site.xp):
        return lambda x: x.reshape(target)
    reshape = site.xp.reshape
    return lambda x: reshape(x, target)


def _reshape(site: Site) -> Kernel:
    """A 0 copies the input's size, unless `allowzero` is set."""
    allow_zero = site.attributes.get("allowzero", 0)

    def make(target: Ints | None) -> Callable[[Array], Array]:
        assert target is not None
        if allow_zero or 0 not in target:
            return _reshaper(site, target)

        def copying(x: Array) -> Array:
            sizes = [x.shape[at] if size == 0 else size for at, size in enumerate(target)]
            if -1 in sizes and 0 in sizes:  # copied sizes cancel out, so -1 is known all the same
                others = (n for at, n in enumerate(x.shape) if at >= len(target) or target[at])
                stated = math.prod(size for size in target if size > 0)
                sizes[target.index(-1)] = math.prod(others) // stated
            return site.xp.reshape(x, tuple(sizes))

        return copying

    return with_ints(site, 1, make)


def _flatten(site: Site) -> Kernel:
    axis = site.attributes.get("axis", 1)
    reshape = site.xp.reshape

    def flatten(x: Array) -> Array:
        sizes = x.shape
        cut = axis_of(axis, len(sizes))
        return reshape(x, (math.prod(sizes[:cut]), math.prod(sizes[cut:])))

    return flatten


def _transpose(site: Site) -> Kernel:
    order = site.attributes.get("perm")
    permute = site.xp.permute_dims
    if order is None:
        return lambda x: permute(x, tuple(reversed(range(x.ndim))))
    return lambda x: permute(x, tuple(order))


def _squeeze(site: Site) -> Kernel:
    squeeze = site.xp.squeeze

    def make(axes: Ints | None) -> Callable[[Array], Array]:
        if axes is None:
            return lambda x: squeeze(x, axis=tuple(i for i, n in enumerate(x.shape) if n == 1))
        return lambda x: squeeze(x, axis=axes)

    return with_ints(site, 1, make)


def _unsqueeze(site: Site) -> Kernel:
    reshape = site.xp.reshape

    def make(axes: Ints | None) -> Callable[[Array], Array]:
        assert axes is not None
        places: dict[int, list[int]] = {}

        def unsqueeze(x: Array) -> Array:
            new = places.get(x.ndim)
            if new is None:
                ndim = x.ndim + len(axes)
                new = sorted({axis_within(axis, ndim) for axis in axes})
                if len(new) != len(axes):
                    raise ValueError(f"axes {list(axes)} name an axis twice")
                places[x.ndim] = new
            sizes = list(x.shape)
            for at in new:
                sizes.insert(at, 1)
            return reshape(x, tuple(sizes))

        return unsqueeze

    return with_ints(site, 1, make)


def broadcast_shape(one: Ints, other: Ints) -> Ints:
    """The common shape of two shapes under NumPy's broadcasting."""
    ndim = max(len(one), len(other))
    padded = ((1,) * (ndim - len(shape)) + shape for shape in (one, other))
    return tuple(b if a == 1 else a for a, b in zip(*padded, strict=True))


def _expand(site: Site) -> Kernel:
    broadcast_to = site.xp.broadcast_to

    def make(target: Ints | None) -> Callable[[Array], Array]:
        assert target is not None
        return lambda x: broadcast_to(x, broadcast_shape(tuple(x.shape), target))

    return with_ints(site, 1, make)


def _tile(site: Site) -> Kernel:
    tile = site.xp.tile

    def make(repeats: Ints | None) -> Callable[[Array], Array]:
        assert repeats is not None
        return lambda x: tile(x, repeats)

    return with_ints(site, 1, make, fresh=True)


def _concat(site: Site) -> Kernel:
    axis = site.attributes["axis"]
    concat = site.xp.concat
    return Fresh(lambda *inputs: concat(inputs, axis=axis))


def _split(site: Site) -> Kernel:
    """By the sizes given, else in equal parts, of which the last may be smaller."""
    axis = site.attributes.get("axis", 0)
    parts = site.attributes.get("num_outputs", site.outputs)

    def make(sizes: Ints | None) -> Callable[[Array], object]:
        def split(x: Array) -> object:
            at = axis_of(axis, x.ndim)
            length = x.shape[at]
            chunk = -(-length // parts)
            lengths = sizes if sizes is not None else (chunk,) * parts
            if sizes is not None and sum(sizes) != length:
                raise ValueError(f"sizes {list(sizes)} do not sum to {length}")
            before = (slice(None),) * at
            pieces, start = [], 0
            for size in lengths:
                pieces.append(x[(*before, slice(start, start + size))])
                start += size
            return tuple(pieces) if site.outputs > 1 else pieces[0]

        return split

    return with_ints(site, 1, make)


def _depth_to_space(site: Site) -> Kernel:
    block = site.attributes["blocksize"]
    column_first = site.attributes.get("mode", "DCR") == "CRD"
    xp = site.xp

    def depth_to_space(x: Array) -> Array:
        batch, depth, height, width = x.shape
        channels = depth // block**2
        if column_first:
            apart = xp.reshape(x, (batch, channels, block, block, height, width))
            moved = xp.permute_dims(apart, (0, 1, 4, 2, 5, 3))
        else:
            apart = xp.reshape(x, (batch, block, block, channels, height, width))
            moved = xp.permute_dims(apart, (0, 3, 4, 1, 5, 2))
        return xp.reshape(moved, (batch, channels, height * block, width * block))

    return depth_to_space


def _space_to_depth(site: Site) -> Kernel:
    block = site.attributes["blocksize"]
    column_first = site.attributes.get("mode", "DCR") == "CRD"
    xp = site.xp

    def space_to_depth(x: Array) -> Array:
        batch, channels, height, width = x.shape
        high, wide = height // block, width // block
        apart = xp.reshape(x, (batch, channels, high, block, wide, block))
        order = (0, 1, 3, 5, 2, 4) if column_first else (0, 3, 5, 1, 2, 4)
        moved = xp.permute_dims(apart, order)
        return xp.reshape(moved, (batch, channels * block**2, high, wide))

    return space_to_depth


def _reverse_sequence(site: Site) -> Kernel:
    xp = site.xp
    batch = site.attributes.get("batch_axis", 1)
    time = site.attributes.get("time_axis", 0)

    def reverse(x: Array, lengths: Array) -> Array:
        at_batch, at_time = axis_of(batch, x.ndim), axis_of(time, x.ndim)
        moved = xp.moveaxis(x, (at_batch, at_time), (0, 1))
        step = xp.arange(moved.shape[1], dtype=xp.int64)[None, :]
        length = xp.astype(lengths, xp.int64)[:, None]
        order = xp.where(step < length, length - 1 - step, step)
        rows = xp.arange(moved.shape[0], dtype=xp.int64)[:, None]
        return xp.moveaxis(moved[rows, order], (0, 1), (at_batch, at_time))

    return Fresh(reverse)


def _trilu(site: Site) -> Kernel:
    cut = site.xp.triu if site.attributes.get("upper", 1) else site.xp.tril

    def make(offset: Ints | None) -> Callable[[Array], Array]:
        k = offset[0] if offset else 0
        return lambda x: cut(x, k=k)

    return with_ints(site, 1, make, fresh=True)


HOST = {
    "Reshape": (1,),
    "Squeeze": (1,),
    "Unsqueeze": (1,),
    "Expand": (1,),
    "Tile": (1,),
    "Split": (1,),
    "Trilu": (1,),
}
KERNELS: dict[str, Builder] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Expand": _expand,
    "Tile": _tile,
    "Concat": _concat,
    "Split": _split,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
    "ReverseSequence": _reverse_sequence,
    "Trilu": _trilu,
}
