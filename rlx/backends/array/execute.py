"""Doing a plan's steps: the loop that all runs spend their time in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.errors import ExecutionError, said

if TYPE_CHECKING:
    from rlx.backends.array.plan import Plan
    from rlx.backends.array.site import Array


def execute(plan: Plan, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of a plan, some of which may share memory: see `Plan.copied`.

    Raises:
        ExecutionError: a kernel failed; the message names its node.
    """
    slots = list(plan.slots)
    slots[: len(inputs)] = inputs
    return follow(plan, slots)


def follow(plan: Plan, slots: list[Array]) -> list[Array]:
    """Do the steps over slots that hold the inputs and the constants; the outputs.

    Raises:
        ExecutionError: a kernel failed; the message names its node.
    """
    kernel, take = None, None
    try:
        for kernel, _, targets, dead, take in plan.steps:
            result = kernel(*take(slots))
            if targets.__class__ is int:
                slots[targets] = result
            else:
                for target, part in zip(targets, result, strict=False):
                    slots[target] = part
            for slot in dead:
                slots[slot] = None
    except ExecutionError:  # a node inside this one
        raise
    except Exception as error:
        ran = ((step[0] is kernel and step[-1] is take) for step in plan.steps)
        failed = plan.labels[list(ran).index(True)]
        raise ExecutionError(f"{failed} failed: {said(error)}") from error
    return [slots[slot] for slot in plan.outputs]
