"""OpenVINO computes wide integers in 32 bits: what could show it is refused, so that none is wrong.

Its plugins turn int64, uint64 and uint32 into int32. A program may hold such values and move them
about, for they are checked where they come in; operations that could make larger ones are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import ExecutionError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.program import Program
    from rlx.program.types import Block, Node, Value

WIDE = frozenset({"int64", "uint64", "uint32"})
FIT = frozenset({"bool", "int8", "int16", "int32", "uint8", "uint16"}) | WIDE
"""What can be cast to a wide integer and fit in 32 bits: floating-point numbers may not."""
KEEP = frozenset(
    {"ArgMax", "ArgMin", "CenterCropPad", "Clip", "Compress", "Concat", "Constant"}
    | {"ConstantOfShape", "DepthToSpace", "Dropout", "Expand", "EyeLike", "Flatten", "Gather"}
    | {"GatherElements", "GatherND", "Identity", "If", "Loop", "Max", "MaxPool", "Min"}
    | {"NonMaxSuppression", "NonZero", "OneHot", "Pad", "ReduceMax", "ReduceMin", "Reshape"}
    | {"ReverseSequence", "Scan", "Shape", "Sign", "Size", "Slice", "SpaceToDepth", "Split"}
    | {"Squeeze", "Tile", "TopK", "Transpose", "Trilu", "Unique", "Unsqueeze", "Where"}
)
"""Operations whose integers are those given, or places and sizes: they fit where those do."""
UNREDUCED = frozenset({"ScatterElements", "ScatterND"})
"""These keep them too, while they do not add up."""
SLICE = frozenset({"Slice"})
"""Takes larger numbers: beyond the end of an axis all ends are alike."""
BOUNDS = {"Slice": (1, 2, 4), "Shape": (0,), "Size": (0,)}
"""By operation, the operands whose largest numbers are all alike: starts, ends and steps of slices,
and what is only measured."""
LARGEST = 2**31 - 1
IN_FLOATS = frozenset(
    {"Clip", "Einsum", "Gemm", "MatMul", "Mod", "Pow", "PRelu", "Range", "ReduceL1", "ReduceL2"}
    | {"ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}
    | {"Resize"}
)
"""Operations whose kernels compute 32-bit integers in float32, which holds no more than 24 bits;
a range of step 0 even ends the process."""


def check_integers(program: Program, id: str) -> None:
    """Refuse nodes that may lose integers: in floats, or of more than 32 bits; constants too.

    Raises:
        ExecutionError: there is one; it is named.
    """
    for node, block in _nodes(program.body):
        types = dict(block.types)
        given = types.get(node.inputs[0]) if node.inputs else None
        if node.operation in IN_FLOATS and given is not None and given.dtype in WIDE | {"int32"}:
            raise ExecutionError(
                f"{id} computes {node.operation} of {given.dtype} in float32, "
                f"which is node {printable(node.name)}",
                fix="choose another backend: run `rlx explain --all`.",
            )
        wide = [name for name in node.outputs if name in types and types[name].dtype in WIDE]
        if wide and not _keeps(node, types):
            raise ExecutionError(
                f"{id} computes {types[wide[0]].dtype} in 32 bits, "
                f"which node {printable(node.name)} ({node.operation}) may exceed",
                fix="choose another backend: run `rlx explain --all`.",
            )
        for name, value in node.attributes:
            if isinstance(value, np.ndarray) and not fits(value):
                large = node.outputs[0] if node.operation == "Constant" else ""
                _check_constant(program, id, large, f"{node.name}'s {name}")
    for name, array in _constants(program.body):
        if not fits(array):
            _check_constant(program, id, name, name)


def bounds(program: Program) -> frozenset[str]:
    """The inputs whose largest numbers are all alike, wherever they are read."""
    reads = [
        (name, place in BOUNDS.get(node.operation, ()))
        for node, _ in _nodes(program.body)
        for place, name in enumerate(node.inputs)
    ]
    others = {name for name, bound in reads if not bound} | {one.name for one in program.outputs}
    return frozenset({name for name, bound in reads if bound} - others)


def bounded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The numbers as 32 bits hold them: no axis is as long as the largest."""
    return array.clip(0 if array.dtype.kind == "u" else -LARGEST, LARGEST)


def fits(array: np.ndarray[Any, Any]) -> bool:
    """Whether every integer of an array is one of 32 bits."""
    if array.dtype.name not in WIDE:
        return True
    return bool((array.astype(np.int32) == array).all())


def check_fit(array: np.ndarray[Any, Any], value: Value, id: str) -> None:
    """Refuse an input with an integer of more than 32 bits.

    Raises:
        ExecutionError: it has one.
    """
    if not fits(array):
        raise ExecutionError(
            f"{id} computes {value.type.dtype} in 32 bits, "
            f"and {printable(value.name)} holds larger numbers",
            fix="choose another backend for this input.",
        )


def _keeps(node: Node, types: dict[str, Any]) -> bool:
    """Whether its wide integers fit in 32 bits where its inputs do."""
    if node.operation in ("Cast", "CastLike"):
        given = types.get(node.inputs[0])
        return given is not None and given.dtype in FIT
    if node.operation in UNREDUCED:
        return bool(node.attribute("reduction", "none") == "none")
    return node.operation in KEEP


def _check_constant(program: Program, id: str, name: str, shown: str) -> None:
    """A large constant may only be an end or start of slices."""
    readers = {node.operation for node, _ in _nodes(program.body) if name in node.inputs}
    if not name or not readers <= SLICE:
        raise ExecutionError(
            f"{id} computes wide integers in 32 bits, and {printable(shown)} is larger",
            fix="choose another backend: run `rlx explain --all`.",
        )


def _nodes(block: Block) -> Iterator[tuple[Node, Block]]:
    for node in block.nodes:
        yield node, block
        for inner in node.blocks():
            yield from _nodes(inner)


def _constants(block: Block) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    yield from block.constants
    for node in block.nodes:
        for inner in node.blocks():
            yield from _constants(inner)
