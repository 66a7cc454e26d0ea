"""Reading regular expressions in RE2's syntax (github.com/google/re2/wiki/Syntax)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rlx.backends.array.regex_characters import CATEGORIES, LAST, PERL, POSIX, CharSet

REPEATS = 1000
"""RE2's limit on counted repetition, nested repetition multiplied."""
DEPTH = 200
"""How deep groups may nest here."""

Tree = tuple[Any, ...]
"""("set", CharSet), ("at", place), ("all", trees), ("any", trees) or ("repeat", tree, low, high)
with high None: no limit. A place is `start`, `end`, `line start`, `line end`, `word` or
`no word`."""


class PatternError(ValueError):
    """The pattern is not RE2's, or reaches beyond what is supported."""


@dataclass(frozen=True, slots=True)
class _Flags:
    """i: case does not count; m: ^ and $ at lines; s: the dot takes newlines."""

    i: bool = False
    m: bool = False
    s: bool = False


def parse(pattern: str) -> Tree:
    """The pattern's tree.

    Raises:
        PatternError: what RE2 refuses too (back references, looking around, a repetition of more
            than 1,000), `\\C`, Unicode's scripts, or groups nested deeper than 200.
    """
    reader = _Reader(pattern)
    tree, _ = reader.alternatives(_Flags(), 0)
    if not reader.done:
        raise PatternError(f"')' at {reader.at} closes nothing")
    return tree


