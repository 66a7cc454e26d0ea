"""What happens to each node on one backend: native where claimed, else lowered, else missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rlx.operations.lacks import NOT_LOWERED, Lack
from rlx.operations.lowering.unit import Unit
from rlx.program.types import Signature

Claims = Callable[[Signature], bool]
Policy = Callable[[str], str]
Lacks = Callable[[frozenset[str]], tuple[str, ...]]
"""The capabilities among those needed that the backend lacks."""
DEEPEST = 100
"""Lowerings within each other; manifests that lower in a circle are refused before."""


@dataclass(eq=False)
class Plan:
    """The path of each node of a unit, in reading order; within, the plans of lowered nodes.

    The nodes of the graphs of a lowered node go through its lowering, and are lowered with it.
    """

    paths: list[str] = field(default_factory=list)
    lowered: dict[int, Plan] = field(default_factory=dict)
    missing: dict[int, Lack] = field(default_factory=dict)
    executed: Counter[str] = field(default_factory=Counter)
    """How often each operation is run in the end, missing ones left out."""
    unit: Unit | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Which nodes are lowered, all the way down: plans of one unit that agree on it are one."""
        return tuple((index, inner.key) for index, inner in sorted(self.lowered.items()))


@dataclass(slots=True)
class _Planning:
    claims: Claims
    policy: Policy
    lacks: Lacks
    first: bool
    _made: dict[int, Plan] = field(default_factory=dict)

    def unit(self, unit: Unit, depth: int) -> Plan:
        kept = self._made.get(id(unit))
        if kept is not None:
            return kept
        plan = self._made[id(unit)] = Plan(unit=unit)
        index = 0
        while index < len(unit.entries):
            entry = unit.entries[index]
            path, inner, lack = self.node(unit, index, depth)
            plan.paths.append(path)
            index += 1
            if path == "native":
                plan.executed[entry.node.operation] += 1
            elif inner is not None:
                plan.lowered[index - 1] = inner
                plan.executed.update(inner.executed)
                plan.paths += ["lowered"] * (entry.end - index)
                index = entry.end
            elif lack is not None:
                plan.missing[index - 1] = lack
                if self.first:
                    return plan
        return plan

    def node(self, unit: Unit, index: int, depth: int) -> tuple[str, Plan | None, Lack | None]:
        """The path of a node, with the plan of its lowering or what it lacks."""
        entry = unit.entries[index]
        signature = entry.node.signature
        policy = self.policy(signature.operation)
        claimed = self.claims(signature)
        if claimed and policy != "common":
            return "native", None, None
        lowerable = signature.operation in unit.library.vocabulary.lowerable
        if policy == "native":
            why = NOT_LOWERED if lowerable else ""
            return "missing", None, Lack(signature, why)
        inner, lack = self.lowering(unit, index, depth) if lowerable else (None, Lack(signature))
        if inner is not None:
            return "lowered", inner, None
        return ("native", None, None) if claimed else ("missing", None, lack)

    def lowering(self, unit: Unit, index: int, depth: int) -> tuple[Plan | None, Lack | None]:
        """The plan of a node's body; where one of its nodes is missing, what it lacks."""
        signature = unit.entries[index].node.signature
        body = unit.body(index) if depth < DEEPEST else ""
        if isinstance(body, str):
            return None, Lack(signature, body)
        lacking = self.lacks(body.capabilities)
        if lacking:
            return None, Lack(signature, f"its lowering needs {', '.join(lacking)}")
        inner = self.unit(body, depth + 1)
        if inner.missing:
            pieces = {one.signature: one for one in inner.missing.values()}
            return None, Lack(signature, inner=tuple(pieces.values()))
        return inner, None


def plan(
    unit: Unit,
    claims: Claims,
    policy: Policy = lambda _: "prefer-native",
    lacks: Lacks = lambda _: (),
    *,
    first: bool = False,
) -> Plan:
    """The plan for a unit.

    `claims` says whether the backend claims a node of a signature, `policy` the `kernel_dispatch`
    in force for an operation, `lacks` which capabilities a body needs that the backend does not
    have. With `first`, it ends at the first missing node.
    """
    return _Planning(claims, policy, lacks, first).unit(unit, 0)
