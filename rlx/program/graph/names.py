"""The names that a graph's methods take: dtypes, kinds of operations, norms, masks."""

from __future__ import annotations

from rlx.device import shown
from rlx.errors import GraphError
from rlx.spelling import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    Found = TypeVar("Found")

DTYPES = {
    "f32": 1,
    "f16": 10,
    "bf16": 16,
    "f64": 11,
    "i8": 3,
    "u8": 2,
    "i16": 5,
    "i32": 6,
    "u32": 12,
    "i64": 7,
    "bool": 9,
}
"""A graph's dtype names, each with its number in ONNX's `TensorProto.DataType`."""
FLOATS = ("f32", "f16", "bf16", "f64")
SHORT = {number: name for name, number in DTYPES.items()}
"""By ONNX's number, what a graph calls the dtype."""
ONNX_TEXTS = {
    "tensor(float)": "f32",
    "tensor(float16)": "f16",
    "tensor(bfloat16)": "bf16",
    "tensor(double)": "f64",
    "tensor(int8)": "i8",
    "tensor(uint8)": "u8",
    "tensor(int16)": "i16",
    "tensor(int32)": "i32",
    "tensor(uint32)": "u32",
    "tensor(int64)": "i64",
    "tensor(bool)": "bool",
}
"""By the text of a type in ONNX's schemas, what a graph calls the dtype."""

BINARY = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "div": "Div",
    "max": "Max",
    "min": "Min",
    "pow": "Pow",
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
}
COMPARISONS = {
    "eq": "Equal",
    "ne": "NotEqual",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
    "==": "Equal",
    "!=": "NotEqual",
    "<": "Less",
    "<=": "LessOrEqual",
    ">": "Greater",
    ">=": "GreaterOrEqual",
}
"""`NotEqual` is no operation of ONNX's: it is made as Not of Equal."""
ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "gelu": ("Gelu",),
    "gelu_approx": ("Gelu",),
    "silu": ("Sigmoid", "Mul"),
    "relu": ("Relu",),
    "sigmoid": ("Sigmoid",),
    "tanh": ("Tanh",),
    "exp": ("Exp",),
    "log": ("Log",),
    "sqrt": ("Sqrt",),
    "rsqrt": ("Sqrt", "Reciprocal"),
    "neg": ("Neg",),
    "abs": ("Abs",),
    "sin": ("Sin",),
    "cos": ("Cos",),
    "tan": ("Tan",),
    "atan": ("Atan",),
    "round": ("Round",),
}
REDUCTIONS = {
    "sum": "ReduceSum",
    "mean": "ReduceMean",
    "max": "ReduceMax",
    "min": "ReduceMin",
    "prod": "ReduceProd",
}
NORMS = {
    "backward": "backward",
    "none": "backward",
    "forward": "forward",
    "ortho": "ortho",
    "orthonormal": "ortho",
}


def look_up(method: str, argument: str, name: object, known: Mapping[str, Found]) -> Found:
    """The entry of a name; blanks around it are trimmed and its case does not matter.

    Raises:
        GraphError: the name is not known; the message has the nearest one.
    """
    text = name.strip().lower() if isinstance(name, str) else ""
    if text in known:
        return known[text]
    near = nearest(text, [one for one in known if one.isidentifier()]) if text else None
    hint = f", did you mean {near!r}?" if near else ""
    raise GraphError(
        f"{method}: there is no {argument} {shown(name)}{hint}",
        fix=f"pass one of {', '.join(known)}.",
    )


def dtype_number(method: str, name: object, argument: str = "dtype") -> int:
    """The ONNX number of a dtype name.

    Raises:
        GraphError: it is none of `DTYPES`.
    """
    if isinstance(name, str) and name in DTYPES:
        return DTYPES[name]
    return look_up(method, argument, name, DTYPES)
