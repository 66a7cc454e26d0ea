"""Cases beside ONNX's suite, at corners where engines part from the definition.

The suite shows most attribute values on one easy input. What fails here is not claimed, although
the suite's own case passed. A corner is here only if two implementations that share no code, the
reference and the numpy backend, agree about it: a test holds them to that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from rlx.conformance.vary import Variant, type_variants
from rlx.program import CANONICAL_OPSET

TRANSFORMS = (
    *("align_corners", "asymmetric", "half_pixel", "half_pixel_symmetric"),
    "pytorch_half_pixel",
)
NEAREST = ("ceil", "floor", "round_prefer_ceil", "round_prefer_floor")
POOLS = ("AveragePool", "LpPool", "MaxPool")
POLICIES = ("not_larger", "not_smaller", "stretch")
SCALED = (((2, 5), (0.7, 0.5)), ((1, 5), (1.0, 0.3)), ((4, 3), (1.6, 2.3)), ((6, 7), (0.45, 0.9)))
"""Sizes of two axes, and by what they are scaled: down, to one element, up, and unevenly."""
EVERYWHERE = (np.float16, np.float64, np.int8, np.uint8)
"""The dtypes beside float32 that every corner is tried at; the others have some corners each."""
POOLED = (
    ((7,), (3,), (2,), (1,)),
    ((5, 6), (2, 3), (2, 2), (1, 1)),
    ((6,), (2,), (3,), (2,)),
    ((7, 8), (2, 3), (3, 2), (2, 2)),
    ((2,), (3,), (2,), (1,)),
)
"""Sizes, kernel, strides and dilations; the last kernel is larger than its axis."""


def corners(operation: str) -> Iterator[Variant]:
    """The corners of one operation, each at the dtypes of networks and one more in turn."""
    for place, variant in enumerate(plain_corners(operation)):
        yield variant
        if operation == "Unique":  # only floats have a NaN, and the reference merges not bfloat16's
            continue
        others = list(type_variants(variant.model, variant.inputs))
        for index, other in enumerate(others):
            if index == place % len(others) or other.inputs[0].dtype in EVERYWHERE:
                yield Variant(f"{variant.label},{other.label}", other.model, other.inputs)


def plain_corners(operation: str) -> Iterator[Variant]:
    """The corners of one operation at the dtypes that they are written in."""
    if operation == "Resize":
        yield from _resized()
    elif operation == "Unique":
        yield from _unique()
    elif operation in POOLS:
        yield from _pooled(operation)
    elif operation == "MeanVarianceNormalization":
        x = _counted((1, 2, 2, 3))
        x[:, 0] = 0.5
        yield _node(operation, ("x",), (x,), {}, "a channel that does not vary")
    elif operation == "AffineGrid":
        theta = _counted((1, 2, 3))
        for aligned in (0, 1):
            operands = (theta, np.array([1, 1, 3, 1]))
            attributes = {"align_corners": aligned}
            yield _node(operation, ("x", "size"), operands, attributes, f"one column,{aligned}")


def _resized() -> Iterator[Variant]:
    ways: list[dict[str, Any]] = [{"mode": "nearest", "nearest_mode": way} for way in NEAREST]
    for mode, antialias in itertools.product(("linear", "cubic"), (0, 1)):
        way = {"mode": mode, "antialias": antialias}
        ways += [way, {**way, "exclude_outside": 1}]
    ways += [{"mode": "cubic", "antialias": 0, "cubic_coeff_a": -0.5}]
    for transform, way in itertools.product(TRANSFORMS, ways):
        attributes = {"coordinate_transformation_mode": transform, **way}
        label = ",".join(map(str, attributes.values()))
        for sizes, scales in SCALED:
            x = _counted((1, 1, *sizes))
            factors = np.array([1, 1, *scales], np.float32)
            yield _scaled(x, factors, attributes, f"{label},{sizes}")
        for axes in ((2, 3), (3, 2)):
            yield _scaled(x, factors[list(axes)], {**attributes, "axes": axes}, f"{label},{axes}")
        for policy in POLICIES:
            changed = {**attributes, "keep_aspect_ratio_policy": policy}
            operands = (x, np.array([1, 1, 4, 3] if policy == "stretch" else [1, 1, 4, 5]))
            if policy != "stretch":
                changed["axes"], operands = (2, 3), (x, operands[1][2:])
            yield _node("Resize", ("x", "", "", "sizes"), operands, changed, f"{label},{policy}")


def _scaled(x: Any, factors: Any, attributes: dict[str, Any], label: str) -> Variant:
    return _node("Resize", ("x", "", "scales"), (x, factors), attributes, label)


def _pooled(operation: str) -> Iterator[Variant]:
    for (sizes, kernel, strides, dilations), ceil, pad in itertools.product(POOLED, (0, 1), (0, 1)):
        dilated = set(dilations) != {1}
        if ceil and (operation == "LpPool" or (operation == "AveragePool" and dilated)):
            continue  # the reference reads beyond the input here
        if pad and dilated:
            continue  # engines need not pad as far as a dilated kernel reaches
        attributes: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": strides,
            "dilations": dilations,
            "ceil_mode": ceil,
        }
        if pad:
            attributes["pads"] = (1,) * (2 * len(kernel))
        label = ",".join(f"{name}={value}" for name, value in attributes.items())
        x = _counted((1, 1, *sizes))
        yield _node(operation, ("x",), (x,), attributes, label)
        if operation == "AveragePool":
            counted = {**attributes, "count_include_pad": 1}
            yield _node(operation, ("x",), (x,), counted, f"{label},count_include_pad=1")


def _unique() -> Iterator[Variant]:
    results = ("values", "first")  # alone, the reference's values come sorted in any case
    for order, dtype in itertools.product((0, 1), (np.float16, np.float32, np.float64)):
        x = np.array([np.nan, 1, np.nan, 2, 1], dtype)
        label = f"nan,sorted={order},{x.dtype}"
        yield _node("Unique", ("x",), (x,), {"sorted": order}, label, results)


def _counted(shape: Sequence[int]) -> Any:
    """Whole numbers, none twice in a row, and all far from 0, where relative errors are large."""
    count = int(np.prod(shape))
    return (np.arange(count, dtype=np.float32) * 3 % 11 + 20).reshape(shape)


def _node(
    operation: str,
    names: Sequence[str],
    inputs: tuple[Any, ...],
    attributes: dict[str, Any],
    label: str,
    outputs: Sequence[str] = ("y",),
) -> Variant:
    """A model of one node: its first output has the first input's dtype, others are int64."""
    elements = [helper.np_dtype_to_tensor_dtype(value.dtype) for value in inputs]
    given = [
        helper.make_tensor_value_info(name, element, value.shape)
        for name, element, value in zip(filter(None, names), elements, inputs, strict=True)
    ]
    results = [
        helper.make_tensor_value_info(name, TensorProto.INT64 if place else elements[0], None)
        for place, name in enumerate(outputs)
    ]
    node = helper.make_node(operation, names, outputs, **attributes)
    made = helper.make_graph([node], operation, given, results)
    opset = helper.make_opsetid("", CANONICAL_OPSET)
    return Variant(label, helper.make_model(made, opset_imports=[opset]), inputs)
