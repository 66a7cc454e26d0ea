"""Nodes of OpenVINO's that its CPU kernels compute wrongly, put as others that come out right.

Its kernels lose NaN where they compare, clamp and exponentiate; they compare integers as float32,
and hold those of 8 bits at their bounds; and a padding value that is no constant is taken for 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.openvino.axes import (
    constant,
    counted,
    gathered,
    kind,
    ranged,
    reduced,
    tiled,
    unsqueezed,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable

INFINITY = float("inf")
FLOATS = frozenset({"f16", "bf16", "f32"})
NARROW = frozenset({"i8", "u8"})
EXACT = frozenset({"i32", "i64", "u32", "u64"})
"""Integers that float32 does not hold."""


def mend(engine: Any, model: Any) -> None:
    """Put other nodes in place of those that are computed wrongly, for the dtypes where they are.

    What a node is made into may hold the node itself: its readers get the new one's output.
    """
    from openvino.passes import ConstantFolding, Manager

    manager = Manager()
    manager.register_pass(ConstantFolding())  # it is done anyway, and shows what is empty
    manager.run_passes(model)
    ops = engine.opset15
    found = [(node, MENDED.get(node.get_type_name())) for node in model.get_ordered_ops()]
    for node, mended in found:
        if mended is None:
            continue
        output = node.output(0)
        readers = list(output.get_target_inputs())
        made = mended(ops, node, node.input_values())
        if made is not None:
            made.set_friendly_name(node.get_friendly_name())
            for reader in readers:
                reader.replace_source_output(made.output(0))


def _unless_nan(ops: Any, node: Any, given: list[Any]) -> Any:
    """NaN stays NaN."""
    if kind(given[0]) not in FLOATS:
        return None
    return ops.select(ops.is_nan(given[0]), given[0], node)


def _multiplied(readers: Any, origin: Any) -> bool:
    """Whether all that is read is bounded, and multiplied by what it was made from: NaN returns.

    OpenVINO makes one kernel of a hard swish, unless something is put between.
    """
    nodes = [reader.get_node() for reader in readers]
    return bool(nodes) and all(
        origin in map(_place, node.input_values())
        if node.get_type_name() == "Multiply"
        else node.get_type_name() in ("Maximum", "Minimum")
        and _multiplied(node.output(0).get_target_inputs(), origin)
        for node in nodes
    )


def _origin(output: Any) -> tuple[str, int]:
    """What a value was made from by adding and bounding."""
    node = output.get_node()
    if node.get_type_name() in ("Add", "Maximum", "Minimum"):
        varying = [one for one in node.input_values() if not _is_constant(one)]
        if len(varying) == 1:
            return _origin(varying[0])
    return _place(output)


def _place(output: Any) -> tuple[str, int]:
    return output.get_node().get_name(), output.get_index()


def _is_constant(output: Any) -> bool:
    return bool(output.get_node().get_type_name() == "Constant")


def _extreme(name: str) -> Callable[[Any, Any, list[Any]], Any]:
    """NaN stays NaN, in the first operand; in the second it does by itself.

    A constant is the second: a maximum and a minimum with constants are fused, and clamp.
    """

    def extreme(ops: Any, node: Any, given: list[Any]) -> Any:
        readers = node.output(0).get_target_inputs()
        a, b = given
        if _is_constant(a):
            a, b = b, a
            node = getattr(ops, name)(a, b)
        return None if _multiplied(readers, _origin(a)) else _unless_nan(ops, node, [a])

    return extreme


def _rectified(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
    """The kernel of a maximum gives its second operand where one is NaN, and takes integers."""
    return ops.maximum(constant(ops, 0, given[0]), given[0])


def _whole_rows(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
    """A row with NaN or an infinity is NaN there: then all of it is."""
    total = ops.reduce_sum(node, ops.constant(np.array([node.get_attributes()["axis"]])), True)
    return ops.select(ops.is_nan(total), total, node)


def _furthest(limit: float) -> Callable[[Any, Any, list[Any]], Any]:
    """The largest of numbers of which one is NaN is NaN, of none infinite; so is the smallest."""

    def furthest(ops: Any, node: Any, given: list[Any]) -> Any:
        data, axes = given
        made = reduced(ops, node, given)
        if kind(data) not in FLOATS:
            return made
        one, zero, nan, none = (constant(ops, v, data) for v in (1, 0, float("nan"), limit))
        marked = ops.reduce_max(
            ops.select(ops.is_nan(data), one, zero), axes, node.get_attributes()["keep_dims"]
        )
        dropped = reduced(ops, marked, marked.input_values())
        marked = marked if dropped is None else dropped
        found = ops.select(ops.equal(marked, one), nan, node if made is None else made)
        return ops.select(ops.equal(counted(ops, data, axes), whole(ops, 0)), none, found)

    return furthest


def _infinite(ops: Any, node: Any, given: list[Any]) -> Any:
    """Infinity times a half of one and the error function's one is infinity."""
    endless = ops.is_inf(given[0], {"detect_negative": False, "detect_positive": True})
    return ops.select(endless, given[0], node)


