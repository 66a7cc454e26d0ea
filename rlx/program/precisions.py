"""Which floating-point dtypes keep the promise of a precision that was asked for."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Iterable

FLOATS = ("bfloat16", "float16", "float32", "float64")
STATED = {
    "f32": ("float32", "float64"),
    "f16": ("float16",),
    "bf16": ("bfloat16",),
}
"""By what is asked for, the dtypes that a program may state and keep the promise."""


def floats(dtypes: Iterable[str]) -> set[str]:
    """The floating-point dtypes among these, also those within `seq(…)`, `map(…)` and so on."""
    words = (one.replace("(", ",").replace(")", ",").split(",") for one in dtypes)
    return set(FLOATS).intersection(word for each in words for word in each)


def others(dtypes: Iterable[str], precision: str) -> list[str]:
    """The floating-point dtypes among these that are not of the precision, sorted."""
    return sorted(floats(dtypes) - set(STATED[precision]))
