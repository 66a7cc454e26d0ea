"""Control flow: kernels of If, Loop and Scan, whose bodies are plans of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.backends.array.draft import FIX, Draft, Op
from rlx.backends.array.dtypes import native
from rlx.backends.array.execute import execute
from rlx.backends.array.fold import fold, prune
from rlx.backends.array.fuse import fuse
from rlx.backends.array.kernels.operands import axis_of
from rlx.backends.array.plan import Plan, schedule
from rlx.program.types import Block

if TYPE_CHECKING:
    from rlx.backends.array.site import Array, Kernel


def compile_draft(draft: Draft) -> Plan:
    """All passes, in order; bodies are compiled with the blocks around them."""
    draft.control = control_kernel
    prune(draft)
    fold(draft)
    prune(draft)
    fuse(draft)
    prune(draft)
    return schedule(draft)


def control_kernel(draft: Draft, op: Op) -> Kernel:
    """The kernel of an operation with bodies; after its own inputs it takes the captured values.

    Raises:
        NotImplementedError: not If, Loop or Scan.
    """
    makers = {"If": _if, "Loop": _loop, "Scan": _scan}
    maker = makers.get(op.operation)
    if maker is None:
        raise NotImplementedError(
            f"node {op.name!r}: no array kernel for {op.operation}, which has bodies. {FIX}"
        )
    run = maker(draft, op)
    if len(op.outputs) == 1:
        return lambda *inputs: run(inputs)[0]
    return lambda *inputs: tuple(run(inputs))


@dataclass(frozen=True, slots=True)
class _Body:
    """A compiled block: called with its inputs and with all that the operation captures."""

    block: Block
    plan: Plan
    captured: tuple[int, ...]
    """Positions, among the operation's captured values, of those that are not constant."""

    def __call__(self, inputs: Sequence[Array], captured: Sequence[Array]) -> list[Array]:
        return execute(self.plan, [*inputs, *(captured[position] for position in self.captured)])


def _body(draft: Draft, op: Op, attribute: str) -> _Body:
    block = op.attributes[attribute]
    inner = Draft.from_block(block, draft.xp, draft.to_native)
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
    return _Body(block, compile_draft(inner), tuple(captured))


Run = Callable[[Sequence[Any]], Sequence[Any]]


def _if(draft: Draft, op: Op) -> Run:
    then, otherwise = (_body(draft, op, name) for name in ("then_branch", "else_branch"))

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        chosen = then if bool(inputs[0]) else otherwise
        return chosen((), inputs[1:])

    return run


def _loop(draft: Draft, op: Op) -> Run:
    xp = draft.xp
    body = _body(draft, op, "body")
    carried = len(body.block.inputs) - 2

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        own, captured = [*inputs[: op.own], None, None], inputs[op.own :]
        limit = None if own[0] is None else int(own[0])
        going = own[1] is None or bool(own[1])
        state = own[2 : 2 + carried]
        rows: list[list[Array]] = []
        turn = 0
        while going and (limit is None or turn < limit):
            counters = (xp.asarray(turn, dtype=xp.int64), xp.asarray(going, dtype=xp.bool))
            again, *results = body((*counters, *state), captured)
            going = bool(again)
            state, row = results[:carried], results[carried:]
            rows.append(row)
            turn += 1
        return [*state, *_stacked(draft, body, rows, 1 + carried, {}, {})]

    return run


def _scan(draft: Draft, op: Op) -> Run:
    body = _body(draft, op, "body")
    scanned = op.attributes["num_scan_inputs"]
    states = op.own - scanned
    axes = op.attributes.get("scan_input_axes") or (0,) * scanned
    backward = op.attributes.get("scan_input_directions") or (0,) * scanned
    out_axes = dict(enumerate(op.attributes.get("scan_output_axes") or ()))
    out_backward = dict(enumerate(op.attributes.get("scan_output_directions") or ()))

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        state, captured = list(inputs[:states]), inputs[op.own :]
        sequences = [
            draft.xp.moveaxis(x, axis_of(axis, x.ndim), 0)
            for x, axis in zip(inputs[states : op.own], axes, strict=True)
        ]
        rows: list[list[Array]] = []
        length = sequences[0].shape[0]
        for turn in range(length):
            items = [
                x[length - 1 - turn if reverse else turn]
                for x, reverse in zip(sequences, backward, strict=True)
            ]
            items = [draft.xp.asarray(item) for item in items]
            results = body((*state, *items), captured)
            state, row = results[:states], results[states:]
            rows.append(row)
        return [*state, *_stacked(draft, body, rows, states, out_axes, out_backward)]

    return run


def _stacked(
    draft: Draft,
    body: _Body,
    rows: list[list[Array]],
    first: int,
    axes: dict[int, int],
    backward: dict[int, int],
) -> list[Array]:
    """Each scan output with its turns side by side; of no turns, an empty array."""
    xp = draft.xp
    stacked = []
    for place, value in enumerate(body.block.outputs[first:]):
        parts = [row[place] for row in rows]
        if backward.get(place):
            parts.reverse()
        if parts:
            stacked.append(xp.stack(parts, axis=axes.get(place, 0)))
            continue
        sizes = [size if isinstance(size, int) else 0 for size in value.type.shape or ()]
        at = axis_of(axes.get(place, 0), len(sizes) + 1)
        sizes.insert(at, 0)
        stacked.append(xp.zeros(tuple(sizes), dtype=native(xp, value.type.dtype)))
    return stacked