def _wrapped(name: str) -> Callable[[Any, Any, list[Any]], Any]:
    """Integers of 8 bits wrap around; the kernels take the nearest that there is."""

    def wrapped(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
        if kind(given[0]) not in NARROW:
            return None
        made = getattr(ops, name)(*(ops.convert(one, "i32") for one in given))
        shift = whole(ops, 128 if kind(given[0]) == "i8" else 0)
        low = ops.bitwise_and(ops.add(made, shift), whole(ops, 255))
        return ops.convert(ops.subtract(low, shift), kind(given[0]))

    return wrapped


def _swapped(name: str) -> Callable[[Any, Any, list[Any]], Any]:
    """`a > b` as `b < a`: of NaN, only the latter is false."""

    def swapped(ops: Any, node: Any, given: list[Any]) -> Any:
        a, b = given
        made = _ordered(name)(ops, node, [b, a])
        return getattr(ops, name)(b, a) if made is None else made

    return swapped


def _ordered(name: str) -> Callable[[Any, Any, list[Any]], Any]:
    """`a < b` and `a <= b` of integers, by whether the larger of them is a, or b."""

    def ordered(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
        a, b = given
        if kind(a) not in EXACT:
            return None
        larger = ops.maximum(a, b)
        return _alike(ops, larger, b) if name == "less_equal" else _unlike(ops, larger, a)

    return ordered


def _alike(ops: Any, a: Any, b: Any) -> Any:
    """Whether integers are equal: their bits differ in none, and float32 tells 0 from the rest."""
    different = ops.bitwise_xor(a, b)
    return ops.equal(different, constant(ops, 0, different.output(0)))


def _unlike(ops: Any, a: Any, b: Any) -> Any:
    return ops.logical_not(_alike(ops, a, b))


def _equal(ops: Any, node: Any, given: list[Any]) -> Any:
    if kind(given[0]) not in EXACT:
        return None
    made = _alike if node.get_type_name() == "Equal" else _unlike
    return made(ops, *given)


def _padded(ops: Any, node: Any, given: list[Any]) -> Any:
    """The value that is no constant is taken where a mask is padded."""
    mode = node.get_attributes()["pad_mode"]
    if mode != "constant" or len(given) < 4 or _is_constant(given[3]):
        return None
    one = ops.constant(np.array(1, np.int32))
    inside = ops.broadcast(one, ops.shape_of(given[0]))
    mask = ops.pad(inside, given[1], given[2], mode, constant(ops, 0, one.output(0)))
    padded = ops.pad(given[0], given[1], given[2], mode, constant(ops, 0, given[0]))
    return ops.select(ops.convert(mask, "boolean"), padded, given[3])


MENDED: dict[str, Callable[[Any, Any, list[Any]], Any]] = {
    "Abs": _wrapped("absolute"),
    "Add": _wrapped("add"),
    "Clamp": _unless_nan,
    "Equal": _equal,
    "Exp": _unless_nan,
    "Gather": gathered,
    "Gelu": _infinite,
    "Greater": _swapped("less"),
    "GreaterEqual": _swapped("less_equal"),
    "HardSigmoid": _unless_nan,
    "Less": _ordered("less"),
    "LessEqual": _ordered("less_equal"),
    "LogSoftmax": _whole_rows,
    "Maximum": _extreme("maximum"),
    "Minimum": _extreme("minimum"),
    "Multiply": _wrapped("multiply"),
    "Negative": _wrapped("negative"),
    "NotEqual": _equal,
    "Pad": _padded,
    "Range": ranged,
    "ReduceL1": reduced,
    "ReduceL2": reduced,
    "ReduceMax": _furthest(-INFINITY),
    "ReduceMean": reduced,
    "ReduceMin": _furthest(INFINITY),
    "ReduceProd": reduced,
    "ReduceSum": reduced,
    "Relu": _rectified,
    "Softmax": _whole_rows,
    "Subtract": _wrapped("subtract"),
    "Tile": tiled,
    "Unsqueeze": unsqueezed,
}
"""By OpenVINO's name of the type: what is put in its place, or None where it is right."""
