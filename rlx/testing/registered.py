"""Registrations, claims and registries made in code, of the null backend or of others."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from rlx.operations import Operation
from rlx.registration import Coverage, Registration, Row
from rlx.registries import Registry
from rlx.testing.null import FACTORY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlx.program import Program


def registration(id: str = "null", device: str = "cpu", **fields: Any) -> Registration:
    """A registration of the null backend that dispatches, watched under its id.

    `fields` are any others of `Registration`; `coverage` may be made by `covering`.
    """
    defaults: dict[str, Any] = {
        "target": id,
        "rank": 100,
        "dispatches": True,
        "factory": FACTORY,
        "options": (("watch", id),),
    }
    return Registration(id=id, device=device, **(defaults | fields))


def covering(*programs: Program) -> Coverage:
    """Claims for every node of these programs, and no more."""
    signatures = {one for program in programs for one in program.requirements.signatures}
    rows = set()
    for signature in signatures:
        types: dict[str, tuple[str, ...]] = {}
        for variable, dtype in signature.types:
            types[variable] = (*types.get(variable, ()), dtype)
        rows.add(Row((signature.operation,), tuple(sorted(types.items()))))
    return Coverage(tuple(sorted(rows, key=repr)), "declared")


def registry(*registrations: Registration, operations: Iterable[str] = ()) -> Registry:
    """A registry of these alone, with the packaged devices and capabilities.

    The rules of the manifests are not checked, so that large ones are made fast:
    `Registry.with_backend` checks them. `operations` are names that claims may have beside those
    of ONNX.
    """
    packaged = Registry.load(only=True)
    content = dataclasses.replace(
        packaged.content,
        registrations=tuple(sorted(registrations, key=lambda one: (one.rank, one.id))),
        warnings=(),
    )
    more = tuple(map(Operation, operations))
    if more:
        vocabulary = packaged.vocabulary.extended(more, "")
        content = dataclasses.replace(content, vocabulary=vocabulary)
    return Registry(content)
