"""Plain scalars: what YAML 1.2's core schema reads, and what YAML 1.1 would read differently."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from rlx.manifest.faults import show

MAX_DIGITS = 40

_EXACT = 2**53
"""Below it, every whole number is a float as well."""

Plain = str | int | float | bool | None

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_OLD_BOOL = {"y": "true", "yes": "true", "on": "true", "n": "false", "no": "false", "off": "false"}
_INT = re.compile(r"[-+]?[0-9]+", re.ASCII)
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", re.ASCII)

_OLD_INT = re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]+|0x[0-9a-fA-F_]+|(?:0|[1-9][0-9_]*))", re.ASCII)
_OLD_FLOAT = re.compile(
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?", re.ASCII
)
_LOOSE = re.compile(
    r"[-+]?(?:0o[0-7_]+|_[0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?"
    r"|\.[0-9_]+(?:[eE][-+]?[0-9]+)?)",
    re.ASCII,
)
"""What is text by both versions, and a number to readers that take `_` for a digit, or a sign
before an octal number."""
_SIXTIES = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII)
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?",
    re.ASCII,
)
_FIRST = frozenset("0123456789+-.~=<yYnNoOtTfF")
"""What a scalar that is not simply text can start with; all others take the short way."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a plain scalar is not taken, and what to write instead."""

    code: str
    message: str
    fix: str


def read(text: str) -> Plain | Refusal:
    """The value of a plain scalar under YAML 1.2's core schema, or why it is refused."""
    if not text or text[0] not in _FIRST:
        return None if text in _NULL else text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    old = _OLD_BOOL.get(text.lower())
    if old is not None:
        return _ambiguous(text, old, "text", old)
    if text == "=":
        return _ambiguous(text, "a special value", "text")
    if text == "<<":
        return Refusal(
            "yaml-merge-key", "merge keys are not allowed, got <<", "write the keys out."
        )
    if _SIXTIES.fullmatch(text):
        return _ambiguous(text, "a number in base 60", "text")
    if _DATE.fullmatch(text):
        return _ambiguous(text, "a date", "text")
    if _SPECIAL.fullmatch(text):
        return _not_finite(text)
    return _number(text)


def _number(text: str) -> str | int | float | Refusal:
    """A number, or text: here the two versions disagree about underscores, bases and exponents."""
    new_int = _INT.fullmatch(text) or _BASED.fullmatch(text)
    old_int = _OLD_INT.fullmatch(text)
    new_float = None if new_int else _FLOAT.fullmatch(text)
    old_float = None if old_int else _OLD_FLOAT.fullmatch(text)
    if not (new_int or new_float or old_int or old_float):
        return _loose(text) if _LOOSE.fullmatch(text) else text
    digits = text.lstrip("+-").replace("_", "")
    if (new_int or old_int) and len(digits) > MAX_DIGITS:
        return Refusal(
            "yaml-long-integer",
            f"an integer may have {MAX_DIGITS} digits, got one of {len(digits)}",
            "write a smaller number, or quote it where text is meant.",
        )
    if new_int and len(digits) > 1 and digits[0] == "0" and digits.isdigit():
        return Refusal(
            "yaml-ambiguous-scalar",
            f"a leading 0 means octal in YAML 1.1 and nothing in YAML 1.2, got {text}",
            f"quote it: {show(text)}, or write {int(text)}.",
        )
    old = _old_int(text, digits) if old_int else float(digits) if old_float else None
    new: int | float | None = None
    if new_int:
        new = int(text, 0)
    elif new_float:
        new = float(text)
        if not math.isfinite(new):
            return _not_finite(text)
    if new is not None and type(new) is type(old):
        return new
    meant = old if new is None else new
    return _ambiguous(text, _name(old), _name(new), _written(meant))


def _old_int(text: str, digits: str) -> int:
    """An integer as YAML 1.1 reads it: a leading 0 is octal, and there is 0b."""
    prefix = digits[:2]
    if prefix in ("0x", "0b"):
        value = int(digits[2:] or "0", 16 if prefix == "0x" else 2)
    else:
        value = int(digits, 8 if digits[0] == "0" else 10)
    return -value if text[0] == "-" else value


def _name(value: float | None) -> str:
    """A number as both versions read it: Python's 1e+300 is text in YAML 1.1, 1.0e+300 is not."""
    text = "text" if value is None else repr(value)
    return text.replace("e", ".0e") if isinstance(value, float) and "." not in text else text


def _written(value: float | None) -> str:
    """A number as it is best written: a whole one without a fraction, which fits integers too."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT
    return _name(int(value) if whole and value is not None else value)


def _ambiguous(text: str, old: str, new: str, instead: str | None = None) -> Refusal:
    also = "" if instead is None else f", or write {instead}"
    return Refusal(
        "yaml-ambiguous-scalar",
        f"{show(text)[1:-1]} without quotes is {old} in YAML 1.1 and {new} in YAML 1.2",
        f"quote it: {show(text)}{also}.",
    )


def _loose(text: str) -> Refusal:
    return Refusal(
        "yaml-ambiguous-scalar",
        f"{show(text)[1:-1]} without quotes is text to some readers and a number to others",
        f"quote it: {show(text)}.",
    )


def _not_finite(text: str) -> Refusal:
    return Refusal(
        "yaml-not-finite",
        f"a number must be finite, got {show(text)[1:-1]}",
        "write a finite number, or quote it where text is meant.",
    )
