"""ONNX's operator schemas at the canonical opset, as small frozen records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import onnx
from onnx import defs

from rlx.program.types import BARRIER, CANONICAL_OPSET, Attribute, OperandType, ValueType

GRAPH_KINDS = frozenset({"GRAPH", "GRAPHS"})
TENSOR_KINDS = frozenset({"TENSOR", "TENSORS", "SPARSE_TENSOR", "SPARSE_TENSORS"})

DTYPE_NAMES: dict[int, str] = {
    number: {"FLOAT": "float32", "DOUBLE": "float64", "UNDEFINED": ""}.get(name, name.lower())
    for name, number in onnx.TensorProto.DataType.items()
}
"""By number of `TensorProto.DataType`; "" for UNDEFINED."""

DTYPE_NUMBERS: dict[str, int] = {name: number for number, name in DTYPE_NAMES.items() if name}


@dataclass(frozen=True, slots=True)
class Schema:
    """One operation, as its newest schema defines it.

    `attributes` are (name, kind, default) by name, where kind is that of `AttributeProto`;
    `variables` are the type variables that allow more than one dtype; `fixed` maps a formal type
    that allows one only to that dtype.
    """

    domain: str
    name: str
    since_version: int
    attributes: tuple[tuple[str, str, Attribute], ...]
    inputs: tuple[OperandType, ...]
    outputs: tuple[OperandType, ...]
    variables: frozenset[str]
    fixed: tuple[tuple[str, str], ...]

    def input(self, position: int) -> OperandType | None:
        """The formal input at a position; the last one repeats where it is variadic."""
        return _formal(self.inputs, position)

    def output(self, position: int) -> OperandType | None:
        """The formal output at a position; the last one repeats where it is variadic."""
        return _formal(self.outputs, position)


_ANY = (OperandType("values", "V", "variadic"),)
_BARRIER = Schema(
    "rlx",
    "Barrier",
    1,
    (("fixpoint", "INT", 0), ("repeat", "INT", 1), ("stages", "INT", 1)),
    _ANY,
    _ANY,
    frozenset({"V"}),
    (),
)
"""Of rlx's own operation; each value may have any type, which its output has too."""


def _formal(formals: tuple[OperandType, ...], position: int) -> OperandType | None:
    if position < len(formals):
        return formals[position]
    if formals and formals[-1].option == "variadic":
        return formals[-1]
    return None


def operation_name(domain: str, name: str) -> str:
    """`Name` in the `ai.onnx` domain, `domain::Name` elsewhere."""
    return f"{domain}::{name}" if domain else name


def split_operation(operation: str) -> tuple[str, str]:
    """The (domain, name) of an operation as `operation_name` writes it."""
    domain, separator, name = operation.rpartition("::")
    return (domain, name) if separator else ("", operation)


@cache
def domain_versions() -> dict[str, int]:
    """The newest version that the installed onnx knows, by domain (`ai.onnx` is "")."""
    versions: dict[str, tuple[int, int]] = defs.C.schema_version_map()
    return {domain: newest for domain, (_, newest) in versions.items()}


@cache
def schema_at(domain: str, name: str, version: int) -> defs.OpSchema | None:
    """ONNX's schema in force at a version of the domain; None: there is none, or deprecated."""
    try:
        found = defs.get_schema(name, version, domain)
    except defs.SchemaError:
        return None
    return None if found.deprecated else found


@cache
def newest_schema(domain: str, name: str) -> defs.OpSchema | None:
    """The newest schema that is not deprecated, at most the canonical opset; None: unknown."""
    version = CANONICAL_OPSET if not domain else domain_versions().get(domain, 0)
    while version > 0:
        try:
            found = defs.get_schema(name, version, domain)
        except defs.SchemaError:
            return None
        if not found.deprecated:
            return found
        version = found.since_version - 1
    return None


@cache
def operation_names(domain: str) -> frozenset[str]:
    """The names of all operations that a domain of ONNX ever had."""
    return frozenset(s.name for s in defs.get_all_schemas_with_history() if s.domain == domain)


