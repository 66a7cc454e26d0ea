"""dtypes that NumPy lacks beside texts and sequences: given back as float32, which holds them all.

onnxruntime exchanges such dtypes as values of its own, and texts and sequences not as such: a
program that has both gives its outputs as float32, and what holds them is narrowed again, exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

    from rlx.program import Program, ValueType

FOREIGN = frozenset(
    {"bfloat16", "float4e2m1", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"}
    | {"float8e8m0", "int2", "int4", "uint2", "uint4"}
)
"""dtypes that the engine computes with, but can't exchange as NumPy arrays: bfloat16 is refused,
and float8e4m3fn comes back as uint8."""


def is_foreign(kind: ValueType) -> bool:
    """Whether the value's elements are of such a dtype, in sequences and optionals too."""
    return element(kind.dtype) in FOREIGN


def element(dtype: str) -> str:
    """The dtype of the tensors inside `seq(…)` and `optional(…)`."""
    return dtype.rsplit("(", 1)[-1].rstrip(")")


def widen(model: onnx.ModelProto, program: Program) -> dict[str, str]:
    """By output, the name under which the model now gives it as float32; mostly none.

    Raises:
        ExecutionError: a sequence or an optional is of a dtype that NumPy lacks.
    """
    given, made = ([value.type for value in side] for side in (program.inputs, program.outputs))
    _refuse(given, "take", "from NumPy")
    _refuse(made, "give back", "as NumPy")
    beside = any(kind.kind != "tensor" for kind in (*given, *made))
    if not any(map(is_foreign, made)) or not (beside or any(k.dtype == "string" for k in given)):
        return {}
    from onnx import TensorProto, helper

    widened = {}
    for value in model.graph.output:
        kind = value.type.tensor_type
        if value.name in widened or not _named(value.name, program):
            continue
        name = f"{value.name}@float32"
        model.graph.node.append(
            helper.make_node("Cast", [value.name], [name], name, to=TensorProto.FLOAT)
        )
        widened[value.name] = name
        value.name, kind.elem_type = name, TensorProto.FLOAT
    return widened


def _named(name: str, program: Program) -> bool:
    return any(value.name == name and is_foreign(value.type) for value in program.outputs)


def _refuse(kinds: Sequence[ValueType], does: str, how: str) -> None:
    for kind in kinds:
        if kind.kind != "tensor" and is_foreign(kind):
            raise ExecutionError(
                f"onnxruntime can't {does} {kind.dtype} {how}",
                fix="choose another backend for this program.",
            )
