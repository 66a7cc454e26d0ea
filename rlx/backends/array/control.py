"""Control flow: kernels of If, Loop, Scan and SequenceMap, whose bodies are plans of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.bodies import Body, body, compile_with
from rlx.backends.array.draft import FIX, Draft, Op
from rlx.backends.array.kernels.flex_attention import flex_attention
from rlx.backends.array.kernels.operands import axis_of

if TYPE_CHECKING:
    from rlx.backends.array.plan import Plan
    from rlx.backends.array.site import Array, Kernel


def compile_draft(draft: Draft) -> Plan:
    """All passes, in order; bodies are compiled with the blocks around them."""
    return compile_with(draft, control_kernel)


def control_kernel(draft: Draft, op: Op) -> Kernel:
    """The kernel of an operation with bodies; after its own inputs it takes the captured values.

    Raises:
        NotImplementedError: no such operation is known here.
    """
    maker = _MAKERS.get(op.operation)
    if maker is None:
        raise NotImplementedError(
            f"node {op.name!r}: no array kernel for {op.operation}, which has bodies. {FIX}"
        )
    run = maker(draft, op)
    if len(op.outputs) == 1:
        return lambda *inputs: run(inputs)[0]
    return lambda *inputs: tuple(run(inputs))


Run = Callable[[Sequence[Any]], Sequence[Any]]


def _if(draft: Draft, op: Op) -> Run:
    then, otherwise = (body(draft, op, name) for name in ("then_branch", "else_branch"))

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        chosen = then if bool(inputs[0]) else otherwise
        return chosen.once(inputs[1:])

    return run


def _loop(draft: Draft, op: Op) -> Run:
    block = body(draft, op, "body", counters=2)
    carried = len(block.block.inputs) - 2
    go = np.asarray(True)  # a turn is never begun otherwise

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        own, call = [*inputs[: op.own], None, None], block.bind(inputs[op.own :])
        limit = sys.maxsize if own[0] is None else int(own[0].reshape(()))
        state = own[2 : 2 + carried]
        rows: list[list[Array]] = []
        turn = 0
        again = True if own[1] is None else own[1]
        while turn < limit and again:
            again, *state = call((np.array(turn), go, *state))
            if len(state) > carried:
                rows.append(state[carried:])
                del state[carried:]
            turn += 1
        return [*state, *_stacked(draft, block, rows, 1 + carried, {}, {})]

    return run


def _scan(draft: Draft, op: Op) -> Run:
    block = body(draft, op, "body")
    scanned = op.attributes["num_scan_inputs"]
    states = op.own - scanned
    axes = op.attributes.get("scan_input_axes") or (0,) * scanned
    backward = op.attributes.get("scan_input_directions") or (0,) * scanned
    out_axes = dict(enumerate(op.attributes.get("scan_output_axes") or ()))
    out_backward = dict(enumerate(op.attributes.get("scan_output_directions") or ()))

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        state, call = list(inputs[:states]), block.bind(inputs[op.own :])
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
            results = call((*state, *items))
            state, row = results[:states], results[states:]
            rows.append(row)
        return [*state, *_stacked(draft, block, rows, states, out_axes, out_backward)]

    return run


def _sequence_map(draft: Draft, op: Op) -> Run:
    """The body for each item: sequences give their item of that place, tensors stay the same."""
    block = body(draft, op, "body")

    def run(inputs: Sequence[Any]) -> Sequence[Any]:
        own, call = inputs[: op.own], block.bind(inputs[op.own :])
        turns = [
            call([x[turn] if x.__class__ is list else x for x in own])
            for turn in range(len(own[0]))
        ]
        return [[turn[place] for turn in turns] for place in range(len(block.block.outputs))]

    return run


def _flex_attention(draft: Draft, op: Op) -> Run:
    """Its bodies change the scores, and the probabilities."""
    attend = flex_attention(draft.site(op))
    score, prob = (
        body(draft, op, name) if name in op.attributes else None
        for name in ("score_mod", "prob_mod")
    )

    def run(inputs: Sequence[Any]) -> Sequence[Any]:
        own, captured = inputs[: op.own], inputs[op.own :]
        change = None if score is None else score.function(captured)
        finish = None if prob is None else prob.function(captured)
        return [attend(own, change, finish)]

    return run


def _stacked(
    draft: Draft,
    block: Body,
    rows: list[list[Array]],
    first: int,
    axes: dict[int, int],
    backward: dict[int, int],
) -> list[Array]:
    """Each scan output with its turns side by side; of no turns, an empty array."""
    xp = draft.xp
    stacked = []
    for place, value in enumerate(block.block.outputs[first:]):
        parts = [row[place] for row in rows]
        if backward.get(place):
            parts.reverse()
        if parts:
            stacked.append(xp.stack(parts, axis=axes.get(place, 0)))
            continue
        sizes = [size if isinstance(size, int) else 0 for size in value.type.shape or ()]
        at = axis_of(axes.get(place, 0), len(sizes) + 1)
        sizes.insert(at, 0)
        stacked.append(xp.zeros(tuple(sizes), dtype=draft.library.dtype(value.type.dtype)))
    return stacked


_MAKERS: dict[str, Callable[[Draft, Op], Run]] = {
    "If": _if,
    "Loop": _loop,
    "Scan": _scan,
    "SequenceMap": _sequence_map,
    "ai.onnx.preview::FlexAttention": _flex_attention,
}
