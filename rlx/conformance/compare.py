"""Whether what came out is what must come out, by the rules of ONNX's suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ULPS = {"bfloat16": 2.0**-6, "float16": 2.0**-9}
"""Two units in the last place: the least relative tolerance at each narrow dtype."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far apart two numbers may be: |a - b| <= atol + rtol * |b|.

    `scaled` adds the dtype's two units in the last place of the largest expected value: the bound
    for an oracle that rounds as much as what it judges.
    """

    rtol: float = 1e-3
    atol: float = 1e-7
    scaled: bool = False


def difference(expected: Sequence[Any], got: Sequence[Any], tolerance: Tolerance) -> str | None:
    """What differs first, or None."""
    if len(expected) != len(got):
        return f"{len(got)} outputs instead of {len(expected)}"
    for index, (want, have) in enumerate(zip(expected, got, strict=True)):
        found = _value(want, have, tolerance)
        if found is not None:
            return f"output {index}: {found}"
    return None


def _value(want: Any, have: Any, tolerance: Tolerance) -> str | None:
    if isinstance(want, list | tuple):
        if not isinstance(have, list | tuple):
            return f"{type(have).__name__} instead of a sequence"
        return difference(want, have, tolerance)
    if isinstance(want, dict):
        if not isinstance(have, dict) or want.keys() != have.keys():
            return f"{have!r} instead of a map of {list(want)}"
        first, second = ([np.asarray(one[key]) for key in want] for one in (want, have))
        return difference(first, second, tolerance)
    if want is None or have is None:
        return None if want is have else f"{have!r} instead of {want!r}"
    if not isinstance(have, np.ndarray):
        return f"{type(have).__name__} instead of an array"
    if want.shape != have.shape:
        return f"shape {have.shape} instead of {want.shape}"
    if _is_text(want) and _is_text(have):
        return None if np.array_equal(want.astype(object), have.astype(object)) else "other strings"
    if want.dtype != have.dtype:
        return f"{have.dtype} instead of {want.dtype}"
    return _numbers(want, have, tolerance)


def _is_text(array: Any) -> bool:
    return array.dtype == object or array.dtype.kind in "US"


def _numbers(want: Any, have: Any, tolerance: Tolerance) -> str | None:
    name = want.dtype.name
    if want.dtype.kind in "biu":
        return None if np.array_equal(want, have) else f"other {name} values"
    rtol = tolerance.rtol
    if name == "bfloat16" or (tolerance.scaled and name in ULPS):
        rtol = max(rtol, ULPS[name])
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        a, b = have.astype(wide), want.astype(wide)
        atol = tolerance.atol
        if tolerance.scaled and name in ULPS:
            finite = np.abs(b[np.isfinite(b)])
            atol += ULPS[name] * float(finite.max(initial=0.0))
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return None
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return f"NaN at other places ({name})"
        gaps = np.abs(a - b)
        known = gaps[~np.isnan(gaps)]
        return f"off by {known.max() if known.size else np.nan:.3g} ({name})"
