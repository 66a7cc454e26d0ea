"""Rewrites where attributes became inputs, or a default changed: opsets 10 to 28."""

from __future__ import annotations

import numpy as np
import onnx

from rlx.program.schemas import DTYPE_NUMBERS
from rlx.program.tensors import Array
from rlx.program.upgrades.early import replace
from rlx.program.upgrades.editing import Edit, Rewrite, peek, put, refuse, take

_REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare"]


def axes_input(node: onnx.NodeProto, edit: Edit) -> None:
    """`axes` became an input."""
    axes = take(node, "axes")
    if axes is not None and len(node.input) < 2:
        node.input.append(edit.tensor(axes, f"{node.output[0]}_axes"))


def clip(node: onnx.NodeProto, edit: Edit) -> None:
    """`min` and `max` became inputs of the data's dtype; float32's own limits meant none."""
    limits = float(np.finfo(np.float32).max)
    low, high = take(node, "min", -limits), take(node, "max", limits)
    x, y = node.input[0], node.output[0]
    node.input.append("" if low <= -limits else edit.like(low, x, f"{y}_min"))
    if high < limits:
        node.input.append(edit.like(high, x, f"{y}_max"))


def pad(node: onnx.NodeProto, edit: Edit) -> None:
    """`pads` and `value` became inputs."""
    x, y = node.input[0], node.output[0]
    value = take(node, "value", 0.0)
    node.input.append(edit.tensor(take(node, "pads", []), f"{y}_pads"))
    if value:
        node.input.append(edit.like(value, x, f"{y}_value"))


def dropout_mask(node: onnx.NodeProto, edit: Edit) -> None:
    """The mask had the data's dtype; it is boolean now."""
    if len(node.output) < 2 or not node.output[1]:
        return
    if not edit.is_read(node.output[1]):
        del node.output[1:]
        return
    dtype = edit.type(node.input[0]).dtype
    if dtype:
        edit.add_after("Cast", node, 1, to=DTYPE_NUMBERS[dtype])
    else:
        edit.add_after("CastLike", node, 1, node.input[0])


def dropout_ratio(node: onnx.NodeProto, edit: Edit) -> None:
    """`ratio` became an input."""
    ratio = np.array(take(node, "ratio", 0.5), np.float32)
    node.input.append(edit.tensor(ratio, f"{node.output[0]}_ratio"))


def slices(node: onnx.NodeProto, edit: Edit) -> None:
    """`starts`, `ends` and `axes` became inputs."""
    for name in ("starts", "ends", "axes"):
        values = take(node, name)
        if values is not None:
            node.input.append(edit.tensor(values, f"{node.output[0]}_{name}"))


def split_input(node: onnx.NodeProto, edit: Edit) -> None:
    """`split` became an input."""
    sizes = take(node, "split")
    if sizes is not None and len(node.input) < 2:
        node.input.append(edit.tensor(sizes, f"{node.output[0]}_split"))


def split_count(node: onnx.NodeProto, _edit: Edit) -> None:
    """Equal parts must be counted."""
    if len(node.input) < 2 or not node.input[1]:
        put(node, "num_outputs", len(node.output))


def topk(node: onnx.NodeProto, edit: Edit) -> None:
    """`k` became an input."""
    k = take(node, "k")
    if k is not None:
        node.input.append(edit.tensor([k], f"{node.output[0]}_k"))


def dft(node: onnx.NodeProto, edit: Edit) -> None:
    """`axis` became an input, and its default the last axis instead of the second."""
    axis = np.array(take(node, "axis", 1), np.int64)
    while len(node.input) < 2:
        node.input.append("")
    node.input.append(edit.tensor(axis, f"{node.output[0]}_axis"))


def scatter(node: onnx.NodeProto, _edit: Edit) -> None:
    """Scatter got the name ScatterElements."""
    node.op_type = "ScatterElements"


def roi_align(node: onnx.NodeProto, _edit: Edit) -> None:
    """The default became half a pixel off what it had been."""
    put(node, "coordinate_transformation_mode", "output_half_pixel")


def grid_mode(node: onnx.NodeProto, _edit: Edit) -> None:
    """The modes lost their `bi`."""
    mode = peek(node, "mode")
    if mode in (b"bilinear", b"bicubic"):
        put(node, "mode", mode[2:].decode())


def upsample(node: onnx.NodeProto, _edit: Edit) -> None:
    """Upsample, which only enlarges, became a case of Resize."""
    mode = peek(node, "mode", b"nearest")
    replace(node, "Resize", [*node.input], mode=mode)
    if mode == b"nearest":
        put(node, "nearest_mode", "floor")


def resize_roi(node: onnx.NodeProto, edit: Edit) -> None:
    """It counted positions from the corner; nearest went down when enlarging, up when shrinking."""
    x, scales = node.input
    put(node, "coordinate_transformation_mode", "asymmetric")
    if peek(node, "mode", b"nearest") == b"nearest" and peek(node, "nearest_mode") is None:
        put(node, "nearest_mode", _nearest(node, edit.constant(scales)))
    del node.input[:]
    node.input.extend([x, "", scales])


def _nearest(node: onnx.NodeProto, scales: Array | None) -> str:
    if scales is not None and (scales >= 1).all():
        return "floor"
    if scales is not None and (scales <= 1).all():
        return "ceil"
    raise refuse(node, 10, "rounds down where it enlarges and up where it shrinks, and does both")


def resize_modes(node: onnx.NodeProto, edit: Edit) -> None:
    """`tf_half_pixel_for_nn` went; empty tensors stood for omitted inputs."""
    mode = "coordinate_transformation_mode"
    if peek(node, mode) == b"tf_half_pixel_for_nn":
        if peek(node, "mode", b"nearest") != b"nearest" or peek(node, "nearest_mode") != b"floor":
            raise refuse(node, 11, "uses tf_half_pixel_for_nn with another rounding than floor")
        put(node, mode, "half_pixel")
        put(node, "nearest_mode", "round_prefer_ceil")
    for position in range(1, len(node.input)):
        value = edit.constant(node.input[position])
        if value is not None and not value.size:
            node.input[position] = ""


def only_floats(node: onnx.NodeProto, edit: Edit) -> None:
    """Whole numbers are no longer allowed: their result was not defined."""
    dtype = edit.type(node.input[0]).dtype
    if dtype.startswith(("int", "uint")):
        opset = 12 if node.op_type == "Erf" else 27
        raise refuse(node, opset, f"takes {dtype}, for which opset {opset + 1} has no meaning")


REWRITES: dict[tuple[str, int], tuple[Rewrite, ...]] = {
    **{(f"Reduce{name}", 18): (axes_input,) for name in _REDUCTIONS},
    **{(name, 13): (axes_input,) for name in ("ReduceSum", "Squeeze", "Unsqueeze")},
    **{(name, 28): (only_floats,) for name in ("ReduceLogSum", "ReduceLogSumExp")},
    ("Clip", 11): (clip,),
    ("DFT", 20): (dft,),
    ("Dropout", 10): (dropout_mask,),
    ("Dropout", 12): (dropout_ratio,),
    ("Erf", 13): (only_floats,),
    ("GridSample", 20): (grid_mode,),
    ("Pad", 11): (pad,),
    ("Resize", 11): (resize_roi,),
    ("Resize", 13): (resize_modes,),
    ("RoiAlign", 16): (roi_align,),
    ("Scatter", 11): (scatter,),
    ("Slice", 10): (slices,),
    ("Split", 13): (split_input,),
    ("Split", 18): (split_count,),
    ("TopK", 10): (topk,),
    ("Upsample", 10): (upsample,),
}
