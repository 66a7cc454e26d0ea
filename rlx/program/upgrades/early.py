"""Rewrites into opsets 2 to 9: broadcasting by attribute, training flags, old spellings."""

from __future__ import annotations

import math

import numpy as np
import onnx

from rlx.program.upgrades.editing import Edit, Rewrite, peek, put, refuse, take

_IN_PLACE = [
    "Abs",
    "Add",
    "Ceil",
    "Clip",
    "Div",
    "Dropout",
    "Elu",
    "Exp",
    "Floor",
    "HardSigmoid",
    "InstanceNormalization",
    "LeakyRelu",
    "Log",
    "Max",
    "Mean",
    "Min",
    "Mul",
    "Neg",
    "PRelu",
    "Reciprocal",
    "Relu",
    "Sigmoid",
    "Sqrt",
    "Sub",
    "Sum",
    "Tanh",
    "BatchNormalization",
]
_BROADCASTING = ["Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less"]


def drop_consumed_inputs(node: onnx.NodeProto, _edit: Edit) -> None:
    """`consumed_inputs` was a hint about memory."""
    take(node, "consumed_inputs")


def broadcast(node: onnx.NodeProto, edit: Edit) -> None:
    """`axis` said where B's dimensions start in A; NumPy aligns at the end, so pad B with ones."""
    enabled = take(node, "broadcast", 0)
    axis = take(node, "axis")
    if not enabled or axis is None:
        return
    a, b = edit.type(node.input[0]).ndim, edit.type(node.input[1]).ndim
    if a is None or b is None:
        raise refuse(node, 6, "broadcasts at an axis of an input whose shape is not known")
    trailing = a - (axis + a if axis < 0 else axis) - b
    if trailing < 0:
        raise refuse(node, 6, f"broadcasts {b} dimensions at axis {axis} of {a}")
    if trailing:
        axes = edit.tensor(range(b, b + trailing), f"{node.input[1]}_axes")
        node.input[1] = edit.add("Unsqueeze", [node.input[1], axes], f"{node.input[1]}_aligned")


def prelu(node: onnx.NodeProto, edit: Edit) -> None:
    """A 1-D slope was one per channel, which is axis 1; now it would align with the last axis."""
    x, slope = edit.type(node.input[0]), edit.type(node.input[1])
    if slope.shape is None or (slope.ndim == 1 and slope.shape != (1,) and x.ndim is None):
        raise refuse(node, 6, "has a slope or an input whose shape is not known")
    if slope.ndim == 1 and slope.shape != (1,) and x.ndim is not None and x.ndim > 2:
        axes = edit.tensor(range(1, x.ndim - 1), f"{node.input[1]}_axes")
        node.input[1] = edit.add("Unsqueeze", [node.input[1], axes], f"{node.input[1]}_aligned")


def gemm(node: onnx.NodeProto, _edit: Edit) -> None:
    """C broadcast to the right already."""
    take(node, "broadcast")


def only_testing(node: onnx.NodeProto, _edit: Edit) -> None:
    """Without `is_test` these operations train: their result is random, or changes the weights."""
    if not take(node, "is_test", 0):
        raise refuse(node, 6, "is in training mode (is_test is 0)")


def spatial(node: onnx.NodeProto, edit: Edit) -> None:
    """Statistics per activation no longer exist: write the formula out."""
    if take(node, "spatial", 1):
        return
    if len([name for name in node.output if name]) > 1:
        raise refuse(node, 8, "is in training mode (it asks for the statistics)")
    x, scale, bias, mean, variance = node.input
    y = node.output[0]
    epsilon = edit.like(peek(node, "epsilon", 1e-5), x, f"{y}_epsilon")
    centred = edit.add("Sub", [x, mean], f"{y}_centred")
    spread = edit.add("Add", [variance, epsilon], f"{y}_variance")
    spread = edit.add("Sqrt", [spread], f"{y}_deviation")
    scaled = edit.add("Div", [centred, spread], f"{y}_normal")
    scaled = edit.add("Mul", [scaled, scale], f"{y}_scaled")
    replace(node, "Add", [scaled, bias])


def replace(node: onnx.NodeProto, operation: str, inputs: list[str], **attributes: object) -> None:
    """Make the node another operation; its outputs stay."""
    node.op_type = operation
    del node.input[:], node.attribute[:]
    node.input.extend(inputs)
    for name, value in attributes.items():
        put(node, name, value)


