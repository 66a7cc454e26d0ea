"""Types and shapes of every value, by ONNX's own inference; and ONNX's own check of the nodes."""

from __future__ import annotations

import re

import onnx
from onnx import checker, shape_inference

from rlx.errors import ProgramError
from rlx.program.barriers import as_identities, is_barrier, with_barriers
from rlx.program.lengths import has_long_list, has_long_step
from rlx.program.reading import one_line
from rlx.program.schemas import newest_schema
from rlx.program.structure import all_graphs

_FIX = "correct the exporter; `onnx.checker.check_model(path, full_check=True)` shows it too."


def with_types(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, with types for outputs that state none; refuses an input without a type."""
    for value in model.graph.input:
        if not _is_typed(value.type):
            raise ProgramError(f"the input '{value.name}' has no type", fix=_FIX)
    graphs = all_graphs(model.graph)
    if all(_is_typed(value.type) for graph in graphs for value in graph.output):
        return model
    found = infer_leniently(model)
    for value in found.graph.output:
        if not _is_typed(value.type):
            raise ProgramError(f"the output '{value.name}' has no type", fix=_FIX)
    return found


def _is_typed(proto: onnx.TypeProto) -> bool:
    kind = proto.WhichOneof("value")
    return kind is not None and (kind != "tensor_type" or proto.tensor_type.elem_type != 0)


def check(model: onnx.ModelProto) -> None:
    """Check nodes against their schemas; `model` holds no large weights."""
    try:
        checker.check_model(_checkable(model).SerializeToString())
    except (checker.ValidationError, ValueError, RuntimeError) as error:
        raise ProgramError(_clean(error), fix=_FIX) from error


def _checkable(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy with stand-ins for the two things that ONNX's checker refuses although they are used.

    GroupNormalization before opset 21 is marked as deprecated (the rewrite checks it itself), and
    an input or output whose number of dimensions is unknown has no shape.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    opset = max((entry.version for entry in model.opset_import if not entry.domain), default=0)
    for graph in all_graphs(copy.graph):
        for value in (*graph.input, *graph.output):
            if value.type.WhichOneof("value") == "tensor_type":
                value.type.tensor_type.shape.SetInParent()
        for node in graph.node:
            if node.op_type == "GroupNormalization" and not node.domain and opset < 21:
                node.op_type = "InstanceNormalization"
                kept = [a for a in node.attribute if a.name == "epsilon"]
                del node.attribute[:]
                node.attribute.extend(kept)
    return copy


def infer(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy with the type of every value that can be known, in `value_info`.

    Types that the file states for its inner values are kept where they agree with what follows
    from the inputs, and all are dropped where one of them does not. A contradiction that does
    not come from them is a `ProgramError`, except beside operations that ONNX does not define:
    what they make is not known, so nothing can be said.
    """
    data, follow = model.SerializeToString(), _may_follow(model.graph)
    try:
        return _infer(data, strict=True, follow=follow)
    except ProgramError:
        if has_foreign_operations(model.graph):
            return _infer(data, strict=False, follow=follow)
    bare = onnx.ModelProto()
    bare.ParseFromString(data)
    for graph in all_graphs(bare.graph):
        del graph.value_info[:]
    try:
        return _infer(bare.SerializeToString(), strict=True, follow=follow)
    except ProgramError as error:
        if not _within_function(str(error.__cause__)):
            raise
        return infer_with_defaults(model)


def infer_with_defaults(model: onnx.ModelProto) -> onnx.ModelProto:
    """Infer with every default attribute written out, as ONNX's function bodies need; leniently."""
    full = onnx.ModelProto()
    full.CopyFrom(model)
    written = []
    for node in _nodes(full):
        written.append(len(node.attribute))
        schema = newest_schema(node.domain, node.op_type)
        present = {attribute.name for attribute in node.attribute}
        for attribute in schema.attributes.values() if schema is not None else ():
            if attribute.name not in present and attribute.default_value.type:
                node.attribute.append(attribute.default_value)
    found = infer_leniently(full)
    for node, count in zip(_nodes(found), written, strict=True):
        del node.attribute[count:]
    return found


def _nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [node for graph in all_graphs(model.graph) for node in graph.node]


def _within_function(text: str) -> bool:
    """Whether inference failed inside the function body of an operation of ONNX's own.

    That says nothing about the program: ONNX does not fill in default attributes there.
    """
    found = re.search(r"\(op_type:(\w+)[^)]*\): \(op_type:", _without_noise(text))
    schema = newest_schema("", found[1]) if found else None
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def infer_leniently(model: onnx.ModelProto) -> onnx.ModelProto:
    """As `infer`, but a contradiction leaves values untyped."""
    follow = _may_follow(model.graph)
    try:
        return _infer(model.SerializeToString(), strict=False, follow=follow)
    except ProgramError:
        return model


def _may_follow(graph: onnx.GraphProto) -> bool:
    return not (has_long_list(graph) or has_long_step(graph))


def _infer(data: bytes, *, strict: bool, follow: bool) -> onnx.ModelProto:
    """`follow`: also find what shape computations come to."""
    barriers = as_identities(data)
    try:
        found = shape_inference.infer_shapes(
            data if barriers is None else barriers.data,
            check_type=strict,
            strict_mode=strict,
            data_prop=follow,
        )
        return found if barriers is None else with_barriers(found, barriers)
    except (shape_inference.InferenceError, checker.ValidationError, ValueError, RuntimeError) as e:
        raise ProgramError(_clean(e), fix=_FIX) from e


def has_foreign_operations(graph: onnx.GraphProto) -> bool:
    """Whether a node, here or in a subgraph, is of an operation that ONNX does not define."""
    return any(
        newest_schema(node.domain, node.op_type) is None and not is_barrier(node)
        for inner in all_graphs(graph)
        for node in inner.node
    )


def _clean(error: Exception) -> str:
    """The first thing that ONNX says, on one line, beginning with the node that it is about."""
    text, _, context = one_line(str(error), 10_000).partition(" ==> Context: ")
    node = re.search(r"Bad node spec for node\. Name: (.*?) OpType: (\S+)", context)
    if node:
        text = f"node '{node[1]}' ({node[2]}): {text}"
    text = re.sub(r"\(op_type:(\w+), node name: (.*?)\):", r"node '\2' (\1):", text)
    text = re.sub(r"\(op_type:(\w+)\):", r"in \1:", text)
    return one_line(_without_noise(text)).rstrip(".")


def _without_noise(text: str) -> str:
    for noise in (
        "[ShapeInferenceError] ",
        "[TypeInferenceError] ",
        "Inference error(s): ",
        "Shape inference error(s): ",
    ):
        text = text.replace(noise, "")
    return text
