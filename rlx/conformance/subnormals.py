"""Trials without subnormal numbers, for backends that do not say that they keep them.

Processors can be told to take numbers below the smallest normal one as zero, and some engines tell
them so: infinity times such a number is then NaN. The capability `subnormals` says that a backend
does not. Of one without it a wrong answer to such inputs proves nothing; the same trial with zeros
in their place does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from rlx.backends.protocol import Backend
from rlx.conformance.trial import Trial, evaluate

CAPABILITY = "subnormals"


def without(trial: Trial, oracle: Backend) -> Trial | None:
    """The trial with zeros of the same sign for subnormal inputs, and the oracle's answer to them.

    None: no input holds a subnormal number, or the oracle has no answer.
    """
    inputs = [_zeroed(value) for value in trial.inputs]
    if all(new is old for new, old in zip(inputs, trial.inputs, strict=True)):
        return None
    try:
        expected = evaluate(oracle, trial.program, inputs)
    except Exception:  # noqa: BLE001 - then the outcome of the trial itself stands
        return None
    return replace(trial, inputs=inputs, expected=expected)


def _zeroed(value: Any) -> Any:
    """The same object where nothing in it is subnormal."""
    if isinstance(value, list):
        items = [_zeroed(item) for item in value]
        return value if _same(items, value) else items
    if not isinstance(value, np.ndarray) or not _floating(value.dtype):
        return value
    edges: Any = ml_dtypes.finfo  # it knows NumPy's own dtypes as well
    with np.errstate(all="ignore"):
        smallest = np.asarray(edges(value.dtype).smallest_normal, value.dtype)
        small = (np.abs(value) < smallest) & (value != 0)
    return (
        np.where(small, np.copysign(np.zeros_like(value), value), value) if small.any() else value
    )


def _same(new: Sequence[Any], old: Sequence[Any]) -> bool:
    return all(a is b for a, b in zip(new, old, strict=True))


def _floating(dtype: np.dtype[Any]) -> bool:
    """True for NumPy's floats and for bfloat16, which arithmetic is done in."""
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


__all__ = ["CAPABILITY", "without"]
