"""Capabilities that are needed and that a backend does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.router import barriers, precision
from rlx.router.verdicts import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.registration import Registration
    from rlx.registries import Registry
    from rlx.router.checks import Question


def lacking(registry: Registry, names: tuple[str, ...], one: Registration) -> tuple[str, ...]:
    """Those of the capabilities that a manifest declares and the backend does not have."""
    declared = {capability.id for capability in registry.capabilities}
    return tuple(name for name in names if name in declared and name not in one.capabilities)


def capability(question: Question, one: Registration) -> Iterator[Reason]:
    """The reason of a backend without a capability that is needed or asked for, if it is one."""
    needs = question.requirements
    plain = tuple(name for name in needs.capabilities if name != barriers.NATIVE)
    needed = lacking(question.registry, plain, one)
    cut, why = barriers.lacking(question.registry, needs, question.program, question.request, one)
    needed = tuple(dict.fromkeys((*needed, *cut)))
    asked = tuple(name for name in question.request.require if name not in one.capabilities)
    told = precision.needed(question.registry, needs, question.request)
    if told is not None and told[0] in one.capabilities:
        told = None
    if needed or asked or told:
        fix = _fix(needed, asked, question.request.precision if told else None)
        data: tuple[tuple[str, Any], ...] = (
            ("needed", needed),
            ("asked", tuple(name for name in asked if name not in needed)),
        )
        if told:
            data += (("precision", told[0]), ("stated", told[1]))
        if why:
            data += (("barriers", why),)
            fix = None if asked else "take the barriers out of the program: see docs/barriers.md."
        yield Reason("capability", data, fix=fix, source=one.source("capabilities"))


def _fix(needed: tuple[str, ...], asked: tuple[str, ...], told: str | None) -> str | None:
    """What helps, where one thing does."""
    if told and not needed and not asked:
        return (
            f"export the program in {told}, leave the precision unset, "
            "or set precision_policy to warn or allow."
        )
    if asked and not needed and not told:
        return f"drop {', '.join(asked)} from what is required."
    if needed == ("dynamic_shapes",) and not asked and not told:
        return "give the program's inputs fixed sizes."
    return None
