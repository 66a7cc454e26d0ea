"""Lists too long to be sizes: ONNX's inference would make a dimension of each of their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import onnx
from onnx import TensorProto, numpy_helper

from rlx.errors import ProgramError
from rlx.program.structure import all_graphs, label

LONGEST = 100_000
"""Elements; a list of more is no list of sizes."""
LARGEST = 10_000_000
"""The largest size that computed lists are followed beside."""
FEW = 64
"""No tensor has more axes, so that longer lists are no steps."""
MOST_IN_32_BITS = 2**31 - 1
_LENGTHS = {"ConstantOfShape": 0, "Expand": 1, "Reshape": 1, "Tile": 1, "Range": 1, "Pad": 1}
"""Operations whose result is as long as a constant says, and which operand that is."""
_SIZES = {
    **{"ConstantOfShape": 0, "Expand": 1, "Reshape": 1, "Tile": 1, "Pad": 1, "Unsqueeze": 1},
    **{"Squeeze": 1, "Slice": 1, "Resize": 3, "Upsample": 1, "Split": 1, "CenterCropPad": 1},
}
"""Operations that make a dimension of each number of an operand, and which operand that is."""
_SAME = frozenset(
    {"Abs", "Add", "Cast", "Clip", "Concat", "Div", "Identity", "Mul", "Neg", "Sub", "Where"}
)
"""Operations whose result is as long as the longest that they read."""


def has_long_list(graph: onnx.GraphProto) -> bool:
    """Whether a list may be so long that following its numbers would take minutes.

    It is where a constant makes one, or where an input has a size that computed lists may take.

    Raises:
        ProgramError: such a list is used as sizes; the message names the node.
    """
    long: set[str] = set()
    grown = False
    for inner in all_graphs(graph):
        numbers = dict(_numbers(inner))
        for value in (*inner.input, *inner.output, *inner.value_info):
            dims = value.type.tensor_type.shape.dim
            if len(dims) == 1 and dims[0].dim_value > LONGEST:
                long.add(value.name)
            grown = grown or any(size.dim_value > LARGEST for size in dims)
        for index, node in enumerate(inner.node):
            at = _SIZES.get(node.op_type, -1)
            if 0 <= at < len(node.input) and node.input[at] in long:
                raise ProgramError(
                    f"{label(node, index)} takes its sizes from '{node.input[at]}', a list of "
                    f"over {LONGEST} numbers",
                    fix="no tensor has so many dimensions: correct the exporter.",
                )
            at = _LENGTHS.get(node.op_type, -1)
            grows = 0 <= at < len(node.input) and numbers.get(node.input[at], 0) > LONGEST
            if grows or (node.op_type in _SAME and not long.isdisjoint(node.input)):
                long.update(node.output)
            grown = grown or grows
    return grown


def has_long_step(graph: onnx.GraphProto) -> bool:
    """Whether a Slice has a constant step that ONNX's inference, following numbers, can't take.

    It counts in 32 bits there: a longer step ends the process, or fills the memory.
    """
    graphs = list(all_graphs(graph))
    steps = {
        node.input[4]
        for inner in graphs
        for node in inner.node
        if node.op_type == "Slice" and len(node.input) > 4
    }
    return any(
        name in steps and any(abs(step) > MOST_IN_32_BITS for step in values)
        for inner in graphs
        for name, values in _lists(inner)
    )


def _numbers(graph: onnx.GraphProto) -> Iterator[tuple[str, int]]:
    """Constants of one integer."""
    return ((name, values[0]) for name, values in _lists(graph) if len(values) == 1)


def _lists(graph: onnx.GraphProto) -> Iterator[tuple[str, list[int]]]:
    """Constants of few integers."""
    tensors = [(one.name, one) for one in graph.initializer]
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            for attribute in node.attribute:
                if attribute.name == "value_int":
                    yield node.output[0], [attribute.i]
                elif attribute.name == "value_ints" and len(attribute.ints) <= FEW:
                    yield node.output[0], list(attribute.ints)
                elif attribute.name == "value":
                    tensors.append((node.output[0], attribute.t))
    for name, tensor in tensors:
        whole = tensor.data_type in (TensorProto.INT32, TensorProto.INT64)
        if whole and len(tensor.dims) <= 1 and prod(tensor.dims) <= FEW:
            yield name, [int(one) for one in numpy_helper.to_array(tensor).reshape(-1)]
