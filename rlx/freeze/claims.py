"""Coverage: each claim is checked against the vocabulary, and becomes a frozen row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.freeze.faults import show
from rlx.freeze.nearest import suggest
from rlx.operations.values import accepts, expected, normalised
from rlx.registration import Row
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rlx.freeze.faults import Faults, Place
    from rlx.operations import FormalAttribute, Operation, Vocabulary

FOREIGN_NAMES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "bf16": "bfloat16",
    "boolean": "bool",
    "str": "string",
}
"""What other libraries call a dtype."""

Types = "Mapping[str, Sequence[str]]"


def row(
    operations: Sequence[str],
    types: Mapping[str, Sequence[str]],
    attributes: Mapping[str, Sequence[Any]],
    ndim: tuple[int, int | None] | None,
    place: Place,
    vocabulary: Vocabulary,
    faults: Faults,
) -> Row:
    """One group of claims, with canonical names and values; whatever is wrong is noted."""
    names = tuple(vocabulary.canonical(name) for name in operations)
    faults.twice("operations", names, place.below("operations"))
    for variable, dtypes in types.items():
        faults.twice(f"types.{variable}", dtypes, place.below("types", variable))
    known = [(name, vocabulary.get(name)) for name in names]
    for index, (name, operation) in enumerate(known):
        if operation is None:
            faults.add(
                "unknown-operation",
                place.at("operations", index),
                f"unknown operation {show(name)}",
                suggest(name, vocabulary.names, "name an operation of configs/operations.yaml."),
            )
    found = tuple(dict.fromkeys(operation for _, operation in known if operation is not None))
    _types(found, types, place, vocabulary, faults)
    values = _attributes(found, attributes, place, faults)
    if ndim is not None and ndim[1] is not None and ndim[0] > ndim[1]:
        faults.add(
            "ndim-order",
            place.at("ndim"),
            f"ndim has a min of {ndim[0]} above its max of {ndim[1]}",
            "swap the two.",
        )
    opened = {variable for operation in found for variable in operation.open_variables}
    return Row(
        tuple(dict.fromkeys(names)),
        tuple((v, tuple(dict.fromkeys(types[v]))) for v in sorted(types) if v in opened),
        values,
        ndim,
        place.at(),
    )


def _types(
    operations: Sequence[Operation],
    types: Mapping[str, Sequence[str]],
    place: Place,
    vocabulary: Vocabulary,
    faults: Faults,
) -> None:
    for operation in operations:
        for variable in operation.open_variables:
            if variable not in types:
                faults.add(
                    "missing-type-variable",
                    place.key("types") if types else place.at(),
                    f"type variable {variable} of {operation.name} is left out; "
                    f"it allows {_some(operation.dtypes(variable) or ())}",
                    f"name the dtypes that are covered: types: {{{variable}: [...]}}.",
                )
    for variable, dtypes in types.items():
        _unknown_dtypes(variable, dtypes, place, vocabulary, faults)
        for operation in operations:
            allowed = operation.dtypes(variable)
            if allowed is None:
                mine = [name for name, _ in operation.types]
                faults.add(
                    "unknown-type-variable",
                    place.key("types", variable),
                    f"{operation.name} has no type variable {show(variable)}",
                    f"write one of: {', '.join(mine)}; or give {operation.name} a row of its own."
                    if mine
                    else f"leave types out: {operation.name} has no type variable.",
                )
                continue
            for index, dtype in enumerate(dtypes):
                if dtype not in allowed and dtype in vocabulary.known_dtypes:
                    faults.add(
                        "forbidden-dtype",
                        place.at("types", variable, index),
                        f"{operation.name} does not allow {dtype} for {variable}",
                        f"it allows {_some(allowed)}.",
                    )


def _unknown_dtypes(
    variable: str, dtypes: Sequence[str], place: Place, vocabulary: Vocabulary, faults: Faults
) -> None:
    for index, dtype in enumerate(dtypes):
        if dtype not in vocabulary.known_dtypes:
            ours = FOREIGN_NAMES.get(dtype.lower())
            advice = "write a dtype of ONNX, such as float32."
            faults.add(
                "unknown-dtype",
                place.at("types", variable, index),
                f"unknown dtype {show(dtype)}",
                f"did you mean {ours!r}?"
                if ours
                else suggest(dtype, vocabulary.known_dtypes, advice),
            )


def _attributes(
    operations: Sequence[Operation],
    attributes: Mapping[str, Sequence[Any]],
    place: Place,
    faults: Faults,
) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    kept: list[tuple[str, tuple[Any, ...]]] = []
    for name in sorted(attributes):
        values = tuple(_frozen(value) for value in attributes[name])
        for operation in operations:
            formal = operation.attribute(name)
            if formal is None:
                mine = [attribute.name for attribute in operation.attributes]
                near = nearest(name, mine)
                faults.add(
                    "unknown-attribute",
                    place.key("attributes", name),
                    f"{operation.name} has no attribute {show(name)}",
                    f"did you mean {near!r}?" if near else _own(operation, mine),
                )
                continue
            normal = [_value(v, i, formal, operation, place, faults) for i, v in enumerate(values)]
            if formal is operations[0].attribute(name):
                faults.twice(f"attributes.{name}", normal, place.below("attributes", name))
                values = tuple(dict.fromkeys(normal))
        kept.append((name, values))
    return tuple(kept)


def _value(
    value: Any,
    index: int,
    formal: FormalAttribute,
    operation: Operation,
    place: Place,
    faults: Faults,
) -> Any:
    kind = expected(formal.type)
    may_be_omitted = not formal.required and formal.default is None
    if value is None and may_be_omitted:
        return None
    if kind is not None and accepts(formal.type, value):
        return normalised(formal.type, value)
    if kind is None:
        message = (
            f"{formal.name} of {operation.name} is a {formal.type}, which has no values to list"
        )
        fix = "leave the attribute out."
    else:
        message = f"{formal.name} of {operation.name} is {kind}, got {show(value)}"
        fix = f"write {kind}" + (", or null for: omitted." if may_be_omitted else ".")
    faults.add("attribute-value", place.at("attributes", formal.name, index), message, fix)
    return ("wrong", index)


def _own(operation: Operation, mine: Iterable[str]) -> str:
    names = ", ".join(mine)
    rest = f"give {operation.name} a row of its own."
    return f"write one of: {names}; or {rest}" if names else rest


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, (list, tuple)) else value


def _some(dtypes: Sequence[str]) -> str:
    shown = ", ".join(dtypes[:12])
    return f"{shown} and {len(dtypes) - 12} more" if len(dtypes) > 12 else shown
