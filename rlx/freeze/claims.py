"""Coverage: each claim is checked against the vocabulary, and becomes a frozen row."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rlx.freeze.attributes import limited
from rlx.freeze.faults import show
from rlx.freeze.nearest import later
from rlx.registration import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rlx.freeze.faults import Faults, Place
    from rlx.operations import Operation, Vocabulary
    from rlx.origin import Origin

_WORDS = re.compile(r"[a-z0-9]+")
"""The dtypes inside `seq(…)`, `optional(…)` and `map(…)`."""
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
    spelt = vocabulary.names if any(one is None for _, one in known) else ()
    for index, (name, operation) in enumerate(known):
        if operation is None:
            _unknown_operation(name, spelt, place.at("operations", index), faults)
    found = tuple({name: one for name, one in known if one is not None}.values())
    _types(found, types, place, vocabulary, faults)
    values = limited(found, attributes, place, faults)
    if ndim is not None and ndim[1] is not None and ndim[0] > ndim[1]:
        faults.add(
            "ndim-order",
            place.at("ndim"),
            f"ndim has a min of {ndim[0]} above its max of {ndim[1]}",
            "swap the two.",
        )
    elif ndim is not None and ndim[0] < 0:
        faults.add(
            "ndim-order",
            place.at("ndim"),
            f"ndim has a min of {ndim[0]}, and a tensor has at least 0 dimensions",
            "write 0 or more.",
        )
    opened = {variable for operation in found for variable in operation.open_variables}
    return Row(
        tuple(dict.fromkeys(names)),
        tuple((v, tuple(dict.fromkeys(types[v]))) for v in sorted(types) if v in opened),
        values,
        ndim,
        place.at(),
    )


def without(
    rows: Sequence[Row],
    operations: Sequence[str],
    place: Place,
    vocabulary: Vocabulary,
    faults: Faults,
) -> tuple[Row, ...]:
    """The rows without these operations; a row that is about no other is left out."""
    names = tuple(vocabulary.canonical(name) for name in operations)
    faults.twice("without", names, place)
    for index, name in enumerate(names):
        if vocabulary.get(name) is None:
            _unknown_operation(name, vocabulary.names, place.at(index), faults)
    left = ((row, tuple(one for one in row.operations if one not in names)) for row in rows)
    return tuple(
        row if len(kept) == len(row.operations) else replace(row, operations=kept)
        for row, kept in left
        if kept
    )


def without_dtypes(
    rows: Sequence[Row],
    dtypes: Sequence[str],
    place: Place,
    vocabulary: Vocabulary,
    faults: Faults,
) -> tuple[Row, ...]:
    """The rows without these dtypes; a row to which a type variable is left nothing is left out."""
    faults.twice("without_dtypes", dtypes, place)
    for index, name in enumerate(dtypes):
        if name not in vocabulary.known_dtypes or "(" in name:
            known = [one for one in vocabulary.known_dtypes if "(" not in one]
            fix = later(name, known, "name a dtype by its name in ONNX.")
            faults.add("unknown-dtype", place.at(index), f"unknown dtype {show(name)}", fix)
    gone = set(dtypes)
    found = []
    for row in rows:
        types = tuple(
            (variable, tuple(one for one in allowed if gone.isdisjoint(_WORDS.findall(one))))
            for variable, allowed in row.types
        )
        if all(allowed for _, allowed in types):
            found.append(row if types == row.types else replace(row, types=types))
    return tuple(found)


def _unknown_operation(name: str, known: Iterable[str], origin: Origin, faults: Faults) -> None:
    fix = later(name, known, "name an operation of configs/operations.yaml.")
    faults.add("unknown-operation", origin, f"unknown operation {show(name)}", fix)


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
            if faults.full:
                return
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
                        f"write some of those it allows: {_some(allowed)}.",
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
                else later(dtype, vocabulary.known_dtypes, advice),
            )


def _some(dtypes: Sequence[str]) -> str:
    shown = ", ".join(dtypes[:12])
    return f"{shown} and {len(dtypes) - 12} more" if len(dtypes) > 12 else shown