class _Reader:
    """A place in the pattern, moved on as it is read."""

    def __init__(self, pattern: str):
        self.pattern = pattern
        self.at = 0
        self.names: set[str] = set()

    @property
    def done(self) -> bool:
        return self.at >= len(self.pattern)

    def ahead(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self) -> str:
        if self.done:
            raise PatternError("the pattern ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def skip(self, text: str) -> bool:
        """Whether the text is next; if so, it is passed."""
        found = self.ahead(text)
        self.at += len(text) * found
        return found

    def until(self, end: str) -> str:
        """The text up to `end`, which is passed too."""
        stop = self.pattern.find(end, self.at)
        if stop < 0:
            raise PatternError(f"{end!r} is missing after {self.at}")
        text, self.at = self.pattern[self.at : stop], stop + len(end)
        return text

    def alternatives(self, flags: _Flags, depth: int) -> tuple[Tree, int]:
        """One group's inside, and its greatest product of repetitions."""
        if depth > DEPTH:
            raise PatternError(f"groups nest deeper than {DEPTH}")
        choices: list[Tree] = []
        line: list[tuple[Tree, int]] = []
        most = 1
        repeatable = False
        while not self.done and not self.ahead(")"):
            if self.skip("|"):
                choices.append(("all", tuple(tree for tree, _ in line)))
                line, repeatable = [], False
            elif (repeat := self._repetition()) is not None:
                if not repeatable:
                    raise PatternError(f"the repetition before {self.at} repeats nothing")
                tree, product = line.pop()
                low, high = repeat
                product *= max(low, high or 0, 1)
                if product > REPEATS:
                    raise PatternError(f"more than {REPEATS} repetitions before {self.at}")
                line.append((("repeat", tree, low, high), product))
                repeatable, most = False, max(most, product)
            elif self.skip("\\Q"):
                text = self.until("\\E") if "\\E" in self.pattern[self.at :] else self._rest()
                line += [(self._literal(one, flags), 1) for one in text]
                repeatable = bool(text)
            elif self.skip("("):
                inner = self._flags(flags) if self.skip("?") else (flags, True)
                flags, grouped = inner if not inner[1] else (flags, inner[0])
                repeatable = bool(grouped)
                if isinstance(grouped, _Flags):
                    tree, product = self.alternatives(grouped, depth + 1)
                    if not self.skip(")"):
                        raise PatternError("a '(' is not closed")
                    line.append((tree, product))
                    most = max(most, product)
            else:
                line.append((self._one(flags), 1))
                repeatable = True
        choices.append(("all", tuple(tree for tree, _ in line)))
        return (choices[0] if len(choices) == 1 else ("any", tuple(choices))), most

    def _rest(self) -> str:
        text, self.at = self.pattern[self.at :], len(self.pattern)
        return text

    def _repetition(self) -> tuple[int, int | None] | None:
        """What the next operator repeats, if it is one; `{` that counts nothing is a character."""
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        start = self.at
        for sign, bounds in simple.items():
            if self.skip(sign):
                self.skip("?")
                return bounds
        if not self.skip("{") or "}" not in self.pattern[self.at :]:
            self.at = start
            return None
        low, comma, high = self.until("}").partition(",")
        if not _is_number(low) or (high and not _is_number(high)):
            self.at = start
            return None
        self.skip("?")
        least, most = int(low), (int(high) if high else None if comma else int(low))
        if max(least, most or 0) > REPEATS or (most is not None and least > most):
            raise PatternError(f"{self.pattern[start : self.at]!r} repeats wrongly")
        return least, most

    def _flags(self, flags: _Flags) -> tuple[_Flags, bool]:
        """The flags after `(?`, and whether a group follows that they hold in."""
        if self.skip("P<") or (self.ahead("<") and not self.ahead("<=") and not self.ahead("<!")):
            self.skip("<")
            name = self.until(">")
            if not name or not all(one.isalnum() or one == "_" for one in name):
                raise PatternError(f"{name!r} is no name of a group")
            if name in self.names:
                raise PatternError(f"two groups are named {name!r}")
            self.names.add(name)
            return flags, True
        value = True
        while True:
            sign = self.take()
            if sign in "ims":
                flags = replace(flags, **{sign: value})
            elif sign == "-" and value:
                value = False
            elif sign in ":)":
                return flags, sign == ":"
            elif sign != "U":  # greediness makes no difference to a full match
                raise PatternError(f"'(?{sign}' before {self.at} is not RE2's")

    def _one(self, flags: _Flags) -> Tree:
        sign = self.take()
        if sign == ".":
            return "set", CharSet(negated=True) if flags.s else CharSet(((10, 10),), negated=True)
        if sign == "^":
            return "at", "line start" if flags.m else "start"
        if sign == "$":
            return "at", "line end" if flags.m else "end"
        if sign == "[":
            return "set", self._class(flags)
        if sign != "\\":
            return self._literal(sign, flags)
        places = {"A": "start", "z": "end", "b": "word", "B": "no word"}
        if not self.done and self.pattern[self.at] in places:
            return "at", places[self.take()]
        found = self._escape()
        if isinstance(found, str):
            return self._literal(found, flags)
        return "set", replace(found, folded=flags.i)

    def _literal(self, character: str, flags: _Flags) -> Tree:
        code = ord(character)
        return "set", CharSet(((code, code),), folded=flags.i)

    def _class(self, flags: _Flags) -> CharSet:
        """What stands between brackets, the first of them passed."""
        negated = self.skip("^")
        ranges: list[tuple[int, int]] = []
        parts: list[CharSet] = []
        first = True
        while first or not self.ahead("]"):
            first = False
            low = self._member()
            if isinstance(low, CharSet):
                parts.append(low)
                continue
            high: str | CharSet = low
            if self.ahead("-") and not self.ahead("-]"):
                self.take()
                high = self._member()
            if isinstance(high, CharSet) or high < low:
                raise PatternError(f"the range before {self.at} has no order")
            ranges.append((ord(low), ord(high)))
        self.take()
        return CharSet(tuple(ranges), (), tuple(parts), negated, flags.i)

    def _member(self) -> str | CharSet:
        if self.skip("[:"):
            name = self.until(":]")
            named = POSIX.get(name.removeprefix("^"))
            if named is None:
                raise PatternError(f"there is no class [:{name}:]")
            return CharSet(named, negated=name.startswith("^"))
        sign = self.take()
        return self._escape() if sign == "\\" else sign

    def _escape(self) -> str | CharSet:
        """The character or set that is meant, the backslash passed."""
        sign = self.take()
        if sign.lower() in PERL:
            ranges = PERL[sign.lower()]
            return CharSet(ranges, negated=sign.isupper())
        if sign in "pP":
            return self._category(outer=sign == "P")
        if sign in "afnrtv":
            return dict(zip("afnrtv", "\a\f\n\r\t\v", strict=True))[sign]
        if sign == "x":
            digits = self.until("}") if self.skip("{") else self.take() + self.take()
            return _character(digits, 16)
        if sign == "0" or (sign in "1234567" and not self.done and self._octal(self.at)):
            digits = sign
            while len(digits) < 3 and not self.done and self._octal(self.at):
                digits += self.take()
            return _character(digits, 8)
        if sign.isascii() and not sign.isalnum():
            return sign
        raise PatternError(f"'\\{sign}' before {self.at} is not supported")

    def _octal(self, at: int) -> bool:
        return self.pattern[at] in "01234567"

    def _category(self, outer: bool) -> CharSet:
        name = self.until("}") if self.skip("{") else self.take()
        outer ^= name.startswith("^")
        name = name.removeprefix("^")
        if name == "Any":
            return CharSet(((0, LAST),), negated=outer)
        if name not in CATEGORIES:
            raise PatternError(f"'\\p{{{name}}}' is not a general category")
        return CharSet(categories=(name,), negated=outer)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 5


def _character(digits: str, base: int) -> str:
    try:
        return chr(int(digits, base)) if digits.isalnum() else chr(-1)
    except (ValueError, OverflowError):
        raise PatternError(f"{digits!r} is no character's number") from None