def cast(node: onnx.NodeProto, _edit: Edit) -> None:
    """`to` was the dtype's name."""
    to = take(node, "to")
    if isinstance(to, bytes):
        name = to.decode("ascii", "replace").upper()
        if name not in onnx.TensorProto.DataType.keys():  # noqa: SIM118
            raise refuse(node, 5, f"casts to {name!r}, which is no data type")
        to = onnx.TensorProto.DataType.Value(name)
    if to is not None:
        put(node, "to", to)


def concat(node: onnx.NodeProto, _edit: Edit) -> None:
    """The axis was optional."""
    if peek(node, "axis") is None:
        put(node, "axis", 1)


def selu(node: onnx.NodeProto, _edit: Edit) -> None:
    """The defaults had fewer digits."""
    take(node, "consumed_inputs")
    for name, old in (("alpha", 1.6732), ("gamma", 1.0507)):
        if peek(node, name) is None:
            put(node, name, old)


def gru_direction(node: onnx.NodeProto, _edit: Edit) -> None:
    """The default was misspelt."""
    if peek(node, "direction") == b"foward":
        put(node, "direction", "forward")


def output_sequence(node: onnx.NodeProto, _edit: Edit) -> None:
    """Whether Y is wanted shows in the outputs themselves."""
    take(node, "output_sequence")


def whole_p(node: onnx.NodeProto, _edit: Edit) -> None:
    """The norm's order was a float."""
    p = take(node, "p")
    if p is None:
        return
    if not float(p).is_integer():
        raise refuse(node, 1, f"uses the norm of order {p:g}, which is not whole")
    put(node, "p", int(p))


def reshape(node: onnx.NodeProto, edit: Edit) -> None:
    """The shape was an attribute."""
    take(node, "consumed_inputs")
    shape = take(node, "shape")
    if len(node.input) < 2:
        node.input.append(edit.tensor(shape or [], f"{node.output[0]}_shape"))


def split(node: onnx.NodeProto, _edit: Edit) -> None:
    """The axis had no default in words."""
    if peek(node, "axis") is None:
        put(node, "axis", 0)


def paddings(node: onnx.NodeProto, _edit: Edit) -> None:
    """`pads` was called `paddings`."""
    pads = take(node, "paddings")
    if pads is not None:
        put(node, "pads", pads)


def tile(node: onnx.NodeProto, edit: Edit) -> None:
    """It repeated one axis; now there is a count for each."""
    ndim = edit.type(node.input[0]).ndim
    tiles, axis = (edit.constant(name) for name in node.input[1:3])
    if ndim is None or tiles is None or axis is None or tiles.size != 1 or axis.size != 1:
        raise refuse(node, 1, "repeats an axis or a number of times that is not constant")
    repeats = [1] * ndim
    repeats[int(axis.item())] = int(tiles.item())
    del node.input[1:]
    node.input.append(edit.tensor(repeats, f"{node.output[0]}_repeats"))


def upsample_scales(node: onnx.NodeProto, _edit: Edit) -> None:
    """Height and width had an attribute each."""
    height, width = take(node, "height_scale"), take(node, "width_scale")
    if height is None or width is None or not math.isfinite(height * width):
        raise refuse(node, 1, "has no height_scale and width_scale")
    put(node, "scales", [1.0, 1.0, height, width])


def upsample_input(node: onnx.NodeProto, edit: Edit) -> None:
    """The scales became an input."""
    scales = take(node, "scales")
    if scales is not None:
        array = np.array(scales, np.float32)
        node.input.append(edit.tensor(array, f"{node.output[0]}_scales"))


REWRITES: dict[tuple[str, int], tuple[Rewrite, ...]] = {
    **{(name, 6): (drop_consumed_inputs,) for name in _IN_PLACE},
    **{(name, 7): (broadcast,) for name in _BROADCASTING},
    **{(name, 7): (output_sequence,) for name in ("GRU", "LSTM", "RNN")},
    **{(name, 7): (only_testing,) for name in ("BatchNormalization", "Dropout")},
    **{(name, 2): (whole_p,) for name in ("LpPool", "GlobalLpPool")},
    ("BatchNormalization", 9): (spatial,),
    ("Cast", 6): (cast,),
    ("Concat", 4): (concat,),
    ("GRU", 3): (gru_direction,),
    ("Gemm", 7): (gemm,),
    ("PRelu", 7): (prelu,),
    ("Pad", 2): (paddings,),
    ("Reshape", 5): (reshape,),
    ("Selu", 6): (selu,),
    ("Split", 2): (split,),
    ("Tile", 6): (tile,),
    ("Upsample", 7): (upsample_scales,),
    ("Upsample", 9): (upsample_input,),
}
