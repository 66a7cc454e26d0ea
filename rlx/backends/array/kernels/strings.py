"""Strings: joining, splitting, normalising and matching; NumPy holds them as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site
from rlx.errors import Unavailable

DOTLESS = ("az", "lt", "tr")
"""Languages whose letters change case otherwise than Unicode's rules for all the others."""


_CHANGES: dict[str, Callable[[str], str]] = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}


def objects(values: Iterable[object], shape: tuple[int, ...]) -> Array:
    """An array of strings; an array even where it has no dimensions."""
    made = np.empty(shape, object)
    made.reshape(-1)[:] = list(values)
    return made


def _concat(_: Site) -> Kernel:
    return Fresh(lambda x, y: np.asarray(np.add(x, y), dtype=object))


def _split(site: Site) -> Kernel:
    """Parts beside each other, filled up with ""; and how many parts each string has.

    Without a delimiter strings are cut at whitespace of any length, as Python does.
    """
    delimiter = site.attributes.get("delimiter") or None
    most = site.attributes.get("maxsplit")

    def split(x: Array) -> tuple[Array, Array]:
        rows = [text.split(delimiter, -1 if most is None else most) for text in x.ravel().tolist()]
        counts = np.asarray([len(row) for row in rows], np.int64).reshape(x.shape)
        width = max(map(len, rows), default=0)
        parts = [part for row in rows for part in (*row, *("",) * (width - len(row)))]
        return objects(parts, (*x.shape, width)), counts

    if site.outputs == 1:
        return Fresh(lambda x: split(x)[0])
    return Fresh(split)


def _normalizer(site: Site) -> Kernel:
    """Drops the stop words, then changes case; of nothing left, one empty string.

    Raises:
        NotImplementedError: an unknown change of case, or a locale with case rules of its own.
    """
    action = site.attributes.get("case_change_action", "NONE")
    change = _CHANGES.get(action)
    if change is None:
        raise NotImplementedError(f"case_change_action {action!r}")
    locale = str(site.attributes.get("locale", ""))
    if locale.lower().replace("-", "_").split("_")[0] in DOTLESS and action != "NONE":
        raise NotImplementedError(f"locale {locale!r}, whose letters change case by own rules")
    key: Callable[[str], str] = str if site.attributes.get("is_case_sensitive", 0) else str.casefold
    stopwords = frozenset(map(key, site.attributes.get("stopwords", ())))

    def normalize(x: Array) -> Array:
        if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[0] != 1):
            raise ValueError(f"the shape is {x.shape}, and it takes (C,) or (1, C)")
        kept = [change(word) for word in x.ravel().tolist() if key(word) not in stopwords] or [""]
        return objects(kept, (*x.shape[:-1], len(kept)))

    return Fresh(normalize)


def _re2() -> Any:
    try:
        import re2
    except ImportError as error:
        raise Unavailable(
            "RegexFullMatch needs google-re2, which is not installed",
            fix="pip install 'rlx[text]'.",
        ) from error
    return re2


def _full_match(site: Site) -> Kernel:
    """Whether each string matches the whole pattern, in RE2's syntax; in time linear in its length.

    Raises:
        NotImplementedError: the pattern is not RE2's.
        Unavailable: RE2 is not installed.
    """
    pattern = site.attributes.get("pattern")
    if not isinstance(pattern, str):
        raise NotImplementedError(f"the pattern {pattern!r} is not UTF-8 text")
    re2 = _re2()
    options = re2.Options()
    options.log_errors = False
    try:
        match = re2.compile(pattern, options).fullmatch
    except re2.error as error:
        why = error.args[0].decode() if error.args else "it is none"
        raise NotImplementedError(f"{pattern!r} is no pattern of RE2's: {why}") from error

    def full_match(x: Array) -> Array:
        found = (match(text) is not None for text in x.ravel().tolist())
        return np.fromiter(found, bool, x.size).reshape(x.shape)

    return Fresh(full_match)


KERNELS: dict[str, Builder] = {
    "StringConcat": _concat,
    "StringSplit": _split,
    "StringNormalizer": _normalizer,
    "RegexFullMatch": _full_match,
}
HOSTED = dict.fromkeys(KERNELS)
