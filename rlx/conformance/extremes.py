"""Cases at the ends of what a node may be given: shapes and values, at every dtype.

Shapes: no axes, no elements, one element, axes of size 1, broadcasting, six axes. Values: NaN,
infinities, both zeros, subnormals, the largest numbers, the smallest and largest integers. What
ONNX leaves undefined is left out: integers divided by 0, shifts by a dtype's width and more, and
numbers cast to integers that can't hold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, shape_inference

from rlx.conformance.degenerate import EMPTY, Operand
from rlx.conformance.vary import Variant, allowed_dtypes, dtype_of
from rlx.program import CANONICAL_OPSET

Array = Any
Shape = tuple[int, ...]

UNARY = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu"),
    *("Clip", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish"),
    *("Identity", "IsInf", "IsNaN", "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal"),
    *("Relu", "Round", "Selu", "Shape", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Size"),
    *("Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu"),
)
BINARY = (
    *("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal"),
    *("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul"),
    *("Or", "PRelu", "Pow", "Sub", "Sum", "Xor"),
)
REDUCTIONS = (
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
)
ALONG = ("ArgMax", "ArgMin", "Hardmax", "LogSoftmax", "Softmax")
RESULTS = {"Split": 2, "TopK": 2}
ATTRIBUTES: dict[str, dict[str, Any]] = {"BitShift": {"direction": "LEFT"}}
SHAPES: tuple[Shape, ...] = ((), (0,), (1,), (2, 0, 3), (1, 1), (2, 1, 3, 1, 2, 2))
PAIRS: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((2, 3), ()),
    ((3,), (2, 1)),
    ((0,), (1,)),
    ((2, 0), (2, 1)),
    ((1,), (1,)),
    ((2, 1, 3, 1, 2, 2), (1, 1, 2)),
)
SPECIAL = ",special"
"""What the names of those trials hold that are about values, and not about shapes."""
SMALL_DIVISORS = ("Div", "Mod")
UNJUDGED = {
    ("Clip", "special"): "without bounds ONNX gives the dtype's largest numbers as bounds, so that "
    "an infinity may stay or not",
    ("LogSoftmax", "finite"): "the oracle takes the logarithm of a Softmax that has become 0",
    ("Mean", "special"): "ONNX does not say whether a sum may overflow before it is divided",
    ("PRelu", "special"): "the oracle gives 0 for NaN",
    ("Pad", "string"): "the oracle pads text with the digit 0",
    ("ReduceMean", "(0, 3),0"): "ONNX leaves the mean of nothing undefined",
}
"""Extremes, by operation and part of their label, that say nothing about a backend, and why."""


def extremes(operation: str) -> Iterator[Variant]:
    """The extreme cases of one operation; none for those without shapes or values to vary."""
    left_out = [part for name, part in UNJUDGED if name == operation]
    for variant in _all(operation):
        if not any(part in variant.label for part in left_out):
            yield variant


def _all(operation: str) -> Iterator[Variant]:
    attributes = ATTRIBUTES.get(operation, {})
    if operation in UNARY:
        for dtype in allowed_dtypes(operation, 0):
            for shape in SHAPES:
                yield _node(operation, [ordinary(shape, dtype)], attributes, f"{dtype},{shape}")
            yield _node(operation, [special(dtype)], attributes, f"{dtype}{SPECIAL}")
    elif operation in BINARY:
        yield from _binary(operation, attributes)
    elif operation in REDUCTIONS:
        yield from _reduced(operation)
    elif operation in ALONG:
        for dtype in allowed_dtypes(operation, 0):
            for shape in ((1,), (2, 1), (3, 0) if operation in ("Softmax",) else (1, 1), (0, 3)):
                yield _node(operation, [ordinary(shape, dtype)], {"axis": -1}, f"{dtype},{shape}")
            if not operation.startswith("Arg") and operation != "Hardmax":
                values = special(dtype)
                finite = values[np.isfinite(values.astype(np.float64))]
                yield _node(operation, [finite], {"axis": -1}, f"{dtype},finite")
    elif operation == "Where":
        for dtype in allowed_dtypes(operation, 1):
            for a, b in PAIRS:
                chosen = ordinary(a, "bool")
                operands = [chosen, ordinary(b, dtype), ordinary(a, dtype)]
                yield _node(operation, operands, {}, f"{dtype},{a},{b}")

    for operands, named in EMPTY.get(operation, ()):
        yield from _degenerate(operation, operands, named)


def _degenerate(
    operation: str, operands: Sequence[Operand], attributes: dict[str, Any]
) -> Iterator[Variant]:
    """One node of the table, at every dtype of its first operand."""
    for dtype in allowed_dtypes(operation, 0):
        given: list[Array | None] = []
        for place, operand in enumerate(operands):
            if isinstance(operand, tuple) and dtype in allowed_dtypes(operation, place):
                given.append(ordinary(operand, dtype))
            elif isinstance(operand, list):
                flags = bool(operand) and isinstance(operand[0], bool)
                given.append(np.array(operand, np.bool_ if flags else np.int64))
            else:
                given.append(None)
        shapes = ",".join("_" if value is None else str(value.shape) for value in given)
        yield _node(operation, given, attributes, f"{dtype},{shapes}")


def _binary(operation: str, attributes: dict[str, Any]) -> Iterator[Variant]:
    for dtype in allowed_dtypes(operation, 0):
        if dtype not in allowed_dtypes(operation, 1):
            continue
        for a, b in PAIRS:
            if operation == "PRelu" and len(b) > len(a):
                continue
            if operation == "PRelu" and np.broadcast_shapes(a, b) != a:
                continue
            operands = [ordinary(a, dtype), ordinary(b, dtype)]
            yield _node(operation, operands, attributes, f"{dtype},{a},{b}")
        first = special(dtype)
        if dtype_of(dtype).kind in "iu" or dtype in ("int4", "uint4", "int2", "uint2"):
            if operation in ("Pow", "BitShift", "Mean"):
                continue
            second = np.ones_like(first) if operation in SMALL_DIVISORS else first[::-1].copy()
            yield _node(operation, [first, second], attributes, f"{dtype}{SPECIAL}")
        elif operation not in ("Pow", "Mod"):
            table = np.repeat(first, len(first)), np.tile(first, len(first))
            yield _node(operation, list(table), attributes, f"{dtype}{SPECIAL}")


def _reduced(operation: str) -> Iterator[Variant]:
    for dtype in allowed_dtypes(operation, 0):
        for shape in ((), (1,), (2, 3), (2, 1, 3, 1, 2, 2)):
            yield _node(operation, [ordinary(shape, dtype)], {"keepdims": 0}, f"{dtype},{shape}")
        for shape, axis in (((0, 3), 0), ((0, 3), 1), ((2, 3), -1)):
            operands = [ordinary(shape, dtype), np.array([axis])]
            yield _node(operation, operands, {}, f"{dtype},{shape},{axis}")


def ordinary(shape: Shape, dtype: str) -> Array:
    """Small positive numbers, of which no dtype but bool has two alike next to each other."""
    count = int(np.prod(shape, dtype=int))
    kind = dtype_of(dtype)
    if dtype == "string":
        texts = [("a", "", "é", "longer")[place % 4] for place in range(count)]
        return np.array(texts, dtype=object).reshape(shape)
    numbers: Any = np.arange(count) % 3 + 1
    if kind.kind == "b":
        return (numbers > 1).reshape(shape)
    if dtype in ("int2", "uint2"):
        numbers = np.ones(count)
    whole = kind.kind in "iu" or dtype in ("int4", "uint4", "int2", "uint2")
    return np.asarray((numbers if whole else numbers / 4.0).astype(kind).reshape(shape))


def special(dtype: str) -> Array:
    """Every value of the dtype that arithmetic treats specially, and a few that it does not."""
    kind = dtype_of(dtype)
    if dtype == "string":
        return np.array(["", "a", "é", "\U0001f600", "two words"], dtype=object)
    if kind.kind == "b":
        return np.array([True, False])
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        numbers = [limits.min, limits.max, 0, 1, *([-1, limits.min + 1] if limits.min else [])]
        return np.array(numbers, kind)
    if dtype in ("int4", "uint4", "int2", "uint2"):
        return ordinary((3,), dtype)
    if kind.kind == "c":
        return np.array([0, 1, 1j, -1 - 1j], kind)
    edges: Any = ml_dtypes.finfo  # it knows NumPy's own dtypes as well
    found = edges(kind)
    floats = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5]
    floats += [float(found.max), float(found.min), float(found.smallest_normal) / 4]
    with np.errstate(all="ignore"):
        return np.array(floats, np.float64).astype(kind)


def _node(
    operation: str, operands: Sequence[Array | None], attributes: dict[str, Any], label: str
) -> Variant:
    """A model of one node with all its outputs, of whatever dtypes ONNX infers."""
    names = ["" if value is None else f"x{place}" for place, value in enumerate(operands)]
    given = [value for value in operands if value is not None]
    inputs = [
        helper.make_tensor_value_info(name, _element(value), value.shape)
        for name, value in zip(filter(None, names), given, strict=True)
    ]
    results = [f"y{place}" for place in range(RESULTS.get(operation, 1))]
    node = helper.make_node(operation, names, results, **attributes)
    made = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph([node], operation, inputs, made)
    opset = helper.make_opsetid("", CANONICAL_OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=onnx.IR_VERSION)
    return Variant(f"extreme,{label}", shape_inference.infer_shapes(model), tuple(given))


def _element(value: Array) -> int:
    if value.dtype == object:
        return int(onnx.TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(value.dtype))
