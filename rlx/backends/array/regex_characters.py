"""Sets of characters in regular expressions, as RE2 defines them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

Ranges = tuple[tuple[int, int], ...]
LAST = 0x10FFFF

PERL: dict[str, Ranges] = {
    "d": ((48, 57),),
    "s": ((9, 10), (12, 13), (32, 32)),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
}
POSIX: dict[str, Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": PERL["w"],
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
CATEGORIES = frozenset(
    major + minor
    for major, minors in (
        ("C", "cfos"),
        ("L", "lmotu"),
        ("M", "cen"),
        ("N", "dlo"),
        ("P", "cdefios"),
        ("S", "ckmo"),
        ("Z", "lps"),
    )
    for minor in ("", *minors)
)
"""Unicode's general categories; `Any` is every character."""


@dataclass(frozen=True, slots=True)
class CharSet:
    """Characters in any of the ranges, categories or parts; or in none, where `negated`."""

    ranges: Ranges = ()
    categories: tuple[str, ...] = ()
    parts: tuple[CharSet, ...] = ()
    negated: bool = False
    folded: bool = False
    """True where case does not count; it then counts in no part either."""

    def __contains__(self, character: str) -> bool:
        return self._matches(_orbit(character) if self.folded else (character,))

    def _matches(self, forms: tuple[str, ...]) -> bool:
        held = any(map(self._holds, forms)) or any(part._matches(forms) for part in self.parts)
        return held != self.negated

    def _holds(self, character: str) -> bool:
        code = ord(character)
        if any(low <= code <= high for low, high in self.ranges):
            return True
        return bool(self.categories) and unicodedata.category(character).startswith(self.categories)


_APART = {"k": "\u212a", "s": "\u017f", "\u00e5": "\u212b"}
"""Letters with one more form, which Python's lower() reaches only from that form."""


@lru_cache(1024)
def _orbit(character: str) -> tuple[str, ...]:
    """The character and all that differ from it in case alone."""
    found = {character}
    while True:
        more = {form for one in found for form in (one.lower(), one.upper(), one.title())}
        more |= {_APART[one] for one in found if one in _APART}
        more = {form for form in more if len(form) == 1} - found
        if not more:
            return tuple(found)
        found |= more
