"""What a project file that nobody has trusted may change: ranks, safe options, routing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rlx.freeze.faults import show

if TYPE_CHECKING:
    from rlx.freeze.faults import Faults, Node
    from rlx.manifest.models import OverrideModel
    from rlx.origin import Origin
    from rlx.registration import Registration

ALLOWED = ("id", "rank", "enabled", "options")
_LIBRARY = re.compile(r"\.(?:so|dll|dylib|pyd)(?:\.|$)", re.IGNORECASE)


def check_manifest(node: Node, faults: Faults) -> None:
    """Only overrides and routing stand in an untrusted file."""
    manifest = node.manifest
    if manifest.kind != "Backends":
        _refuse(f"a manifest of kind {manifest.kind}", node.at("kind"), node, faults)
        return
    for section, noun in (
        ("devices", "device"),
        ("capabilities", "capability"),
        ("backends", "backend"),
    ):
        for index, one in enumerate(getattr(node.model, section)):
            _refuse(f"{noun} {show(one.id)}", node.at(section, index), node, faults)


def check_override(
    model: OverrideModel, registration: Registration | None, node: Node, faults: Faults
) -> bool:
    """True when the override sets nothing that needs trust."""
    before = len(faults.found)
    for name in type(model).model_fields:
        if name in model.model_fields_set and name not in ALLOWED:
            _refuse(f"overriding {name} of {show(model.id)}", node.key(name), node, faults)
    safe = () if registration is None else registration.safe_options
    for key, value in (model.options or {}).items():
        if registration is not None and key not in safe:
            what = f"option {show(key)}, which {model.id} does not list in safe_options,"
            _refuse(what, node.key("options", key), node, faults)
        elif not _harmless(value):
            what = f"the value {show(value)} of option {show(key)}, not a plain word or number,"
            _refuse(what, node.at("options", key), node, faults)
    return len(faults.found) == before


def _harmless(value: Any) -> bool:
    """True for a scalar that is neither a path nor a library."""
    if not isinstance(value, str):
        return not isinstance(value, (list, tuple, dict))
    path = any(sign in value for sign in "/\\~:") or value.startswith(".")
    return not path and _LIBRARY.search(value) is None


def _refuse(what: str, origin: Origin, node: Node, faults: Faults) -> None:
    manifest = node.manifest
    refused = "refused until this file is trusted"
    if manifest.distrust:
        refused = f"refused: {manifest.distrust}"
    faults.add(
        "untrusted",
        origin,
        f"{what} is {refused}",
        f"read it, then run `rlx trust {manifest.path}`; or name it, by RLX_CONFIG or --config.",
    )
