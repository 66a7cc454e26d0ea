"""Constant folding and dead code: computes what does not depend on the inputs, drops the unused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlx.backends.array.dtypes import numpy_dtype
from rlx.backends.array.host import NUMPY

if TYPE_CHECKING:
    from rlx.backends.array.draft import Draft, Op
    from rlx.program.types import ValueType

BUDGET = 1 << 30
"""Bytes that folding may add to a program's constants, all in all."""

RANDOM = frozenset(
    {
        "Bernoulli",
        "Dropout",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)
"""Operations that give another result each time."""


def fold(draft: Draft, budget: int = BUDGET) -> None:
    """Run every operation whose inputs are all constants, while its results fit the budget.

    An operation whose result's size is unknown beforehand, is random, or fails, is left alone.
    """
    left: list[Op] = []
    for op in draft.ops:
        _fold_shape(draft, op)
        cost = _cost(draft, op)
        if cost is None or cost > budget:
            left.append(op)
            continue
        if op.outputs[0] in draft.constants:
            continue
        inputs = [draft.constants[name] if name else None for name in op.inputs]
        kernel = draft.kernel(op)
        try:
            result = kernel(*inputs)
        except Exception:  # noqa: BLE001 - the run fails so again, if it gets there, and says where
            left.append(op)
            continue
        budget -= cost
        results = result if len(op.outputs) > 1 else (result,)
        for name, value in zip(op.outputs, results, strict=False):
            if name:
                draft.constants[name] = draft.asarray(name)(value)
    draft.ops[:] = left


def prune(draft: Draft) -> None:
    """Drop the operations and constants that no output depends on."""
    needed = set(draft.outputs)
    kept: list[Op] = []
    for op in reversed(draft.ops):
        if needed.intersection(name for name in op.outputs if name):
            needed.update(op.inputs)
            kept.append(op)
    draft.ops[:] = reversed(kept)
    draft.constants = {name: held for name, held in draft.constants.items() if name in needed}


def _fold_shape(draft: Draft, op: Op) -> None:
    """Shape and Size of a value whose sizes are known need not wait for the value."""
    if op.operation not in {"Shape", "Size"}:
        return
    known = draft.types.get(op.inputs[0])
    if known is None or known.shape is None or known.kind != "tensor":
        return
    if all(isinstance(size, int) for size in known.shape):
        kernel = draft.kernel(op)
        stand_in = NUMPY.xp.broadcast_to(NUMPY.xp.zeros((), dtype=NUMPY.xp.int8), known.shape)
        draft.constants[op.outputs[0]] = NUMPY.xp.asarray(kernel(stand_in))


def _cost(draft: Draft, op: Op) -> int | None:
    """The bytes that the results take, 0 where they are there already, None: cannot be folded."""
    if op.outputs and op.outputs[0] in draft.constants:
        return 0
    if op.operation in RANDOM or op.has_bodies:
        return None
    if any(name and name not in draft.constants for name in op.inputs):
        return None
    total = 0
    for name in op.outputs:
        size = _bytes(draft.types.get(name)) if name else 0
        if size is None:
            return None
        total += size
    return total


def _bytes(known: ValueType | None) -> int | None:
    if known is None or known.kind != "tensor" or known.shape is None or not known.dtype:
        return None
    sizes = [size for size in known.shape if isinstance(size, int)]
    if len(sizes) != len(known.shape):
        return None
    return math.prod(sizes) * int(numpy_dtype(known.dtype).itemsize)
