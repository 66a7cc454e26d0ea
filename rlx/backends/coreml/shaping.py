"""Operations that move values: other shapes, other order, pieces and copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.backends.coreml.site import FLOATS, Emitter, Site, Var


def _reshaped(site: Site, shape: tuple[int, ...]) -> Var:
    if shape == ():
        return site.mb.squeeze(x=site.x()) if site.ndim() else site.mb.identity(x=site.x())
    if site.is_bool(site.x()):
        x = site.mb.cast(x=site.x(), dtype="int32")
        return site.mb.cast(x=site.mb.reshape(x=x, shape=shape), dtype="bool")
    return site.mb.reshape(x=site.x(), shape=np.array(shape, np.int32))


def _reshape(site: Site) -> Var:
    wanted, held = site.ints(1, "shape"), site.shape(0)
    if not site.attribute("allowzero", 0):
        wanted = [held[at] if size == 0 else size for at, size in enumerate(wanted)]
    count = int(np.prod(held))
    rest = int(np.prod([size for size in wanted if size != -1]))
    return _reshaped(site, tuple(count // rest if size == -1 else size for size in wanted))


def _flatten(site: Site) -> Var:
    axis = int(site.attribute("axis", 1))
    axis += site.ndim() if axis < 0 else 0
    held = site.shape(0)
    return _reshaped(site, (int(np.prod(held[:axis])), int(np.prod(held[axis:]))))


def _squeeze(site: Site) -> Var:
    held = site.shape(0)
    if site.present(1):
        gone = {site.axis(one) for one in site.ints(1, "list of axes")}
    else:
        gone = {at for at, size in enumerate(held) if size == 1}
    return _reshaped(site, tuple(size for at, size in enumerate(held) if at not in gone))


def _unsqueeze(site: Site) -> Var:
    axes = site.ints(1, "list of axes")
    ndim = site.ndim() + len(axes)
    new, held = {site.axis(one, ndim) for one in axes}, iter(site.shape(0))
    shape = tuple(1 if at in new else next(held) for at in range(ndim))
    if site.ndim() == 0:  # a reshape takes no scalar
        made = site.mb.expand_dims(x=site.x(), axes=[0])
        return made if ndim == 1 else site.mb.reshape(x=made, shape=np.array(shape, np.int32))
    return _reshaped(site, shape)


def _transpose(site: Site) -> Var:
    perm = site.attribute("perm")
    perm = list(range(site.ndim()))[::-1] if perm is None else [int(one) for one in perm]
    return site.mb.transpose(x=site.x(), perm=perm) if perm else site.mb.identity(x=site.x())


def _identity(site: Site) -> Var:
    return site.mb.identity(x=site.x())


def _dropout(site: Site) -> Var:
    if len(site.op.outputs) > 1 or (site.present(2) and bool(site.need(2, "mode"))):
        site.refuse("it drops values, or hands out which")
    return site.mb.identity(x=site.x())


def _concat(site: Site) -> Var:
    if len(site.values) == 1:
        return site.mb.identity(x=site.x())
    values: list[Any] = site.all()
    truth = site.dtypes[0] == "bool"
    if truth:
        values = [site.mb.cast(x=one, dtype="int32") for one in values]
    made = site.mb.concat(values=values, axis=site.axis(site.attribute("axis")))
    return site.mb.cast(x=made, dtype="bool") if truth else made


def _split(site: Site) -> Any:
    axis = site.axis(site.attribute("axis", 0))
    size, count = site.shape(0)[axis], len(site.op.outputs)
    if site.present(1):
        sizes = site.ints(1, "list of sizes")
    else:
        each = -(-size // count)
        sizes = [each] * (count - 1) + [size - each * (count - 1)]
    if min(sizes) < 1:
        site.refuse("a piece is empty")
    if len(sizes) == 1:
        return (site.mb.identity(x=site.x()),)
    return tuple(site.mb.split(x=site.x(), split_sizes=sizes, axis=axis))


def _slice(site: Site) -> Var:
    held = site.shape(0)
    begins, ends = site.ints(1, "start"), site.ints(2, "end")
    axes = site.ints(3, "list of axes") if site.present(3) else list(range(len(begins)))
    steps = site.ints(4, "step") if site.present(4) else [1] * len(begins)
    begin, end, stride, open_end = [0] * len(held), list(held), [1] * len(held), [False] * len(held)
    for axis, first, last, step in zip(axes, begins, ends, steps, strict=True):
        at = site.axis(axis)
        span = range(*slice(first, last, step).indices(held[at]))
        if not span:
            site.refuse("it leaves nothing")
        begin[at], stride[at] = span.start, step
        end[at], open_end[at] = span.stop, span.stop < 0
    return site.mb.slice_by_index(
        x=site.x(), begin=begin, end=end, stride=stride, end_mask=open_end
    )


def _pad(site: Site) -> Var:
    site.only(*FLOATS)
    mode = {"constant": "constant", "reflect": "reflect", "edge": "replicate"}.get(
        site.attribute("mode", "constant")
    )
    pads, ndim = site.ints(1, "list of pads"), site.ndim()
    axes = site.ints(3, "list of axes") if site.present(3) else list(range(ndim))
    whole = [0] * (2 * ndim)
    for at, axis in enumerate(axes):
        place = 2 * site.axis(axis)
        whole[place], whole[place + 1] = pads[at], pads[at + len(axes)]
    if mode is None or min(whole, default=0) < 0:
        site.refuse("it wraps around, or cuts off")
    if mode != "constant":
        outer = max((place // 2 for place, size in enumerate(whole) if size), default=ndim)
        first = min((place // 2 for place, size in enumerate(whole) if size), default=ndim)
        if first < ndim - 2 or outer > ndim:
            site.refuse(f"MIL takes {mode} along the last two axes only")
        whole = whole[2 * first :]
    if not any(whole):
        return site.mb.identity(x=site.x())
    value = float(site.need(2, "value").reshape(-1)[0]) if site.present(2) else 0.0
    return site.mb.pad(
        x=site.x(), pad=np.array(whole, np.int32), mode=mode, constant_val=site.scalar(value)
    )


def _expand(site: Site) -> Var:
    shape = np.broadcast_shapes(site.shape(0), tuple(site.ints(1, "shape")))
    made = site.broadcast(site.x(), shape)
    return made if made is not site.values[0] else site.mb.identity(x=made)


def _tile(site: Site) -> Var:
    reps = site.ints(1, "list of repeats")
    if reps and min(reps) < 1:
        site.refuse("it leaves nothing")
    made = site.repeat(site.x(), reps)
    return made if made is not site.values[0] else site.mb.identity(x=made)


def _depth_to_space(site: Site) -> Var:
    site.only(*FLOATS)
    size = int(site.attribute("blocksize"))
    if site.attribute("mode", "DCR") == "CRD":
        return site.mb.pixel_shuffle(x=site.x(), upscale_factor=size)
    return site.mb.depth_to_space(x=site.x(), block_size=size)


def _space_to_depth(site: Site) -> Var:
    site.only(*FLOATS)
    size = int(site.attribute("blocksize"))
    if site.attribute("mode", "DCR") == "CRD":
        return site.mb.pixel_unshuffle(x=site.x(), downscale_factor=np.uint32(size))
    return site.mb.space_to_depth(x=site.x(), block_size=size)


EMITTERS: dict[str, Emitter] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "Identity": _identity,
    "Dropout": _dropout,
    "Concat": _concat,
    "Split": _split,
    "Slice": _slice,
    "Pad": _pad,
    "Expand": _expand,
    "Tile": _tile,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
}
