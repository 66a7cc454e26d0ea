"""Proposals of operations that move, cut, join and fill."""

from __future__ import annotations

import numpy as np

from tests.fuzz.building import ALL, FLOATS, NUMBERS, Build, Proposal


def signed(build: Build, axis: int, ndim: int) -> int:
    """The same axis, at times counted from behind."""
    return axis - ndim if build.chance(0.3) else axis


def reshape(build: Build) -> Proposal:
    x = build.value(ALL)
    sizes, left = [], x.array.size
    while left > 1 and build.chance(0.6):
        choices = [n for n in range(1, 7) if left % n == 0]
        sizes.append(build.pick(choices))
        left //= sizes[-1]
    sizes.append(left)
    if x.array.size and build.chance(0.3):
        sizes[build.random.randrange(len(sizes))] = -1
    if not x.array.size:
        sizes = list(x.shape) if x.ndim else [0]
    flag = {"allowzero": 1} if 0 in sizes and -1 not in sizes else {}
    return Proposal("Reshape", [x, build.ints(sizes)], flag, exact=True)


def transpose(build: Build) -> Proposal:
    x = build.value(ALL)
    order = list(range(x.ndim))
    build.random.shuffle(order)
    return Proposal("Transpose", [x], {"perm": order} if x.ndim else {}, exact=True)


def squeeze(build: Build) -> Proposal:
    x = build.value(ALL)
    ones = [axis for axis, size in enumerate(x.shape) if size == 1]
    if ones and build.chance(0.6):
        return Proposal(
            "Squeeze", [x, build.ints([signed(build, build.pick(ones), x.ndim)])], exact=True
        )
    axes = sorted({build.random.randint(0, x.ndim) for _ in range(2)})
    if len(axes) == 2 and axes[1] == x.ndim and x.ndim == 0:
        axes = [0]
    return Proposal("Unsqueeze", [x, build.ints(axes)], exact=True)


def flatten(build: Build) -> Proposal:
    x = build.value(ALL)
    return Proposal("Flatten", [x], {"axis": build.random.randint(0, x.ndim)}, exact=True)


def concat(build: Build) -> Proposal:
    x = build.value(ALL, 1)
    axis = build.random.randrange(x.ndim)
    others = [
        one
        for one in build.pool
        if one.dtype == x.dtype
        and one.ndim == x.ndim
        and all(
            a == b for i, (a, b) in enumerate(zip(one.shape, x.shape, strict=True)) if i != axis
        )
    ]
    parts = [x, *(build.pick(others) for _ in range(build.random.randint(0, 2)))]
    return Proposal("Concat", parts, {"axis": signed(build, axis, x.ndim)}, exact=True)


def split(build: Build) -> Proposal:
    x = build.value(ALL, 1)
    axis = build.random.randrange(x.ndim)
    size = x.shape[axis]
    first = build.random.randint(0, size)
    lengths = build.ints([first, size - first])
    return Proposal("Split", [x, lengths], {"axis": signed(build, axis, x.ndim)}, 2, exact=True)


def slices(build: Build) -> Proposal:
    x = build.value(ALL, 1)
    count = build.random.randint(1, x.ndim)
    axes = build.random.sample(range(x.ndim), count)
    bound = (*range(-6, 7), 2**31, -(2**31), 2**63 - 1)
    starts, ends = ([build.pick(bound) for _ in axes] for _ in range(2))
    steps = [build.pick((1, 1, 2, 3, -1, -2)) for _ in axes]
    # Below the first element, a negative step begins at the first, by ONNX; the oracle slices as
    # NumPy does and finds nothing.
    starts = [
        max(start, -x.shape[axis]) if step < 0 else start
        for start, step, axis in zip(starts, steps, axes, strict=True)
    ]
    operands = [
        build.ints(v) for v in (starts, ends, [signed(build, a, x.ndim) for a in axes], steps)
    ]
    return Proposal("Slice", [x, *operands], exact=True)


def gather(build: Build) -> Proposal:
    x = build.value(ALL, 1)
    axis = build.random.randrange(x.ndim)
    size = x.shape[axis]
    if not size:
        return Proposal("Identity", [x], exact=True)
    kind = build.pick(("Gather", "GatherElements", "GatherND"))
    attributes = {"axis": signed(build, axis, x.ndim)}
    if kind == "Gather":
        at = build.generator.integers(-size, size, build.shape(0, 2))
    elif kind == "GatherElements":
        shape = tuple(max(1, n - build.random.randint(0, 1)) if n else 0 for n in x.shape)
        at = build.generator.integers(-size, size, shape)
    else:
        if 0 in x.shape:
            return Proposal("Identity", [x], exact=True)
        depth, attributes = build.random.randint(1, x.ndim), {}
        rows = build.shape(1, 2)
        at = np.stack([build.generator.integers(-n, n, rows) for n in x.shape[:depth]], axis=-1)
    if kind != "GatherND" and build.chance(0.2):
        return Proposal(kind, [x, build.ints(at, "int32")], attributes, exact=True)
    return Proposal(kind, [x, build.ints(at)], attributes, exact=True)


