"""The attribute values that coverage names, each checked against the operation's schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.freeze.faults import show
from rlx.operations.values import LISTS, accepts, expected, normalised
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rlx.freeze.faults import Faults, Place
    from rlx.operations import FormalAttribute, Operation


def limited(
    operations: Sequence[Operation],
    attributes: Mapping[str, Sequence[Any]],
    place: Place,
    faults: Faults,
) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Each limited attribute with its values as nodes have them, sorted by name."""
    kept: list[tuple[str, tuple[Any, ...]]] = []
    for name in sorted(attributes):
        values = tuple(attributes[name])
        for number, operation in enumerate(operations):
            formal = operation.attribute(name)
            if formal is None and faults.full:
                break
            if formal is None:
                _unknown(name, operation, place, faults)
                continue
            at = place.below("attributes", name)
            normal = tuple(
                _value(v, i, formal, operation, at, faults) for i, v in enumerate(values)
            )
            if number == 0:
                faults.twice(f"attributes.{name}", normal, at)
                values = tuple(dict.fromkeys(normal))
        kept.append((name, values))
    return tuple(kept)


def _unknown(name: str, operation: Operation, place: Place, faults: Faults) -> None:
    mine = [attribute.name for attribute in operation.attributes]

    def meant() -> str:
        near = nearest(name, mine)
        if near:
            return f"did you mean {near!r}?"
        if mine:
            return f"write one of: {', '.join(mine)}; or give {operation.name} a row of its own."
        return f"leave it out, or give {operation.name} a row of its own."

    message = f"{operation.name} has no attribute {show(name)}"
    faults.add("unknown-attribute", place.key("attributes", name), message, meant)


def _value(
    value: Any,
    index: int,
    formal: FormalAttribute,
    operation: Operation,
    place: Place,
    faults: Faults,
) -> Any:
    """The value as a node has it; None: a node omits the attribute, and it has no default."""
    may_be_omitted = not formal.required and formal.default is None
    if value is None and may_be_omitted:
        return None
    if expected(formal.type) is not None and accepts(formal.type, value):
        return normalised(formal.type, value)
    what = f"{formal.name} of {operation.name}"
    message, fix = _explained(value, what, formal, may_be_omitted)
    faults.add("attribute-value", place.at(index), message, fix)
    return ("wrong", index)


def _explained(
    value: Any, what: str, formal: FormalAttribute, may_be_omitted: bool
) -> tuple[str, str]:
    kind = expected(formal.type)
    if kind is None:
        return f"{what} is a {formal.type}, which has no values to list", "leave it out."
    if value is None:
        default = formal.default
        fix = (
            "delete it." if default is None else f"write {show(default)}, which omitting it means."
        )
        return f"{what} is never omitted, got null", fix
    fix = f"write {kind}"
    if formal.type in LISTS and accepts(LISTS[formal.type], value):
        fix = f"write each value as {kind}, such as [[{show(value)}, {show(value)}]]"
    omitted = "; null stands for: omitted" if may_be_omitted else ""
    return f"{what} is {kind}, got {show(value)}", f"{fix}{omitted}."
