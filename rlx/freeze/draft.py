"""From a manifest's backend to a registration, with the place of each field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rlx.freeze import claims, probes
from rlx.freeze.digest import coverage_digest
from rlx.freeze.faults import Node, Spot
from rlx.registration import Coverage, Registration, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rlx.freeze.faults import Faults, Place
    from rlx.manifest.models import BackendModel, InlineCoverageModel, OverrideModel, ProbeModel
    from rlx.operations import Vocabulary
    from rlx.origin import Origin
    from rlx.registration import OptionValue, Probe, Row

PLAIN = (
    *(
        "device",
        "target",
        "rank",
        "dispatches",
        "reference_oracle",
        "software",
        "enabled",
        "factory",
    ),
    *("install", "payload_format", "compiler", "materializer", "capabilities", "safe_options"),
)
"""The fields that a registration takes over from the manifest as they are."""
OVERRIDABLE = ("rank", "enabled", "dispatches", "capabilities", "install", "probes", "coverage")


@dataclass(frozen=True, slots=True)
class Draft:
    """A registration that is being put together, and where each field that a layer wrote stands."""

    registration: Registration
    group: int
    """Which layer registered it; -1: the base."""
    places: Mapping[str, Place]

    def place(self, field: str) -> Place:
        """The node of a field; a compiled registration knows one place for each."""
        return self.places.get(field) or Spot(self.registration.source(field))


def registration(
    model: BackendModel,
    node: Node,
    group: int,
    vocabulary: Callable[[], Vocabulary],
    faults: Faults,
) -> Draft:
    """The registration that one entry of `backends` makes."""
    written = [name for name in type(model).model_fields if name in model.model_fields_set]
    fields = {name: getattr(model, name) for name in PLAIN if name in written}
    fields["target"] = model.target or model.id
    places: dict[str, Place] = {name: node.below(name) for name in written}
    claimed = {}
    for name in ("coverage", "compiles"):
        value = getattr(model, name)
        if value is not None:
            places[name] = stands = _stands(value, node.below(name))
            claimed[name] = coverage(_claims(value, stands), stands, vocabulary, faults)
    values: dict[str, Any] = {
        **fields,
        "probes": _probes(model.probes, node.below("probes"), faults),
        "coverage": claimed.get("coverage", Coverage()),
        "compiles": claimed.get("compiles"),
        "options": _options((), model.options),
    }
    history = {
        name: (Setting(_shown(name, values[name], getattr(model, name)), node.at(name)),)
        for name in written
        if name not in ("id", "replace", "options") and getattr(model, name) is not None
    }
    for key, value in values["options"]:
        places[f"options.{key}"] = node.below("options", key)
        history[f"options.{key}"] = (Setting(value, node.at("options", key)),)
    made = Registration(id=model.id, **values, origin=node.at(), history=tuple(history.items()))
    return Draft(made, group, places)


def replacing(old: Draft, new: Draft) -> Draft:
    """The new draft, whose fields remember what they were in the one it replaces."""
    history = tuple(
        (name, (*old.registration.settings(name), *settings))
        for name, settings in new.registration.history
    )
    return Draft(replace(new.registration, history=history), new.group, new.places)


def overridden(
    draft: Draft,
    model: OverrideModel,
    node: Node,
    vocabulary: Callable[[], Vocabulary],
    faults: Faults,
) -> Draft:
    """The draft after an override of a later layer: what the override leaves out stays."""
    before = draft.registration
    history = dict(before.history)
    places = dict(draft.places)
    changed: dict[str, Any] = {}
    for name in OVERRIDABLE:
        written = value = getattr(model, name)
        if value is None:
            continue
        places[name] = node.below(name)
        if name == "probes":
            value = _probes(value, node.below("probes"), faults)
        elif name == "coverage":
            places[name] = stands = _stands(written, node.below(name))
            value = coverage(_claims(written, stands), stands, vocabulary, faults)
        changed[name] = value
        setting = Setting(_shown(name, value, written), node.at(name))
        history[name] = (*history.get(name, ()), setting)
    if model.options:
        changed["options"] = _options(before.options, model.options)
        for key, value in changed["options"]:
            if key in model.options:
                name = f"options.{key}"
                places[name] = node.below("options", key)
                setting = Setting(value, node.at("options", key))
                history[name] = (*history.get(name, ()), setting)
    made = replace(before, **changed, history=tuple(history.items()))
    return Draft(made, draft.group, places)


def _shown(name: str, value: Any, model_value: Any) -> Any:
    """The value as provenance shows it: one line, however much it holds."""
    if name == "probes":
        return tuple(probes.text(one) for one in value)
    if name in ("coverage", "compiles"):
        return model_value if isinstance(model_value, str) else f"{len(value.rows)} rows"
    return value


def _probes(models: Sequence[ProbeModel], node: Node, faults: Faults) -> tuple[Probe, ...]:
    trusted = node.manifest.trusted
    return tuple(probes.probe(one, node.below(i), trusted, faults) for i, one in enumerate(models))


def _options(before: Any, options: Mapping[str, Any]) -> tuple[tuple[str, OptionValue], ...]:
    return tuple(sorted({**dict(before), **options}.items()))


def _stands(value: str | InlineCoverageModel, node: Node) -> Node:
    """Where the claims stand: inside the registration, or in a file."""
    if not isinstance(value, str):
        return node
    manifest = node.manifest.reference(value)
    assert manifest is not None, f"the loader attached no {value}"
    return Node(manifest)


def _claims(value: str | InlineCoverageModel, stands: Node) -> Any:
    return stands.model if isinstance(value, str) else value


def coverage(
    model: Any, node: Node, vocabulary: Callable[[], Vocabulary], faults: Faults
) -> Coverage:
    """The frozen claims of a coverage file, or of coverage written inside a registration."""
    own = tuple(
        claims.row(
            one.operations,
            one.types,
            one.attributes,
            None if one.ndim is None else (one.ndim.min, one.ndim.max),
            node.below("rows", index),
            vocabulary(),
            faults,
        )
        for index, one in enumerate(model.rows)
    )
    rows = (*_inherited(model, node, vocabulary, faults), *own)
    evidence = model.evidence
    if evidence is None:
        made = Coverage(rows)
    else:
        inherits = evidence.kind == "inherited"
        if inherits != (evidence.backend is not None):
            _evidence(inherits, node, faults)
        made = Coverage(rows, evidence.kind, evidence.backend, evidence.engine, evidence.platform)
    return replace(made, digest=coverage_digest(made))


def _inherited(
    model: Any, node: Node, vocabulary: Callable[[], Vocabulary], faults: Faults
) -> tuple[Row, ...]:
    """The rows of the file that this one inherits, without the operations that it leaves out."""
    inherits = getattr(model, "inherits", None)
    left_out = {name: getattr(model, name, None) for name in ("without", "without_dtypes")}
    if inherits is None:
        for name, values in left_out.items():
            if values is not None:
                what = "operations" if name == "without" else "dtypes"
                message = f"{name} leaves {what} out, but no rows are inherited"
                fix = "delete it, or name the file with inherits: FILE."
                faults.add("inherits", node.key(name), message, fix)
        return ()
    if model.evidence.kind != "inherited":
        message = f"rows are inherited, and the evidence is {model.evidence.kind}"
        fix = "write kind: inherited, and backend: ID."
        faults.add("inherits", node.at("evidence", "kind"), message, fix)
    parent = node.manifest.reference(inherits)
    assert parent is not None, f"the loader attached no {inherits}"
    rows = coverage(parent.model, Node(parent), vocabulary, faults).rows
    for name, leave_out in (("without", claims.without), ("without_dtypes", claims.without_dtypes)):
        rows = leave_out(rows, left_out[name] or (), node.below(name), vocabulary(), faults)
    return rows


def _evidence(inherits: bool, node: Node, faults: Faults) -> None:
    origin: Origin = node.at("evidence") if inherits else node.at("evidence", "backend")
    if inherits:
        message, fix = (
            "inherited evidence names no backend",
            "add backend: ID, whose claims these are.",
        )
    else:
        message, fix = (
            "evidence names a backend but is not inherited",
            "delete backend, or write kind: inherited.",
        )
    faults.add("evidence", origin, message, fix)
