"""Fusion: a product with constant weights and the bias after it become one operation.

Several of one input, as the projections of attention are, become one wider product whose result is
split. This is done for libraries that have a kernel for it; sums are rounded as often as before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rlx.program.types import ValueType

if TYPE_CHECKING:
    from rlx.backends.array.draft import Draft, Op

LINEAR = "rlx::Linear"
"""x @ w + b, with w of two dimensions and b of one; no program has it, the engine makes it."""
_DTYPES = ("float32", "float64")


def fuse_linear(draft: Draft) -> None:
    """Make such operations wherever the library has a kernel, and join those of one input."""
    if LINEAR not in draft.library.overrides:
        return
    _with_bias(draft)
    _together(draft)


def _with_bias(draft: Draft) -> None:
    uses = Counter(name for op in draft.ops for name in op.inputs)
    uses.update(draft.outputs)
    products = {
        op.outputs[0]: op
        for op in draft.ops
        if op.operation == "MatMul" and uses[op.outputs[0]] == 1 and _is_weight(draft, op.inputs[1])
    }
    made: list[Op] = []
    for op in draft.ops:
        found = _product(draft, op, products) if op.operation == "Add" else None
        if found is None:
            made.append(op)
            continue
        product, bias = found
        made.remove(product)
        inputs = (*product.inputs, bias)
        made.append(replace(op, operation=LINEAR, inputs=inputs, own=3, attributes={}))
    draft.ops[:] = made


def _product(draft: Draft, op: Op, products: dict[str, Op]) -> tuple[Op, str] | None:
    """The product that `op` adds a bias to, and the bias."""
    for y, bias in (op.inputs, op.inputs[::-1]):
        product = products.get(y)
        if product is None or bias not in draft.constants:
            continue
        weight, held = draft.constants[product.inputs[1]], draft.constants[bias]
        if held.shape == (weight.shape[1],) and held.dtype == weight.dtype:
            return product, bias
    return None


def _is_weight(draft: Draft, name: str) -> bool:
    held = draft.constants.get(name)
    return held is not None and held.ndim == 2 and str(held.dtype) in _DTYPES


def _together(draft: Draft) -> None:
    """Join what multiplies the same value, at the place of the first."""
    groups: dict[str, list[Op]] = {}
    for op in draft.ops:
        if op.operation == LINEAR:
            groups.setdefault(op.inputs[0], []).append(op)
    joined = {id(op): group for group in groups.values() if len(group) > 1 for op in group}
    made: list[Op] = []
    for op in draft.ops:
        group = joined.get(id(op))
        if group is None:
            made.append(op)
        elif op is group[0]:
            made += _joined(draft, group)
    draft.ops[:] = made


def _joined(draft: Draft, group: list[Op]) -> list[Op]:
    """One product as wide as all of the group, and what cuts its result."""
    first, held = group[0], draft.constants
    names = tuple(f"{first.outputs[0]}/{part}" for part in ("weights", "biases", "sizes", "wide"))
    weights = [held[op.inputs[1]] for op in group]
    held[names[0]] = np.concatenate(weights, axis=1)
    held[names[1]] = np.concatenate([held[op.inputs[2]] for op in group])
    held[names[2]] = np.array([weight.shape[1] for weight in weights], np.int64)
    for name in names[:3]:
        draft.types[name] = ValueType(str(held[name].dtype), tuple(held[name].shape))
    known = draft.types.get(first.outputs[0])
    if known is not None and known.shape is not None:
        wide = (*known.shape[:-1], held[names[0]].shape[1])
        draft.types[names[3]] = replace(known, shape=wide)
    product = replace(first, inputs=(first.inputs[0], *names[:2]), outputs=(names[3],))
    cut = replace(
        first,
        operation="Split",
        attributes={"axis": -1},
        inputs=(names[3], names[2]),
        outputs=tuple(op.outputs[0] for op in group),
        own=2,
    )
    return [product, cut]
