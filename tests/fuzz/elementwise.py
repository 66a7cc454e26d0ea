"""Proposals of operations that go element by element."""

from __future__ import annotations

import numpy as np
from onnx import helper

from tests.fuzz.building import (
    ALL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    Build,
    Proposal,
    Value,
    numpy_dtype,
)

SMOOTH = ("Tanh", "Sigmoid", "Sin", "Cos", "Erf", "Softplus", "Softsign", "Atan", "Gelu", "Mish")
SHARP = ("Exp", "Log", "Sqrt", "Reciprocal", "Sinh", "Cosh", "Tan", "Asinh", "Acosh", "Atanh")
KINKED = ("Relu", "LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "HardSwish", "ThresholdedRelu")
STEPS = ("Floor", "Ceil", "Round", "Sign")


def partner(build: Build, x: Value, dtype: str | None = None, *, exact: bool = False) -> Value:
    """A value that broadcasts with `x`: one that is there and does, or a new one."""
    dtype = x.dtype if dtype is None else dtype
    fit = [
        one
        for one in build.pool
        if one.dtype == dtype and broadcasts(one, x) and (one.exact or not exact)
    ]
    if fit and build.chance(0.6):
        return build.pick(fit)
    sizes = [1 if build.chance(0.25) else size for size in x.shape]
    cut = build.random.randint(0, len(sizes)) if build.chance(0.3) else 0
    return build.fresh(dtype, tuple(sizes[cut:]))


def broadcasts(one: Value, other: Value) -> bool:
    pairs = zip(reversed(one.shape), reversed(other.shape), strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)


def unary(build: Build) -> Proposal:
    kind = build.pick(("smooth", "sharp", "kinked", "step", "plain"))
    if kind == "smooth":
        operation = build.pick(SMOOTH)
        x = build.value(FLOATS)
        attributes = {}
        if operation == "Gelu" and build.chance(0.5):
            attributes = {"approximate": "tanh"}
        return Proposal(operation, [x], attributes, gain=2)
    if kind == "sharp":
        return Proposal(build.pick(SHARP), [build.value(FLOATS, exact=True)])
    if kind == "kinked":
        return Proposal(build.pick(KINKED), [build.value(FLOATS)], gain=2)
    if kind == "step":
        return Proposal(build.pick(STEPS), [build.value(FLOATS, exact=True)], exact=True)
    operation = build.pick(("Abs", "Neg", "Identity"))
    return Proposal(operation, [build.value(FLOATS + SIGNED)], exact=True)


def binary(build: Build) -> Proposal:
    operation = build.pick(("Add", "Sub", "Mul", "Max", "Min", "Div", "Pow", "PRelu", "Mod"))
    if operation in {"Div", "Pow"}:
        x = build.value(FLOATS, exact=True)
        return Proposal(operation, [x, partner(build, x, exact=True)])
    if operation == "PRelu":
        x = build.value(FLOATS)
        shape = tuple(1 if build.chance(0.3) else size for size in x.shape)
        return Proposal(operation, [x, build.fresh(x.dtype, shape, special=False)], gain=4)
    if operation == "Mod":
        x = build.value(INTEGERS)
        y = build.array(x.dtype, partner(build, x).shape)
        y[y == 0] = 3
        flag = {"fmod": 1} if build.chance(0.3) else {}
        return Proposal(operation, [x, build.leaf(y)], flag, exact=True)
    x = build.value(NUMBERS)
    y = partner(build, x)
    pair = [x, y] if build.chance(0.5) else [y, x]
    still = operation in {"Max", "Min"} or x.dtype in INTEGERS
    return Proposal(operation, pair, exact=still, gain=8 if operation == "Mul" else 2)


def several(build: Build) -> Proposal:
    operation = build.pick(("Sum", "Mean", "Max", "Min"))
    x = build.value(FLOATS)
    rest = [partner(build, x) for _ in range(build.random.randint(0, 2))]
    return Proposal(operation, [x, *rest], gain=3)


def compared(build: Build) -> Proposal:
    operation = build.pick(("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"))
    x = build.value(NUMBERS, exact=True)
    return Proposal(operation, [x, partner(build, x, exact=True)], exact=True)


def logical(build: Build) -> Proposal:
    operation = build.pick(("And", "Or", "Xor", "Not", "IsNaN", "IsInf"))
    if operation in {"IsNaN", "IsInf"}:
        return Proposal(operation, [build.value(FLOATS, exact=True)], exact=True)
    x = build.value(("bool",))
    return Proposal(operation, [x] if operation == "Not" else [x, partner(build, x)], exact=True)


def bits(build: Build) -> Proposal:
    operation = build.pick(("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"))
    x = build.value(INTEGERS)
    pair = [x] if operation == "BitwiseNot" else [x, partner(build, x)]
    return Proposal(operation, pair, exact=True)


def where(build: Build) -> Proposal:
    x = build.value(ALL)
    condition = partner(build, x, "bool")
    return Proposal("Where", [condition, x, partner(build, x)], exact=True)


def clip(build: Build) -> Proposal:
    x = build.value(NUMBERS)
    pair = [build.array(x.dtype, (), special=False) for _ in range(2)]
    pair.sort(key=lambda one: one.item())
    ends = [build.leaf(one) if build.chance(0.7) else None for one in pair]
    while ends and ends[-1] is None:
        ends.pop()
    return Proposal("Clip", [x, *ends], exact=True)


def cast(build: Build) -> Proposal:
    to = build.pick(ALL)
    x = build.value(ALL, exact=to not in FLOATS)
    code = int(helper.np_dtype_to_tensor_dtype(numpy_dtype(to)))
    if to in INTEGERS and x.dtype in FLOATS and not in_range(x, to):
        to, code = "float32", 1
    return Proposal("Cast", [x], {"to": code})


def in_range(x: Value, to: str) -> bool:
    """What lies outside is undefined."""
    wide, limits = x.array.astype(np.float64), np.iinfo(to)
    return bool(np.isfinite(wide).all() and (wide >= limits.min).all() and (wide <= 127).all())


ELEMENTWISE = (unary, unary, binary, binary, several, compared, logical, bits, where, clip, cast)
