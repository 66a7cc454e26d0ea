"""`rlx::Barrier`: what a node of it may be, and its types, which are those of what it is given.

A barrier gives each of its values on as it is. It divides the program's nodes, in their order,
into stages: all of one stage is done before anything of the next begins. With `repeat` n, the
stage before it is run n times, and each time but the last its values become, by position, those
that the barrier at the stage's beginning gives on. `stages` says how many of the stages before it
are repeated together, 1 where it is left out; `fixpoint` 1 ends the repetition early, once a pass
has changed none of the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx

from rlx.errors import ProgramError
from rlx.program.schemas import operation_name, value_type
from rlx.program.structure import label, subgraphs
from rlx.program.types import BARRIER, ValueType

FIX = "see docs/barriers.md."
_ATTRIBUTES = ("fixpoint", "repeat", "stages")
_NAME = BARRIER.partition("::")[2].encode()


def is_barrier(node: onnx.NodeProto) -> bool:
    """Whether a node is a barrier."""
    return operation_name(node.domain, node.op_type) == BARRIER


@dataclass(frozen=True, slots=True)
class Identities:
    """A serialised model whose barriers are Identity nodes, and the nodes as they were."""

    data: bytes
    nodes: tuple[onnx.NodeProto, ...]


def as_identities(data: bytes) -> Identities | None:
    """The model as ONNX's inference can read it; None: it has no barriers.

    Only the graph itself is looked at: elsewhere, barriers are refused.
    """
    if _NAME not in data:
        return None
    model = onnx.ModelProto()
    model.ParseFromString(data)
    nodes = tuple(onnx.NodeProto.FromString(one.SerializeToString()) for one in model.graph.node)
    if not any(map(is_barrier, nodes)):
        return None
    del model.graph.node[:]
    for node in nodes:
        if not is_barrier(node):
            model.graph.node.append(node)
            continue
        for given, made in _pairs(node):
            model.graph.node.add(op_type="Identity", name=node.name, input=[given], output=[made])
    if all(entry.domain for entry in model.opset_import):
        model.opset_import.add(domain="", version=13)
    return Identities(model.SerializeToString(), nodes)


def with_barriers(found: onnx.ModelProto, given: Identities) -> onnx.ModelProto:
    """What was inferred, with the barriers where they were."""
    typed = iter([onnx.NodeProto.FromString(one.SerializeToString()) for one in found.graph.node])
    del found.graph.node[:]
    for node in given.nodes:
        if is_barrier(node):
            found.graph.node.append(node)
            for _ in _pairs(node):
                next(typed)
        else:
            found.graph.node.append(next(typed))
    return found


def _pairs(node: onnx.NodeProto) -> list[tuple[str, str]]:
    return [(x, y) for x, y in zip(node.input, node.output, strict=False) if x and y]


def check_barriers(graph: onnx.GraphProto) -> None:
    """Refuse barriers that are not as they must be.

    Raises:
        ProgramError: one stands within a graph of another node, lacks a value, or has an
            attribute that there is not; or what it repeats is not there.
    """
    found: list[onnx.NodeProto] = []
    for index, node in enumerate(graph.node):
        for inner in subgraphs(node):
            _check_without(inner, label(node, index))
        if is_barrier(node):
            _check(node, label(node, index))
            found.append(node)
    ends: list[tuple[int, int]] = []
    for place, node in enumerate(found):
        if _integer(node, "repeat") > 1:
            first = place - _integer(node, "stages") + 1
            _check_region(found, place, first, ends)
            ends.append((first, place))


def _check_without(graph: onnx.GraphProto, around: str) -> None:
    for index, node in enumerate(graph.node):
        if is_barrier(node):
            raise ProgramError(
                f"{label(node, index)} stands in a graph of {around}: a barrier divides the "
                "program's own nodes",
                fix="put it before or after that node.",
            )
        for inner in subgraphs(node):
            _check_without(inner, around)


def _check(node: onnx.NodeProto, where: str) -> None:
    if not node.input or "" in node.input:
        raise ProgramError(f"{where} lacks a value: it takes one or more, none left out", fix=FIX)
    if len(node.input) != len(node.output):
        raise ProgramError(
            f"{where} takes {len(node.input)} values and gives {len(node.output)}: "
            "it gives each one on",
            fix="name as many outputs as inputs.",
        )
    for attribute in node.attribute:
        name = attribute.name
        if name not in _ATTRIBUTES:
            raise ProgramError(
                f"{where} has an unknown attribute {name!r}",
                fix=f"it may have {', '.join(_ATTRIBUTES)}.",
            )
        if attribute.type != onnx.AttributeProto.INT:
            raise ProgramError(f"{where}: its {name} must be a whole number", fix=FIX)
        if not (attribute.i in (0, 1) if name == "fixpoint" else attribute.i >= 1):
            allowed = "0 or 1" if name == "fixpoint" else "at least 1"
            raise ProgramError(f"{where}: its {name} must be {allowed}, got {attribute.i}", fix=FIX)
    written = {attribute.name for attribute in node.attribute}
    if "repeat" not in written and written:
        raise ProgramError(
            f"{where} states {sorted(written)[0]}, and no repeat",
            fix="state repeat: how often what is before it is run, at most.",
        )


def _check_region(
    barriers: list[onnx.NodeProto], place: int, first: int, others: list[tuple[int, int]]
) -> None:
    """The stages from `first` to `place` begin at a barrier, and repeat no part of a repetition."""
    node = barriers[place]
    where = label(node)
    if first < 1:
        stages = _integer(node, "stages")
        what = "the stage" if stages == 1 else f"{stages} stages"
        raise ProgramError(
            f"{where} repeats {what} before it, and no barrier stands where that begins",
            fix="put a barrier there, which gives the values on that each pass begins with.",
        )
    begin = barriers[first - 1]
    if len(begin.input) != len(node.input):
        raise ProgramError(
            f"{where} has {len(node.input)} values for the next pass, and {label(begin)}, "
            f"where it begins, gives {len(begin.input)} on",
            fix="let both have the same values, in the same order.",
        )
    for start, end in others:
        if start < first <= end:
            raise ProgramError(
                f"{where} repeats a part only of what {label(barriers[end])} repeats",
                fix="let one repetition hold all of the other, or nothing of it.",
            )


def check_repeats(graph: onnx.GraphProto) -> None:
    """Refuse a repetition whose values change their type from pass to pass.

    Raises:
        ProgramError: a value that is given back has another dtype or shape than the first one.
    """
    barriers = [node for node in graph.node if is_barrier(node)]
    repeating = [place for place, node in enumerate(barriers) if _integer(node, "repeat") > 1]
    if not repeating:
        return
    types = {
        value.name: value_type(value.type)
        for value in (*graph.value_info, *graph.output, *graph.input)
    }
    for place in repeating:
        node = barriers[place]
        begin = barriers[place - _integer(node, "stages")]
        for first, again in zip(begin.input, node.input, strict=True):
            one, two = types.get(first), types.get(again)
            if one is not None and two is not None and not _may_be_same(one, two):
                raise ProgramError(
                    f"{label(node)} gives {_shown(again, two)} back as {_shown(first, one)}: "
                    "a value keeps its type from pass to pass",
                    fix="convert it within the stage.",
                )


def _may_be_same(one: ValueType, two: ValueType) -> bool:
    if one.dtype and two.dtype and (one.dtype, one.kind) != (two.dtype, two.kind):
        return False
    if one.shape is None or two.shape is None:
        return True
    return len(one.shape) == len(two.shape) and all(
        a == b or not (isinstance(a, int) and isinstance(b, int))
        for a, b in zip(one.shape, two.shape, strict=True)
    )


def _shown(name: str, found: ValueType) -> str:
    sizes = "" if found.shape is None else ",".join(str(size or "?") for size in found.shape)
    return f"'{name}' {found.dtype}" + ("" if found.shape is None else f"[{sizes}]")


def _integer(node: onnx.NodeProto, name: str) -> int:
    """The value of an attribute, 1 where it is not written."""
    return next(_values(node, name), 1)


def _values(node: onnx.NodeProto, name: str) -> Iterator[int]:
    return (int(attribute.i) for attribute in node.attribute if attribute.name == name)
