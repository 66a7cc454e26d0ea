"""Rewrites of operations whose meaning changed: softmax, normalization, Scan over a batch."""

from __future__ import annotations

import onnx
from onnx import helper

from rlx.program.upgrades.early import replace
from rlx.program.upgrades.editing import Edit, Rewrite, peek, put, refuse, take


def softmax(node: onnx.NodeProto, edit: Edit) -> None:
    """It worked on all dimensions from `axis` on, as if they were one."""
    axis = take(node, "axis", 1)
    x, y = node.input[0], node.output[0]
    shape = edit.type(x).shape
    put(node, "axis", -1)
    if shape is not None and axis % max(len(shape), 1) == len(shape) - 1:
        return
    size = edit.add("Shape", [x], f"{y}_shape")
    node.input[0] = edit.add("Flatten", [x], f"{y}_rows", axis=axis)
    edit.add_after("Reshape", node, 0, size)


def group_normalization(node: onnx.NodeProto, edit: Edit) -> None:
    """Scale and bias were one per group; now they are one per channel: repeat them."""
    y = node.output[0]
    groups = peek(node, "num_groups")
    if not isinstance(groups, int) or groups < 1:
        raise refuse(node, 20, "has no num_groups")
    x = edit.type(node.input[0])
    if x.dtype == "float64":
        put(node, "stash_type", onnx.TensorProto.DOUBLE)
    channels = x.shape[1] if x.shape is not None and len(x.shape) > 1 else None
    if isinstance(channels, int):
        size = edit.tensor([1, channels // groups], f"{y}_size")
    else:
        found = edit.add("Shape", [node.input[0]], f"{y}_channels", start=1, end=2)
        count = edit.tensor([groups], f"{y}_groups")
        each = edit.add("Div", [found, count], f"{y}_each")
        size = edit.add("Concat", [edit.tensor([1], f"{y}_one"), each], f"{y}_size", axis=0)
    column = edit.tensor([-1, 1], f"{y}_column")
    row = edit.tensor([-1], f"{y}_row")
    for position, what in ((1, "scale"), (2, "bias")):
        stem = f"{y}_{what}"
        value = edit.add("Reshape", [node.input[position], column], f"{stem}_column")
        value = edit.add("Expand", [value, size], f"{stem}_repeated")
        node.input[position] = edit.add("Reshape", [value, row], stem)


def batch_statistics(node: onnx.NodeProto, _edit: Edit) -> None:
    """Asking for the statistics meant training; two of the four outputs are gone."""
    if any(node.output[1:]):
        raise refuse(node, 9, "is in training mode (it asks for the statistics)")
    del node.output[1:]


def batched_scan(node: onnx.NodeProto, edit: Edit) -> None:
    """It ran over a batch of sequences: now one Scan over the batch holds one over the sequence."""
    if node.input[0]:
        raise refuse(node, 8, "gives each sequence its own length")
    operands = list(node.input[1:])
    inner = onnx.NodeProto()
    inner.CopyFrom(node)
    inner.name = edit.names.fresh(f"{node.name or node.output[0]}_sequence")
    directions = take(inner, "directions")
    if directions is not None:
        put(inner, "scan_input_directions", directions)
    del inner.input[:], inner.output[:]
    inner.input.extend(edit.names.fresh(f"{name}_item") for name in operands)
    inner.output.extend(
        edit.names.fresh(f"{name}_item") if name else edit.names.fresh("unused")
        for name in node.output
    )
    body = onnx.GraphProto(name=f"{inner.name}_batch", node=[inner])
    for outer_name, name in zip(operands, inner.input, strict=True):
        _without_batch(body.input.add(name=name).type, outer_name, edit)
    for outer_name, name in zip(node.output, inner.output, strict=True):
        _without_batch(body.output.add(name=name).type, outer_name, edit)
    replace(node, "Scan", operands)
    node.attribute.append(helper.make_attribute("body", body))
    put(node, "num_scan_inputs", len(operands))


def _without_batch(target: onnx.TypeProto, name: str, edit: Edit) -> None:
    known = edit.proto_type(name)
    if known is None:
        target.tensor_type.SetInParent()
        return
    target.CopyFrom(known)
    if target.tensor_type.HasField("shape") and target.tensor_type.shape.dim:
        del target.tensor_type.shape.dim[0]


def label_encoder(node: onnx.NodeProto, edit: Edit) -> None:
    """`ai.onnx.ml` 2: one list of classes, used both ways, became lists of keys and of values."""
    classes = take(node, "classes_strings")
    dtype = edit.type(node.input[0]).dtype
    if classes is None or dtype not in ("string", "int64"):
        raise refuse(node, 1, "has no classes_strings, or an input whose dtype is not known")
    numbers = list(range(len(classes)))
    if dtype == "string":
        take(node, "default_string")
        put(node, "keys_strings", classes)
        put(node, "values_int64s", numbers)
    else:
        take(node, "default_int64")
        put(node, "keys_int64s", numbers)
        put(node, "values_strings", classes)


REWRITES: dict[tuple[str, int], tuple[Rewrite, ...]] = {
    **{(name, 13): (softmax,) for name in ("Softmax", "LogSoftmax", "Hardmax")},
    ("BatchNormalization", 14): (batch_statistics,),
    ("GroupNormalization", 21): (group_normalization,),
    ("Scan", 9): (batched_scan,),
}
