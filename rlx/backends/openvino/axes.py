"""Nodes of OpenVINO's whose axes, repeats or bounds are no constants, put so that they are right.

Axes to add and repeats have no kernel then, or a wrong one; of axes that are reduced and dropped it
is not known how many stay; a range whose step leads away from its end counts on to it from the
other side; and gathering from nothing ends the process.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np


def kind(output: Any) -> str:
    """OpenVINO's short name of an output's dtype, such as `f32`."""
    return str(output.get_element_type().get_type_name())


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


def ranged(ops: Any, node: Any, given: list[Any]) -> Any:
    """A step that leads away from the end leads nowhere: the end is then the start."""
    start, stop, step = given
    attributes = node.get_attributes()
    if "output_type" not in attributes or len(set(map(kind, given))) > 1:
        return None  # OpenVINO's own, of a shape
    up = ops.greater(step, constant(ops, 0, step))
    end = ops.select(up, ops.maximum(start, stop), ops.minimum(start, stop))
    return ops.range(start, end, step, attributes["output_type"])


def unsqueezed(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
    """Axes that are no constants have no kernel: the sizes are put together, and it reshapes."""
    data, axes = given
    sizes = data.get_partial_shape(), axes.get_partial_shape()
    if not varies(axes.get_node()) or not (sizes[0].rank.is_static and sizes[1].is_static):
        return None
    added = int(np.prod(sizes[1].to_shape()))
    total = sizes[0].rank.get_length() + added
    if added in (0, total):
        return ops.reshape(data, whole(ops, [1] * total), False) if added else None
    new = _marked(ops, axes, added, total)
    passed = ops.cum_sum(ops.subtract(whole(ops, 1), new), whole(ops, 0))
    at = ops.maximum(ops.subtract(passed, whole(ops, 1)), whole(ops, 0))
    old = ops.gather(ops.shape_of(data, "i32"), at, whole(ops, 0))
    shape = ops.select(ops.equal(new, whole(ops, 1)), whole(ops, 1), old)
    return ops.reshape(data, shape, False)


def reduced(ops: Any, node: Any, given: list[Any]) -> Any:
    """Where several axes go of which it is not known which: they are kept, and then dropped."""
    data, axes = given
    sizes = data.get_partial_shape(), axes.get_partial_shape()
    known = sizes[0].rank.is_static and sizes[1].is_static
    if node.get_attributes()["keep_dims"] or not known or not varies(axes.get_node()):
        return None
    total, gone = sizes[0].rank.get_length(), int(np.prod(sizes[1].to_shape()))
    if gone in (0, total):
        return None
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z])", "_", node.get_type_name()).lower()
    kept = getattr(ops, name)(data, axes, True)
    marks = ops.multiply(_marked(ops, axes, gone, total), whole(ops, total))
    order = ops.add(whole(ops, range(total)), marks)
    stay = ops.topk(order, whole(ops, total - gone), 0, "min", "value").output(0)
    return ops.reshape(kept, ops.gather(ops.shape_of(kept, "i32"), stay, whole(ops, 0)), False)


def counted(ops: Any, data: Any, axes: Any) -> Any:
    """How many numbers each one is of that a reduction makes."""
    sizes = ops.gather(ops.shape_of(data, "i32"), axes, whole(ops, 0))
    return ops.reduce_prod(sizes, whole(ops, [0]))


def _marked(ops: Any, axes: Any, count: int, total: int) -> Any:
    """1 where one of so many axes is, and 0 elsewhere."""
    places = ops.floor_mod(ops.convert(axes, "i32"), whole(ops, total))
    same = ops.equal(ops.reshape(places, whole(ops, [count, 1]), False), whole(ops, range(total)))
    return ops.reduce_max(ops.convert(same, "i32"), whole(ops, [0]))


def tiled(ops: Any, node: Any, given: list[Any]) -> Any:  # noqa: ARG001 - as all of them
    """Repeats that are no constants go wrong beyond three axes: each axis is gathered."""
    data, repeats = given
    rank = data.get_partial_shape().rank
    if not varies(repeats.get_node()) or not rank.is_static:
        return None
    zero, one = whole(ops, 0), whole(ops, 1)
    sizes, times = ops.shape_of(data, "i32"), ops.convert(repeats, "i32")
    tiled = data
    for axis in range(rank.get_length()):
        place = whole(ops, axis)
        size = ops.gather(sizes, place, zero)
        end = ops.multiply(size, ops.gather(times, place, zero))
        at = ops.floor_mod(ops.range(zero, end, one, "i32"), size)
        tiled = ops.gather(tiled, at, place)
    return None if tiled is data else tiled


def gathered(ops: Any, node: Any, given: list[Any]) -> Any:
    """Where there is nothing to gather, the kernel divides by 0, which ends the process."""
    size = node.output(0).get_partial_shape()
    if not size.is_static or 0 not in size.to_shape():
        return None
    shape = ops.constant(np.array(size.to_shape(), np.int64))
    return ops.broadcast(constant(ops, 0, given[0]), shape)


def whole(ops: Any, value: Any) -> Any:
    """A constant of 32-bit integers."""
    return ops.constant(np.array(value, np.int32))


def constant(ops: Any, value: float, like: Any) -> Any:
    """A number in the dtype of an output."""
    return ops.constant(value, like.get_element_type())
