"""Merging layers: what a later layer adds, replaces and overrides; every fault at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from rlx.errors import ConfigError
from rlx.freeze import across, draft, operations, rules, trust
from rlx.freeze.content import Content
from rlx.freeze.declared import Declared
from rlx.freeze.digest import digest
from rlx.freeze.draft import Draft
from rlx.freeze.faults import Faults, Node, show
from rlx.freeze.nearest import suggest
from rlx.freeze.routing import Routes
from rlx.freeze.vocabulary import packaged_vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rlx.manifest.loader import Manifest
    from rlx.manifest.models import BackendModel, OverrideModel
    from rlx.operations import Vocabulary
    from rlx.origin import Origin


def merge(
    manifests: Iterable[Manifest], base: Content | None = None, notes: tuple[str, ...] = ()
) -> Content:
    """The content of a registry: `base`, and above it the manifests, in layer order.

    Raises:
        ConfigError: some rule is broken; it holds every fault of every file.
    """
    files = tuple(manifests)
    merging = Merging(files, base or Content())
    for number, group in enumerate(layers(files)):
        merging.add(number, group)
    return merging.content(notes)


def layers(files: Sequence[Manifest]) -> list[list[Manifest]]:
    """The files in groups of equal precedence: of a layer all, of the arguments each alone."""
    numbered = enumerate(files)
    groups = groupby(
        numbered,
        key=lambda pair: (pair[1].layer, pair[0] if pair[1].layer == "argument" else 0),
    )
    return [sorted((one for _, one in group), key=lambda one: one.path) for _, group in groups]


@dataclass(slots=True)
class Merging:
    """What the layers so far add up to."""

    files: tuple[Manifest, ...]
    base: Content
    faults: Faults = field(default_factory=Faults)
    drafts: dict[str, Draft] = field(init=False)
    declared: Declared = field(init=False)
    routes: Routes = field(init=False)
    _vocabulary: Vocabulary | None = field(init=False)
    _overridden: dict[tuple[str, str], tuple[int, Origin]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.drafts = {one.id: Draft(one, -1, {}) for one in self.base.registrations}
        self.declared = Declared.of(self.base)
        self.routes = Routes(self.base.routing)
        self._vocabulary = self.base.vocabulary
        added = [Node(one) for one in self.files if one.kind == "Operations"]
        if added:
            self._vocabulary = operations.vocabulary(added, self.base, self.faults)

    def vocabulary(self) -> Vocabulary:
        """The operations of all layers, read when the first claim needs them."""
        if self._vocabulary is None:
            self._vocabulary = packaged_vocabulary()
        return self._vocabulary

    def add(self, number: int, group: list[Manifest]) -> None:
        """One layer: first all that it registers, then its overrides of earlier layers."""
        allowed = []
        for manifest in group:
            node = Node(manifest)
            if not manifest.trusted:
                trust.check_manifest(node, self.faults)
            elif manifest.kind == "Backends":
                self.declared.add(node, self.faults)
                for index, model in enumerate(node.model.backends):
                    self._register(model, node.below("backends", index), number)
            elif manifest.kind == "Coverage":
                draft.coverage(node.model, node, self.vocabulary, self.faults)
            if manifest.kind == "Backends":
                allowed.append(node)
        for node in allowed:
            own: dict[str, Origin] = {}
            ids = tuple(self.drafts)
            for index, model in enumerate(node.model.overrides):
                self._override(model, node.below("overrides", index), number, own, ids)
            self.routes.add(node, number, self.faults)

    def _register(self, model: BackendModel, node: Node, number: int) -> None:
        made = draft.registration(model, node, number, self.vocabulary, self.faults)
        earlier = self.drafts.get(model.id)
        if earlier is None:
            self.drafts[model.id] = made
            return
        same = earlier.group == number
        origin = earlier.place("id").at() if same else earlier.registration.origin
        if same:
            fix = "delete one of them, or choose another id."
            if node.manifest.layer == "plugin" and _plugin(origin) != _plugin(node.at()):
                fix = "uninstall one of the two plugins, or have its author choose another id."
        elif model.replace:
            self.drafts[model.id] = draft.replacing(earlier, made)
            return
        else:
            fix = "add replace: true, or choose another id; to change a value, write an override."
        message = f"backend {show(model.id)} is already registered, at {origin}"
        self.faults.add("duplicate-id", node.at("id"), message, fix, origin)

    def _override(
        self,
        model: OverrideModel,
        node: Node,
        number: int,
        own: dict[str, Origin],
        ids: tuple[str, ...],
    ) -> None:
        origin = node.at("id")
        earlier = own.setdefault(model.id, origin)
        if earlier is not origin:
            self.faults.add(
                "duplicate-override",
                origin,
                f"{show(model.id)} is overridden twice in one file, first at {earlier}",
                "write both in one override.",
                earlier,
            )
            return
        target = self.drafts.get(model.id)
        if not node.manifest.trusted and not trust.check_override(
            model, None if target is None else target.registration, node, self.faults
        ):
            return
        if target is None:
            self.faults.add(
                "unknown-override",
                origin,
                f"override of unknown backend {show(model.id)}",
                partial(_unknown, model.id, ids),
            )
        elif target.group == number:
            place = target.place("id").at()
            self.faults.add(
                "unknown-override",
                origin,
                f"{show(model.id)} is registered in this same layer, at {place}",
                "write the value there; an override is for a backend of an earlier layer.",
                place,
            )
        elif self._changes(model, node, number):
            self.drafts[model.id] = draft.overridden(
                target, model, node, self.vocabulary, self.faults
            )

    def _changes(self, model: OverrideModel, node: Node, number: int) -> bool:
        """True when the override sets something, and no other file of its layer sets the same."""
        names = [n for n in draft.OVERRIDABLE if getattr(model, n) is not None]
        places = {name: node.at(name) for name in names}
        places |= {f"options.{key}": node.at("options", key) for key in model.options or {}}
        empty = [n for n in model.model_fields_set if getattr(model, n) is None]
        if not places and not empty and not model.options:
            self.faults.add(
                "empty-override",
                node.at(),
                f"the override of {show(model.id)} changes nothing",
                "name what to change, such as rank: 10, or delete it.",
            )
        for name in sorted(empty):
            self.faults.add(
                "empty-override",
                node.at(name),
                f"{name} is null, which changes nothing",
                "write a value, or leave the key out.",
            )
        for name, origin in places.items():
            layer, earlier = self._overridden.get((model.id, name), (-1, origin))
            self._overridden[model.id, name] = (number, origin)
            if layer == number:
                self.faults.add(
                    "duplicate-override",
                    origin,
                    f"{name} of {show(model.id)} is also overridden by a file of the same layer, "
                    f"at {earlier}",
                    "keep one of them.",
                    earlier,
                )
        return bool(places)

    def content(self, notes: tuple[str, ...]) -> Content:
        """Everything checked across layers, and frozen."""
        devices = self.declared.names()
        for one in self.drafts.values():
            if one.places:  # else it is the base's, and has passed
                rules.check(one, devices, self.declared.capabilities, self.faults)
        across.check(self.drafts, self.faults)
        self.routes.check(devices, self.drafts, self.vocabulary, self.faults)
        paths = dict.fromkeys((*self.base.sources, *self._paths()))
        faults = self.faults.in_order(paths)
        if faults:
            raise ConfigError(faults)
        registrations = tuple(
            sorted(
                (one.registration for one in self.drafts.values()),
                key=lambda one: (one.rank, one.id),
            )
        )
        vocabulary = self._vocabulary
        content = Content(
            registrations=registrations,
            devices=tuple(self.declared.devices.values()),
            capabilities=tuple(self.declared.capabilities.values()),
            routing=self.routes.frozen(),
            places=tuple(self.declared.places.items()),
            vocabulary_digest=vocabulary.digest if vocabulary else self._packaged_digest(),
            vocabulary=vocabulary,
            warnings=across.equal_ranks(registrations),
            notes=(*self.base.notes, *notes, *self._unused()),
            plugins=self.base.plugins,
            sources=tuple(paths),
        )
        return replace(content, digest=digest(content))

    def _paths(self) -> Iterator[str]:
        for one in self.files:
            yield one.path
            yield from (manifest.path for _, manifest in one.references)

    def _unused(self) -> Iterator[str]:
        for one in self.files:
            if one.kind not in ("Backends", "Operations"):
                yield f"{one.path} is a manifest of kind {one.kind}: by itself it changes nothing"

    def _packaged_digest(self) -> str:
        return self.base.vocabulary_digest or packaged_vocabulary().digest


def _plugin(origin: Origin) -> str:
    """The name in `plugin acme-backend 1.0 backends.yaml`."""
    return origin.path.split(" ")[1]


def _unknown(name: str, ids: tuple[str, ...]) -> str:
    """What to do about an override of an unknown backend; names are compared when it is shown."""
    found = suggest(name, ids, "register it under backends first.")
    return f"{found} If a plugin shipped it, install the plugin again, or delete the override."
