"""`kind: Operations` manifests: from their models to the vocabulary, and their rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rlx.freeze.claims import FOREIGN_NAMES
from rlx.freeze.faults import show
from rlx.freeze.nearest import later
from rlx.freeze.vocabulary import packaged_vocabulary
from rlx.operations import DEFAULT_DOMAIN, Formal, FormalAttribute, Operation, Vocabulary
from rlx.operations.encoding import digest
from rlx.operations.values import ATTRIBUTE_TYPES, accepts, normalised

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rlx.freeze.content import Content
    from rlx.freeze.faults import Faults, Node
    from rlx.manifest.models import OperationModel

_NAME = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_.-]*::)?[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
PACKAGED = "packaged"


def vocabulary(nodes: Sequence[Node], base: Content, faults: Faults) -> Vocabulary:
    """The packaged vocabulary, or the one among the manifests, with all that the rest declare."""
    own = [node for node in nodes if node.manifest.layer == PACKAGED]
    others = [node for node in nodes if node.manifest.layer != PACKAGED]
    if own:
        opset = next((n.model.opset for n in own if n.model.opset), 0)
        known = Vocabulary((), opset)
    else:
        known = base.vocabulary or packaged_vocabulary()
    made: dict[str, Operation] = {one.name: one for one in known.operations}
    dtypes = known.known_dtypes | {
        dtype
        for node in own
        for model in node.model.operations
        for values in model.types.values()
        for dtype in values
    }
    lowerings: list[tuple[Operation, Node]] = []
    for node in (*own, *others):
        if node in others and node.model.opset is not None:
            faults.add(
                "opset",
                node.at("opset"),
                "opset is the packaged vocabulary's alone",
                "delete it.",
            )
        for index, model in enumerate(node.model.operations):
            place = node.below("operations", index)
            one = operation(model, place, node in own, dtypes, faults)
            earlier = made.setdefault(one.name, one)
            if earlier is not one and earlier.lowering and one.lowering:
                faults.add(
                    "duplicate-lowering",
                    place.at("lowering"),
                    f"operation {show(one.name)} already has a lowering, in its declaration at "
                    f"{earlier.origin}",
                    "delete one of the two declarations, or choose another name.",
                    earlier.origin,
                )
            elif earlier is one and one.lowering is not None:
                lowerings.append((one, place.below("lowering")))
            elif earlier is not one:
                faults.add(
                    "duplicate-operation",
                    place.at("name"),
                    f"operation {show(one.name)} is already declared, at {earlier.origin}",
                    "delete one of them, or choose another name.",
                    earlier.origin,
                )
    merged = tuple(sorted(made.values(), key=lambda one: one.name))
    made_vocabulary = Vocabulary(merged, known.opset, digest(merged, known.opset))
    if lowerings:
        from rlx.freeze import lowerings as rules  # onnx parses them, and takes long to import

        rules.check(lowerings, made_vocabulary, faults)
    return made_vocabulary


def operation(
    model: OperationModel, node: Node, packaged: bool, dtypes: Iterable[str], faults: Faults
) -> Operation:
    """One operation; whatever is wrong with it is noted."""
    name = Vocabulary.canonical(model.name)
    if not packaged and ("::" not in name or name.startswith(("ai.onnx.", f"{DEFAULT_DOMAIN}::"))):
        faults.add(
            "operation-name",
            node.at("name"),
            f"operation {show(name)} is in a domain of ONNX",
            "write it as domain::Name, with a domain of your own, such as acme::Fft.",
        )
    elif name.startswith("rlx::"):
        faults.add(
            "operation-name",
            node.at("name"),
            f"operation {show(name)} is in a domain of rlx",
            "write it as domain::Name, with a domain of your own, such as acme::Fft.",
        )
    elif not _NAME.fullmatch(name):
        faults.add(
            "operation-name",
            node.at("name"),
            f"an operation must be Name or domain::Name, got {show(name)}",
            "write it as acme::Fft.",
        )
    if model.lowering is not None and model.body:
        faults.add(
            "duplicate-lowering",
            node.at("body"),
            f"operation {show(name)} has a lowering, and `body: true` says that ONNX has one too",
            "delete body: it is for operations of ONNX.",
            node.at("lowering"),
        )
    for section in ("inputs", "outputs", "attributes"):
        faults.twice(section, [one.name for one in getattr(model, section)], node.below(section))
    known = frozenset(dtypes)
    for variable, values in model.types.items():
        faults.twice(f"types.{variable}", values, node.below("types", variable))
        for index, value in enumerate(values):
            if value not in known:
                _unknown("dtype", value, known, node.below("types", variable, index), faults)
    for section in ("inputs", "outputs"):
        for index, formal in enumerate(getattr(model, section)):
            if formal.type not in model.types and formal.type not in known:
                names = (*model.types, *known)
                _unknown("type", formal.type, names, node.below(section, index, "type"), faults)
    return Operation(
        name=name,
        since=model.since,
        inputs=tuple(_formal(one) for one in model.inputs),
        outputs=tuple(_formal(one) for one in model.outputs),
        attributes=_attributes(model, node, faults),
        types=tuple((variable, tuple(model.types[variable])) for variable in sorted(model.types)),
        deterministic=model.deterministic,
        body=model.body,
        lowering=model.lowering,
        origin=node.at(),
    )


def _formal(model: object) -> Formal:
    return Formal(*(getattr(model, name) for name in Formal.__slots__))


def _attributes(model: OperationModel, node: Node, faults: Faults) -> tuple[FormalAttribute, ...]:
    made = []
    for index, one in enumerate(model.attributes):
        default = tuple(one.default) if isinstance(one.default, list) else one.default
        place = node.below("attributes", index)
        if one.type not in ATTRIBUTE_TYPES:
            _unknown("attribute type", one.type, ATTRIBUTE_TYPES, place.below("type"), faults)
        elif default is not None and not accepts(one.type, default):
            faults.add(
                "attribute-default",
                place.at("default"),
                f"the default of {one.name} must be {one.type}, got {show(default)}",
                "write a value of that type, or leave default out.",
            )
        elif default is not None:
            default = normalised(one.type, default)
        made.append(FormalAttribute(one.name, one.type, one.required, default))
    return tuple(made)


def _unknown(what: str, name: str, known: Iterable[str], place: Node, faults: Faults) -> None:
    faults.add(
        "operation-type",
        place.at(),
        f"unknown {what} {show(name)}",
        f"did you mean {FOREIGN_NAMES[name]!r}?"
        if name in FOREIGN_NAMES
        else later(name, known, f"write a known {what}."),
    )
