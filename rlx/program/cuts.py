"""Where a program is cut at its barriers: each stage's nodes, and the values that it is handed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.program.types import BARRIER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.program.types import Block, Node, ValueType


@dataclass(frozen=True, slots=True)
class Barrier:
    """The barrier at the end of a stage; see `rlx.program.barriers` for what it means."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    """"" for those that nobody reads."""
    repeat: int = 1
    stages: int = 1
    fixpoint: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """One stage: a part of a program's nodes, between two barriers."""

    first: int
    """The place of its first node among the program's own."""
    end: int
    """The place after its last node: that of its barrier, where it has one."""
    reads: tuple[str, ...]
    """The values that it is handed, each once, in the order in which its nodes read them."""
    gives: tuple[str, ...]
    """The values of its nodes that barriers, later stages or the program's outputs read."""
    dead: tuple[str, ...]
    """The values that nobody reads after it, and after the repetitions that it is in."""
    barrier: Barrier | None
    """None: it is the last stage."""


def cuts(body: Block) -> tuple[Cut, ...]:
    """The stages of a program, in order: one more than it has barriers."""
    ends = [place for place, node in enumerate(body.nodes) if node.operation == BARRIER]
    kept = {value.name for value in body.outputs}
    wanted = kept.union(*map(reads, body.nodes))
    barriers = [_barrier(body.nodes[place], wanted) for place in ends]
    starts = [0, *(place + 1 for place in ends)]
    parts = [body.nodes[a:b] for a, b in zip(starts, [*ends, len(body.nodes)], strict=True)]
    constants = {name for name, _ in body.constants}
    made = [[name for node in part for name in node.outputs if name] for part in parts]
    read = [list(dict.fromkeys(name for node in part for name in reads(node))) for part in parts]
    last = _last_reads(body, read, barriers)
    found = []
    for place, part in enumerate(parts):
        own, later = set(made[place]), set(kept)
        for other in (*read[:place], *read[place + 1 :], *(one.inputs for one in barriers)):
            later.update(other)
        gives = [name for name in dict.fromkeys(made[place]) if name in later]
        if not gives:  # what nobody needs is run all the same, as it is where nothing is cut
            gives = made[place][-1:]
        handed = [name for name in read[place] if name not in own and name not in constants]
        dead = [name for name, at in last.items() if at == place]
        dead += [name for name in gives if name not in last and name not in kept]
        end = None if place == len(ends) else barriers[place]
        first = starts[place]
        found.append(Cut(first, first + len(part), tuple(handed), tuple(gives), tuple(dead), end))
    return tuple(found)


def _barrier(node: Node, wanted: set[str]) -> Barrier:
    return Barrier(
        node.name,
        node.inputs,
        tuple(name if name in wanted else "" for name in node.outputs),
        node.attribute("repeat", 1),
        node.attribute("stages", 1),
        bool(node.attribute("fixpoint", 0)),
    )


def _last_reads(body: Block, read: list[list[str]], barriers: list[Barrier]) -> dict[str, int]:
    """The last stage that may read each value; outputs, which are read at the end, left out."""
    until = list(range(len(read)))
    for place, one in enumerate(barriers):
        if one.repeat > 1:
            for stage in range(place - one.stages + 1, place + 1):
                until[stage] = max(until[stage], place)
            # The barrier where a repetition begins is passed again by way of its values alone.
    last: dict[str, int] = {}
    for stage, names in enumerate(read):
        inputs = barriers[stage].inputs if stage < len(barriers) else ()
        for name in (*names, *inputs):
            last[name] = max(last.get(name, 0), until[stage])
    for value in body.outputs:
        last.pop(value.name, None)
    return last


def reads(node: Node) -> Iterator[str]:
    """The names that a node reads, also from within its graphs."""
    yield from (name for name in node.inputs if name)
    for block in node.blocks():
        yield from free(block)


def free(block: Block) -> Iterator[str]:
    """The names that a block reads from the blocks around it."""
    own = {value.name for value in block.inputs} | {name for name, _ in block.constants}
    own.update(name for node in block.nodes for name in node.outputs)
    for node in block.nodes:
        yield from (name for name in reads(node) if name not in own)
    yield from (value.name for value in block.outputs if value.name not in own)


def has_open_sizes(body: Block) -> bool:
    """Whether a stage is handed a tensor of which a size is not known before it runs."""
    types = {**dict(body.types), **{value.name: value.type for value in body.inputs}}
    return any(_is_open(types.get(name)) for cut in cuts(body) for name in cut.reads)


def _is_open(found: ValueType | None) -> bool:
    if found is None or found.shape is None:
        return found is None or found.kind == "tensor"
    return any(not isinstance(size, int) for size in found.shape)