def scatter(build: Build) -> Proposal:
    x = build.value(NUMBERS, 1)
    if 0 in x.shape:
        return Proposal("Identity", [x], exact=True)
    way = build.pick(("none", "add", "mul", "max", "min"))
    if build.chance(0.5):
        axis = build.random.randrange(x.ndim)
        shape = tuple(max(1, n - build.random.randint(0, 1)) for n in x.shape)
        at = np.argsort(build.generator.random(x.shape), axis=axis)
        at = at[tuple(slice(n) for n in shape)]
        attributes = {"axis": signed(build, axis, x.ndim), "reduction": way}
        updates = build.fresh(x.dtype, shape, special=way in {"none", "add"})
        gain = 8 if way == "mul" else 2
        return Proposal("ScatterElements", [x, build.ints(at), updates], attributes, gain=gain)
    rows = build.generator.permutation(x.shape[0])[: build.random.randint(1, x.shape[0])]
    updates = build.fresh(x.dtype, (len(rows), *x.shape[1:]), special=way in {"none", "add"})
    return Proposal(
        "ScatterND", [x, build.ints(rows[:, None]), updates], {"reduction": way}, gain=8
    )


def expand(build: Build) -> Proposal:
    x = build.value(ALL)
    if build.chance(0.5) and x.ndim:
        repeats = [build.random.randint(0 if build.chance(0.1) else 1, 2) for _ in x.shape]
        return Proposal("Tile", [x, build.ints(repeats)], exact=True)
    sizes = [build.random.randint(1, 3) if n == 1 else n for n in x.shape]
    lead = [build.random.randint(1, 2) for _ in range(build.random.randint(0, 2))]
    return Proposal("Expand", [x, build.ints([*lead, *sizes])], exact=True)


def pad(build: Build) -> Proposal:
    x = build.value((*FLOATS, "int32", "int64"), 1)
    mode = build.pick(("constant", "edge", "reflect", "wrap"))
    if 0 in x.shape:
        mode = "constant"
    least = min(x.shape)
    low, high = (0, 3) if mode == "constant" else (0, max(0, least - 1))
    pads = [build.random.randint(low, high) for _ in range(2 * x.ndim)]
    operands = [x, build.ints(pads)]
    if mode == "constant" and build.chance(0.7):
        operands.append(build.fresh(x.dtype, ()))
    return Proposal("Pad", operands, {"mode": mode}, exact=True)


def measured(build: Build) -> Proposal:
    x = build.value(ALL)
    return Proposal(build.pick(("Shape", "Size")), [x], exact=True)


def triangle(build: Build) -> Proposal:
    x = build.value(NUMBERS, 2)
    operands = [x, build.ints(build.random.randint(-4, 4))] if build.chance(0.6) else [x]
    return Proposal("Trilu", operands, {"upper": build.random.randint(0, 1)}, exact=True)


def found(build: Build) -> Proposal:
    kind = build.pick(("NonZero", "Compress", "Unique", "OneHot", "Range", "ConstantOfShape"))
    if kind == "NonZero":
        return Proposal(kind, [build.value(NUMBERS, 1, exact=True)], exact=True)
    if kind == "Compress":
        x = build.value(NUMBERS, 1)
        axis = build.random.randrange(x.ndim)
        return Proposal(
            kind, [x, build.fresh("bool", (x.shape[axis],))], {"axis": axis}, exact=True
        )
    if kind == "Unique":
        x = build.value(("float32", "int64"), 1, exact=True)
        return Proposal(kind, [x], {"sorted": 1}, 4, exact=True)
    if kind == "OneHot":
        at = build.leaf(build.generator.integers(-4, 5, build.shape(1, 2)))
        values = build.fresh("float32", (2,), special=False)
        return Proposal(kind, [at, build.ints(4), values], {"axis": -1}, exact=True)
    if kind == "Range":
        ends = [build.ints(n) for n in (build.random.randint(-3, 3), build.random.randint(-3, 6))]
        return Proposal(kind, [*ends, build.ints(build.pick((1, 2, -1)))], exact=True)
    sizes = build.ints(list(build.shape(0, 3)))
    return Proposal(kind, [sizes], exact=True)


def blocks(build: Build) -> Proposal:
    dtype = build.pick(("float32", "float64", "int32"))
    kind = build.pick(("DepthToSpace", "SpaceToDepth"))
    shape = (1, 8, 2, 3) if kind == "DepthToSpace" else (2, 2, 4, 6)
    x = build.fresh(dtype, shape)
    attributes = {"blocksize": 2}
    if kind == "DepthToSpace":
        attributes["mode"] = build.pick(("DCR", "CRD"))
    return Proposal(kind, [x], attributes, exact=True)


SHAPING = (
    *(reshape, transpose, squeeze, flatten, concat, split, slices, gather, scatter, expand, pad),
    *(measured, triangle, found, blocks),
)
