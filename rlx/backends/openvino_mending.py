"""Nodes of OpenVINO's that its CPU kernels compute wrongly, put as others that come out right.

Its kernels lose NaN where they compare, clamp and exponentiate; they compare integers as float32;
a padding value that is no constant is taken for 0; a range whose step leads away from its end
counts on to it from the other side; and axes and repeats that are no constants have no kernel, or
a wrong one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FLOATS = frozenset({"f16", "bf16", "f32"})
EXACT = frozenset({"i32", "i64", "u32", "u64"})
"""Integers that float32 does not hold."""


def mend(engine: Any, model: Any) -> None:
    """Put other nodes in place of those that are computed wrongly, for the dtypes where they are.

    What a node is made into may hold the node itself: its readers get the new one's output.
    """
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


def varies(node: Any) -> bool:
    """Whether a value depends on the data of inputs, and not on their sizes alone."""
    seen, left = set(), [node]
    while left:
        one = left.pop()
        kind = one.get_type_name()
        if kind == "Parameter":
            return True
        if kind != "ShapeOf" and one.get_name() not in seen:
            seen.add(one.get_name())
            left += [value.get_node() for value in one.input_values()]
    return False


def _kind(output: Any) -> str:
    return str(output.get_element_type().get_type_name())


def _unless_nan(ops: Any, node: Any, given: list[Any]) -> Any:
    """NaN stays NaN."""
    if _kind(given[0]) not in FLOATS:
        return None
    return ops.select(ops.is_nan(given[0]), given[0], node)


def _extreme(name: str) -> Callable[[Any, Any, list[Any]], Any]:
    """NaN stays NaN, in the first operand; in the second it does by itself.

    A constant is the second: a maximum and a minimum with constants are fused, and clamp.
    """

    def extreme(ops: Any, node: Any, given: list[Any]) -> Any:
        a, b = given
        if a.get_node().get_type_name() == "Constant":
            a, b = b, a
            node = getattr(ops, name)(a, b)
        return _unless_nan(ops, node, [a])

    return extreme


def _rectified(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
    """The kernel of a maximum gives its second operand where one is NaN, and takes integers."""
    return ops.maximum(_constant(ops, 0, given[0]), given[0])


def _whole_rows(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
    """A row with NaN or an infinity is NaN there: then all of it is."""
    total = ops.reduce_sum(node, ops.constant(np.array([node.get_attributes()["axis"]])), True)
    return ops.select(ops.is_nan(total), total, node)


def _any_nan(ops: Any, node: Any, given: list[Any]) -> Any:
    """The largest and smallest of numbers of which one is NaN are NaN."""
    if _kind(given[0]) not in FLOATS:
        return None
    one, zero, nan = (_constant(ops, value, given[0]) for value in (1, 0, float("nan")))
    found = ops.select(ops.is_nan(given[0]), one, zero)
    most = ops.reduce_max(found, given[1], node.get_attributes()["keep_dims"])
    return ops.select(ops.equal(most, one), nan, node)


def _infinite(ops: Any, node: Any, given: list[Any]) -> Any:
    """Infinity times a half of one and the error function's one is infinity."""
    endless = ops.is_inf(given[0], {"detect_negative": False, "detect_positive": True})
    return ops.select(endless, given[0], node)


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
        if _kind(a) not in EXACT:
            return None
        larger = ops.maximum(a, b)
        return _alike(ops, larger, b) if name == "less_equal" else _unlike(ops, larger, a)

    return ordered


def _alike(ops: Any, a: Any, b: Any) -> Any:
    """Whether integers are equal: their bits differ in none, and float32 tells 0 from the rest."""
    different = ops.bitwise_xor(a, b)
    return ops.equal(different, _constant(ops, 0, different.output(0)))


def _unlike(ops: Any, a: Any, b: Any) -> Any:
    return ops.logical_not(_alike(ops, a, b))


def _equal(ops: Any, node: Any, given: list[Any]) -> Any:
    if _kind(given[0]) not in EXACT:
        return None
    made = _alike if node.get_type_name() == "Equal" else _unlike
    return made(ops, *given)


def _padded(ops: Any, node: Any, given: list[Any]) -> Any:
    """The value that is no constant is taken where a mask is padded."""
    mode = node.get_attributes()["pad_mode"]
    if mode != "constant" or len(given) < 4 or given[3].get_node().get_type_name() == "Constant":
        return None
    one = ops.constant(np.array(1, np.int32))
    inside = ops.broadcast(one, ops.shape_of(given[0]))
    mask = ops.pad(inside, given[1], given[2], mode, _constant(ops, 0, one.output(0)))
    padded = ops.pad(given[0], given[1], given[2], mode, _constant(ops, 0, given[0]))
    return ops.select(ops.convert(mask, "boolean"), padded, given[3])


