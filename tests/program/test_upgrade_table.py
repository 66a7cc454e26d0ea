"""Every change in the history of ONNX's operations is either a wider choice, or has a rewrite."""

import itertools
from collections import defaultdict
from collections.abc import Iterator

import onnx
from onnx import defs, helper

from rlx.program.upgrades import REWRITES

WIDER = {
    ("Constant", 11): "value became one of several attributes",
    ("Gemm", 11): "C became optional",
    ("Loop", 11): "the minimum of inputs was stated",
    ("OptionalHasElement", 18): "the input became optional",
    ("MaxPool", 8): "a second output",
    ("GRU", 14): "layout 0 is what it was",
    ("LSTM", 14): "layout 0 is what it was",
    ("RNN", 14): "layout 0 is what it was",
}
"""Changes of signature that leave every old node's meaning as it was, with the reason."""


def default(attribute: defs.OpSchema.Attribute) -> object:
    value = attribute.default_value
    return helper.get_attribute_value(value) if value.type else None


def allowed(schema: defs.OpSchema, formal: str) -> set[str]:
    for constraint in schema.type_constraints:
        if constraint.type_param_str == formal:
            return set(constraint.allowed_type_strs)
    return {formal}


def narrowings(old: defs.OpSchema, new: defs.OpSchema) -> Iterator[str]:
    """What an old node may say that the new schema takes another way, or not at all."""
    for name, attribute in old.attributes.items():
        now = new.attributes.get(name)
        if now is None or now.type != attribute.type or default(now) != default(attribute):
            yield f"attribute {name}"
    for name, attribute in new.attributes.items():
        if name not in old.attributes and attribute.required:
            yield f"attribute {name} is required"
    for before, after in ((old.inputs, new.inputs), (old.outputs, new.outputs)):
        if len(after) < len(before):
            yield "operands"
        for one, other in zip(before, after, strict=False):
            if not allowed(old, one.type_str) <= allowed(new, other.type_str):
                yield f"types of {one.name}"
    if new.min_input > old.min_input:
        yield "required inputs"


def test_no_change_of_an_operation_is_overlooked():
    history: dict[str, list[defs.OpSchema]] = defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        if not schema.domain:
            history[schema.name].append(schema)
    overlooked = []
    for name, schemas in history.items():
        ordered = sorted(schemas, key=lambda schema: schema.since_version)
        for old, new in itertools.pairwise(ordered):
            step = (name, new.since_version)
            found = "replaced" if new.deprecated else ", ".join(narrowings(old, new))
            if found and not old.deprecated and step not in REWRITES and step not in WIDER:
                overlooked.append((*step, found))
    assert not overlooked


def test_every_rewrite_belongs_to_a_change_in_the_history():
    history = {(s.name, s.since_version) for s in defs.get_all_schemas_with_history()}
    assert set(REWRITES) <= history
    assert set(WIDER) <= history


def test_the_canonical_opset_is_the_newest_of_the_installed_onnx():
    from rlx.program import CANONICAL_OPSET

    assert defs.onnx_opset_version() == CANONICAL_OPSET
    assert onnx.helper.OP_SET_ID_VERSION_MAP["ai.onnx", CANONICAL_OPSET] == onnx.IR_VERSION
