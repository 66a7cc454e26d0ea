"""Reads ONNX's operator schemas: each live operation at its newest version, in our words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rlx.operations.values import normalised
from rlx.operations.vocabulary import Formal, FormalAttribute, Operation

if TYPE_CHECKING:
    from collections.abc import Iterator

DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
_ELEMENT = {"float": "float32", "double": "float64"}


def dtype_name(type_string: str) -> str:
    """Our name of an ONNX type: `seq(tensor(double))` is `seq(float64)`."""
    plain = re.sub(r"tensor\((\w+)\)", r"\1", type_string)
    named = re.sub(r"\b(float|double)\b", lambda match: _ELEMENT[match[0]], plain)
    return named.replace(", ", ",")


def operations() -> tuple[Operation, ...]:
    """Every live operation of ONNX's own domains, sorted by name."""
    from onnx import defs

    live = (s for s in defs.get_all_schemas() if s.domain in DOMAINS and not s.deprecated)
    return tuple(sorted(map(_operation, live), key=lambda operation: operation.name))


def opset() -> int:
    """The newest opset of the `ai.onnx` domain that the installed onnx knows."""
    from onnx import defs

    return int(defs.onnx_opset_version())


def _operation(schema: Any) -> Operation:
    return Operation(
        name=f"{schema.domain}::{schema.name}" if schema.domain else schema.name,
        since=schema.since_version,
        inputs=tuple(_formals(schema.inputs)),
        outputs=tuple(_formals(schema.outputs)),
        attributes=tuple(_attributes(schema)),
        types=tuple(
            (one.type_param_str, tuple(sorted(map(dtype_name, one.allowed_type_strs))))
            for one in sorted(schema.type_constraints, key=lambda one: one.type_param_str)
        ),
        deterministic={"Deterministic": True, "NonDeterministic": False}.get(
            schema.node_determinism.name
        ),
        body=schema.has_function or schema.has_context_dependent_function,
    )


def _formals(parameters: Any) -> Iterator[Formal]:
    for parameter in parameters:
        option = parameter.option.name.lower()
        variadic = option == "variadic"
        yield Formal(
            parameter.name,
            dtype_name(parameter.type_str),
            option,
            parameter.min_arity if variadic else 1,
            parameter.is_homogeneous if variadic else True,
        )


def _attributes(schema: Any) -> Iterator[FormalAttribute]:
    from onnx import helper

    for name, attribute in sorted(schema.attributes.items()):
        kind = attribute.type.name
        default = None
        if attribute.default_value.name:
            value = helper.get_attribute_value(attribute.default_value)
            default = normalised(kind, _text(value))
        yield FormalAttribute(name, kind, attribute.required, default)


def _text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return [_text(one) for one in value] if isinstance(value, (list, tuple)) else value