def _ranged(ops: Any, node: Any, given: list[Any]) -> Any:
    """A step that leads away from the end leads nowhere: the end is then the start."""
    start, stop, step = given
    attributes = node.get_attributes()
    if "output_type" not in attributes or len(set(map(_kind, given))) > 1:
        return None  # OpenVINO's own, of a shape
    up = ops.greater(step, _constant(ops, 0, step))
    end = ops.select(up, ops.maximum(start, stop), ops.minimum(start, stop))
    return ops.range(start, end, step, attributes["output_type"])


def _unsqueezed(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
    """Axes that are no constants have no kernel: the sizes are put together, and it reshapes."""
    data, axes = given
    sizes = data.get_partial_shape(), axes.get_partial_shape()
    if not varies(axes.get_node()) or not (sizes[0].rank.is_static and sizes[1].is_static):
        return None
    added = int(np.prod(sizes[1].to_shape()))
    total = sizes[0].rank.get_length() + added
    if added in (0, total):
        return ops.reshape(data, _whole(ops, [1] * total), False) if added else None
    places = ops.floor_mod(ops.convert(axes, "i32"), _whole(ops, total))
    same = ops.equal(ops.reshape(places, _whole(ops, [added, 1]), False), _whole(ops, range(total)))
    new = ops.reduce_max(ops.convert(same, "i32"), _whole(ops, [0]))
    passed = ops.cum_sum(ops.subtract(_whole(ops, 1), new), _whole(ops, 0))
    at = ops.maximum(ops.subtract(passed, _whole(ops, 1)), _whole(ops, 0))
    old = ops.gather(ops.shape_of(data, "i32"), at, _whole(ops, 0))
    shape = ops.select(ops.equal(new, _whole(ops, 1)), _whole(ops, 1), old)
    return ops.reshape(data, shape, False)


def _tiled(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
    """Repeats that are no constants go wrong beyond three axes: each axis is gathered."""
    data, repeats = given
    rank = data.get_partial_shape().rank
    if not varies(repeats.get_node()) or not rank.is_static:
        return None
    zero, one = _whole(ops, 0), _whole(ops, 1)
    sizes, times = ops.shape_of(data, "i32"), ops.convert(repeats, "i32")
    tiled = data
    for axis in range(rank.get_length()):
        place = _whole(ops, axis)
        size = ops.gather(sizes, place, zero)
        end = ops.multiply(size, ops.gather(times, place, zero))
        at = ops.floor_mod(ops.range(zero, end, one, "i32"), size)
        tiled = ops.gather(tiled, at, place)
    return None if tiled is data else tiled


def _gathered(ops: Any, node: Any, given: list[Any]) -> Any:
    """Where there is nothing to gather from, the kernel divides by 0, which ends the process."""
    sizes = given[0].get_partial_shape(), node.output(0).get_partial_shape()
    if not all(size.is_static for size in sizes) or 0 not in sizes[0].to_shape():
        return None
    shape = ops.constant(np.array(sizes[1].to_shape(), np.int64))
    return ops.broadcast(_constant(ops, 0, given[0]), shape)


def _whole(ops: Any, value: Any) -> Any:
    return ops.constant(np.array(value, np.int32))


def _constant(ops: Any, value: float, like: Any) -> Any:
    return ops.constant(value, like.get_element_type())


MENDED: dict[str, Callable[[Any, Any, list[Any]], Any]] = {
    "Clamp": _unless_nan,
    "Equal": _equal,
    "Exp": _unless_nan,
    "Gather": _gathered,
    "Gelu": _infinite,
    "Greater": _swapped("less"),
    "GreaterEqual": _swapped("less_equal"),
    "HardSigmoid": _unless_nan,
    "Less": _ordered("less"),
    "LessEqual": _ordered("less_equal"),
    "LogSoftmax": _whole_rows,
    "Maximum": _extreme("maximum"),
    "Minimum": _extreme("minimum"),
    "NotEqual": _equal,
    "Pad": _padded,
    "Range": _ranged,
    "ReduceMax": _any_nan,
    "ReduceMin": _any_nan,
    "Relu": _rectified,
    "Softmax": _whole_rows,
    "Tile": _tiled,
    "Unsqueeze": _unsqueezed,
}
"""By OpenVINO's name of the type: what is put in its place, or None where it is right."""
