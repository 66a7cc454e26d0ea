"""A document to a checked model: `apiVersion` and `kind` first, then the model of the kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from rlx.manifest import wording
from rlx.manifest.faults import Faults, show
from rlx.manifest.models import KINDS, ManifestModel

if TYPE_CHECKING:
    from rlx.manifest.nodes import Document

API_VERSION = "rlx/v1"
TRIED = 10
"""So many keys that are not known are compared with what is missing: comparing is slow."""
_ROOT_KEYS = frozenset(name for model in KINDS.values() for name in model.model_fields)
_HEAD = {"apiVersion": (API_VERSION,), "kind": tuple(KINDS)}


def check(document: Document) -> ManifestModel:
    """The document's model.

    The check is strict: no value is turned into another type. Lists reach the model as tuples.

    Raises:
        ConfigError: everything that is wrong with the shape, one fault for each mistake.
    """
    faults = Faults(document.path, document.layer)
    model = _model(document, faults)
    if model is not None:
        try:
            return model.model_validate(document.root.plain())
        except ValidationError as error:
            from rlx.manifest.explanation import Explainer  # needs pydantic's schemas: slow

            Explainer(document, model, faults).explain(error)
    return faults.stop()


def _model(document: Document, faults: Faults) -> type[ManifestModel] | None:
    """The model that `kind` names; None, with faults, where kind or apiVersion is not known."""
    root = document.root
    place = (root.line, root.column)
    if not isinstance(root.value, dict):
        message = f"a manifest must be a mapping, got {wording.got(root, document)}"
        faults.add(
            "wrong-type", message, "start with 'apiVersion: rlx/v1' and 'kind: Backends'.", place
        )
        return None
    for key, known in _HEAD.items():
        node = root.child(key)
        if node is None:
            some = [one for one in root.value if one not in _ROOT_KEYS][:TRIED]
            near = next((one for one in some if wording.nearest(one, [key]) == key), None)
            if near is None:
                message = f"{show(key)} is missing from this manifest"
                faults.add("missing-key", message, f"add it, such as '{key}: {known[0]}'.", place)
            else:
                entry = root.value[near]
                message, fix = f"unknown key {show(near)}", f"did you mean {show(key)}?"
                faults.add("unknown-key", message, fix, (entry.line, entry.column))
        elif node.value not in known:
            code = "unknown-kind" if key == "kind" else "unknown-api-version"
            message = f"{key} must be {wording.one_of(known)}, got {wording.got(node, document)}"
            near = wording.nearest(node.value, known) if isinstance(node.value, str) else None
            fix = f"did you mean {show(near)}?" if near else f"write '{key}: {known[0]}'."
            faults.add(code, message, fix, (node.line, node.column))
    return None if faults else KINDS[str(root.value["kind"].node.value)]