@cache
def canonical_schema(operation: str) -> Schema | None:
    """The operation's newest schema as a record; None where neither ONNX nor rlx defines it."""
    if operation == BARRIER:
        return _BARRIER
    domain, name = split_operation(operation)
    found = newest_schema(domain, name)
    if found is None:
        return None
    allowed = {c.type_param_str: c.allowed_type_strs for c in found.type_constraints}
    formals = {p.type_str for p in (*found.inputs, *found.outputs)}
    single = {t: allowed.get(t, [t])[0] for t in formals if len(allowed.get(t, [t])) == 1}
    return Schema(
        domain,
        name,
        found.since_version,
        tuple(sorted((a.name, a.type.name, _default(a)) for a in found.attributes.values())),
        tuple(_operand(p) for p in found.inputs),
        tuple(_operand(p) for p in found.outputs),
        frozenset(t for t in formals if t not in single),
        tuple(sorted((formal, plain_dtype(text)) for formal, text in single.items())),
    )


def _operand(parameter: defs.OpSchema.FormalParameter) -> OperandType:
    return OperandType(parameter.name, parameter.type_str, parameter.option.name.lower())


def _default(attribute: defs.OpSchema.Attribute) -> Attribute:
    """A default as a plain value; None where the attribute has none."""
    if not attribute.default_value.type:
        return None
    return plain(onnx.helper.get_attribute_value(attribute.default_value))


def plain(value: object) -> Attribute:
    """A scalar or list of ONNX's helper as int, float, str, bytes or a tuple of these."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    return value


def plain_dtype(text: str) -> str:
    """ONNX's type text in our words: `seq(tensor(float))` becomes `seq(float32)`."""
    for outer in ("seq", "optional", "sparse_tensor"):
        if text.startswith(f"{outer}("):
            return f"{outer}({plain_dtype(text[len(outer) + 1 : -1])})"
    if text.startswith("tensor("):
        return plain_dtype(text[7:-1])
    if text.startswith("map("):
        key, value = text[4:-1].split(",", 1)
        return f"map({plain_dtype(key.strip())},{plain_dtype(value.strip())})"
    return {"float": "float32", "double": "float64"}.get(text, text)


def value_type(proto: onnx.TypeProto) -> ValueType:
    """A `TypeProto` as a record."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return ValueType(
            DTYPE_NAMES.get(proto.tensor_type.elem_type, ""), _shape(proto.tensor_type)
        )
    if kind is None:
        return ValueType("")
    names = {"sequence_type": "sequence", "optional_type": "optional", "map_type": "map"}
    return ValueType(_dtype(proto), None, names.get(kind, kind.removesuffix("_type")))


def _dtype(proto: onnx.TypeProto) -> str:
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return DTYPE_NAMES.get(proto.tensor_type.elem_type, "")
    if kind == "sparse_tensor_type":
        return _wrapped("sparse_tensor", DTYPE_NAMES.get(proto.sparse_tensor_type.elem_type, ""))
    if kind == "sequence_type":
        return _wrapped("seq", _dtype(proto.sequence_type.elem_type))
    if kind == "optional_type":
        return _wrapped("optional", _dtype(proto.optional_type.elem_type))
    if kind == "map_type":
        key = DTYPE_NAMES.get(proto.map_type.key_type, "")
        value = _dtype(proto.map_type.value_type)
        return f"map({key},{value})" if key and value else ""
    return ""


def _wrapped(outer: str, inner: str) -> str:
    return f"{outer}({inner})" if inner else ""


def _shape(tensor: onnx.TypeProto.Tensor) -> tuple[int | str | None, ...] | None:
    """One entry per dimension; a negative size or a symbol named `?` is unknown."""
    if not tensor.HasField("shape"):
        return None
    return tuple(_size(dimension) for dimension in tensor.shape.dim)


def _size(dimension: onnx.TensorShapeProto.Dimension) -> int | str | None:
    kind = dimension.WhichOneof("value")
    if kind == "dim_value":
        size: int = dimension.dim_value
        return size if size >= 0 else None
    if kind == "dim_param" and dimension.dim_param not in ("", "?"):
        symbol: str = dimension.dim_param
        return symbol
    return None
