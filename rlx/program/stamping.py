"""Which opsets a program can be written at with the same meaning, and the IR version for one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import onnx
from onnx import defs, helper

from rlx.errors import ProgramError
from rlx.program.schemas import (
    canonical_schema,
    newest_schema,
    plain,
    plain_dtype,
    schema_at,
    split_operation,
)
from rlx.program.structure import subgraphs
from rlx.program.types import CANONICAL_OPSET, Attribute, Block, Node, ValueType
from rlx.program.upgrades import REWRITES
from rlx.program.upgrades.arguments import only_floats

LOWEST = 13
"""The lowest opset that is chosen by itself: below it, axes were attributes and softmax another
operation, and engines keep less care for it. A lower one can be asked for."""

_REFUSES = (only_floats,)
"""A step that takes dtypes away, and leaves the meaning of what it accepts."""

_IR_OF_DTYPE = {
    **dict.fromkeys(("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"), 9),
    **dict.fromkeys(("int4", "uint4"), 10),
    "float4e2m1": 11,
    "float8e8m0": 12,
    **dict.fromkeys(("int2", "uint2"), 13),
    **dict.fromkeys(("float6e2m3", "float6e3m2"), 14),
}


def lowest_version(node: Node, types: Mapping[str, ValueType]) -> int:
    """The lowest version of the node's domain whose schema accepts the node as it stands.

    0 for an operation that ONNX does not define: its domain has no versions to choose from.
    """
    domain, name = split_operation(node.operation)
    schema = newest_schema(domain, name)
    if schema is None:
        return 0
    while schema.since_version > 1:
        older = schema_at(domain, name, schema.since_version - 1)
        step = (name, schema.since_version)
        changed = not domain and REWRITES.get(step, _REFUSES) != _REFUSES
        if older is None or changed or not _accepts(older, node, types):
            break
        schema = older
    return int(schema.since_version)


def _accepts(schema: defs.OpSchema, node: Node, types: Mapping[str, ValueType]) -> bool:
    newest = canonical_schema(node.operation)
    assert newest is not None
    defaults = {name: default for name, _, default in newest.attributes}
    for name, value in node.attributes:
        if name not in schema.attributes and not _same(value, defaults.get(name)):
            return False
    written = {name for name, _ in node.attributes}
    for attribute in schema.attributes.values():
        if attribute.name not in written and attribute.required:
            return False
        if attribute.name not in written and not _same(
            _default(attribute), defaults.get(attribute.name)
        ):
            return False
    for name, value in node.attributes:
        known = schema.attributes.get(name)
        if known is not None and not _fits_kind(known.type.name, value):
            return False
    return _operands(schema, node, types)


def _same(value: Attribute, other: Attribute) -> bool:
    return type(value) is type(other) and bool(value == other)


def _default(attribute: defs.OpSchema.Attribute) -> Attribute:
    if not attribute.default_value.type:
        return None
    return plain(helper.get_attribute_value(attribute.default_value))


def _fits_kind(kind: str, value: Attribute) -> bool:
    expected = {"INT": int, "FLOAT": float, "INTS": tuple, "FLOATS": tuple, "STRINGS": tuple}
    if kind == "STRING":
        return isinstance(value, str | bytes)
    return kind not in expected or isinstance(value, expected[kind])


def _operands(schema: defs.OpSchema, node: Node, types: Mapping[str, ValueType]) -> bool:
    if not schema.min_input <= len(node.inputs) <= schema.max_input:
        return False
    if not schema.min_output <= len(node.outputs) <= schema.max_output:
        return False
    for names, formals in ((node.inputs, schema.inputs), (node.outputs, schema.outputs)):
        for position, name in enumerate(names):
            formal = formals[min(position, len(formals) - 1)]
            single = formal.option == defs.OpSchema.FormalParameterOption.Single
            if not name and single:
                return False
            found = types.get(name)
            if name and (found is None or found.dtype not in _allowed(schema, formal.type_str)):
                return False
    return True


@cache
def _allowed_by(domain: str, name: str, version: int, formal: str) -> frozenset[str]:
    schema = schema_at(domain, name, version)
    assert schema is not None
    for constraint in schema.type_constraints:
        if constraint.type_param_str == formal:
            return frozenset(plain_dtype(text) for text in constraint.allowed_type_strs)
    return frozenset({plain_dtype(formal)})


def _allowed(schema: defs.OpSchema, formal: str) -> frozenset[str]:
    return _allowed_by(schema.domain, schema.name, schema.since_version, formal)


def versions_needed(body: Block) -> dict[str, tuple[int, Node]]:
    """By domain, the lowest version that all nodes accept, and a node that needs it."""
    needed: dict[str, tuple[int, Node]] = {}
    _collect(body, {}, needed, {})
    return needed


def _collect(
    block: Block,
    outer: Mapping[str, ValueType],
    needed: dict[str, tuple[int, Node]],
    seen: dict[object, int],
) -> None:
    types = {**outer, **dict(block.types)}
    for node in block.nodes:
        domain, _ = split_operation(node.operation)
        key = _key(node, types)
        if key not in seen:
            seen[key] = lowest_version(node, types)
        version = seen[key]
        if domain not in needed or version > needed[domain][0]:
            needed[domain] = (version, node)
        for inner in node.blocks():
            _collect(inner, types, needed, seen)


def _key(node: Node, types: Mapping[str, ValueType]) -> object:
    """What `lowest_version` looks at; nodes that agree on it have the same answer."""
    dtypes = tuple(
        tuple(types[name].dtype if name in types else name and "?" for name in names)
        for names in (node.inputs, node.outputs)
    )
    return node.signature, dtypes, tuple(name for name, _ in node.attributes)


def stamp(model: onnx.ModelProto, body: Block, opset: int | None) -> None:
    """Write the versions into the model: the lowest that fit, or exactly `opset` for `ai.onnx`.

    Attributes that the older schema lacks are dropped; they hold their defaults.
    """
    needed = versions_needed(body)
    lowest, node = needed.get("", (1, None))
    chosen = max(lowest, LOWEST) if opset is None else opset
    if opset is not None and not lowest <= opset <= CANONICAL_OPSET:
        by = f": node '{node.name}' ({node.operation}) needs at least {lowest}" if node else ""
        reason = by if opset < lowest else f": this rlx knows up to {CANONICAL_OPSET}"
        raise ProgramError(
            f"the program cannot be written at opset {opset}{reason}",
            fix=f"ask for an opset from {lowest} to {CANONICAL_OPSET}.",
        )
    versions = {}
    for entry in model.opset_import:
        if not entry.domain:
            entry.version = chosen
        elif needed.get(entry.domain, (0,))[0]:
            entry.version = needed[entry.domain][0]
        versions[entry.domain] = entry.version
    _drop_attributes(model.graph, versions)
    model.ir_version = ir_version(chosen, body)


def _drop_attributes(graph: onnx.GraphProto, versions: Mapping[str, int]) -> None:
    for node in graph.node:
        schema = schema_at(node.domain, node.op_type, versions.get(node.domain, 0))
        if schema is not None:
            for position in reversed(range(len(node.attribute))):
                if node.attribute[position].name not in schema.attributes:
                    del node.attribute[position]
        for inner in subgraphs(node):
            _drop_attributes(inner, versions)


def ir_version(opset: int, body: Block) -> int:
    """The lowest IR version that allows this opset and every dtype in the program.

    At least 4, the first where an initializer need not be an input.
    """
    for_opset = helper.OP_SET_ID_VERSION_MAP.get(("ai.onnx", opset), onnx.IR_VERSION)
    for_dtypes = max((_IR_OF_DTYPE.get(dtype, 4) for dtype in _dtypes(body)), default=4)
    return max(4, int(for_opset), for_dtypes)


def _dtypes(block: Block) -> set[str]:
    found = {each.dtype for _, each in block.types}
    for node in block.nodes:
        for inner in node.blocks():
            found |= _dtypes(inner)
    return found
