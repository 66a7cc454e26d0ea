"""Blocks inside operations: compiled to plans of their own, run with what they capture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.backends.array.draft import Draft, Op
from rlx.backends.array.execute import follow
from rlx.backends.array.fold import fold, prune
from rlx.backends.array.fuse import fuse
from rlx.backends.array.place import place
from rlx.backends.array.plan import Plan, schedule
from rlx.program.types import Block

if TYPE_CHECKING:
    from rlx.backends.array.site import Array, Kernel


def compile_with(draft: Draft, control: Callable[[Draft, Op], Kernel]) -> Plan:
    """All passes, in order; `control` builds the kernels of operations with bodies."""
    draft.control = control
    prune(draft)
    fold(draft)
    prune(draft)
    fuse(draft)
    prune(draft)
    place(draft)
    draft.placed = True
    prune(draft)
    return schedule(draft)


@dataclass(frozen=True, slots=True)
class Body:
    """A compiled block: called with its inputs and with all that the operation captures."""

    block: Block
    plan: Plan
    captured: tuple[int, ...]
    """Positions, among the operation's captured values, of those that are not constant."""

    def bind(self, captured: Sequence[Array]) -> Callable[[Sequence[Array]], list[Array]]:
        """The block as a function of its inputs; outputs may share memory with them."""
        slots = list(self.plan.slots)
        count = len(self.block.inputs)
        held = [captured[position] for position in self.captured]
        slots[count : count + len(held)] = held

        def run(inputs: Sequence[Array]) -> list[Array]:
            own = slots.copy()
            own[:count] = inputs
            return follow(self.plan, own)

        return run

    def once(self, captured: Sequence[Array]) -> list[Array]:
        """Run a block without inputs; outputs may share memory with what it captures."""
        slots = list(self.plan.slots)
        slots[: len(self.captured)] = [captured[position] for position in self.captured]
        return follow(self.plan, slots)

    def function(self, captured: Sequence[Array]) -> Callable[[Array], Array]:
        """The block as a function of its one input, which gives its one output."""
        run = self.bind(captured)
        return lambda x: run((x,))[0]


def body(draft: Draft, op: Op, attribute: str, counters: int = 0) -> Body:
    """Compile the block in one of `op`'s attributes; constants around it are constants in it.

    The first `counters` of its inputs are NumPy arrays, whatever the library, and where there are
    any, so is its first output.
    """
    assert draft.control is not None
    block = op.attributes[attribute]
    inner = Draft.from_block(block, draft.library)
    inner.findings = draft.findings
    inner.host_inputs = frozenset(inner.inputs[:counters]) | draft.on_host
    inner.host_outputs = (0,) if counters else ()
    captured = []
    for position, name in enumerate(op.inputs[op.own :]):
        if name in draft.types:
            inner.types.setdefault(name, draft.types[name])
        if name in draft.constants:
            inner.constants[name] = draft.constants[name]
        else:
            captured.append(position)
    names = op.inputs[op.own :]
    inner.inputs = (*inner.inputs, *(names[position] for position in captured))
    return Body(block, compile_with(inner, draft.control), tuple(captured))
