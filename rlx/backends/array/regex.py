"""Regular expressions that match in time linear in the text, whatever the pattern.

The pattern becomes a nondeterministic automaton (K. Thompson, "Regular expression search
algorithm", 1968), whose sets of states are made into a deterministic one as texts need them, in
a cache of limited size, as in R. Cox, "Regular Expression Matching: the Virtual Machine Approach".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rlx.backends.array.regex_characters import PERL, CharSet
from rlx.backends.array.regex_syntax import PatternError, Tree, parse

SIZE = 100_000
"""How many states the automaton of one pattern may have."""
CACHE = 10_000
"""How many moves between sets of states are kept."""
_WORD = CharSet(PERL["w"])
_EDGE, _NEWLINE, _LETTER, _OTHER = range(4)
"""What stands beside a place: the text's edge, a newline, a word's character, or another."""


@dataclass(eq=False, slots=True)
class _State:
    """States of the automaton that the text so far leads to, and where each character leads."""

    nodes: frozenset[int]
    before: int
    moves: dict[str, _State] = field(default_factory=dict)
    open: dict[int, list[int]] = field(default_factory=dict)
    """By what stands behind the place: the nodes that take a character, or accept."""


class Regex:
    """A compiled pattern in RE2's syntax."""

    def __init__(self, pattern: str):
        """Compile it.

        Raises:
            PatternError: see `parse`; or the automaton would be too large.
        """
        self._sets: list[CharSet | None] = []
        self._places: list[str | None] = []
        self._next: list[tuple[int, ...]] = []
        self._accept = self._node()
        start = self._build(parse(pattern), self._accept)
        self._first = _State(frozenset({start}), _EDGE)
        self._known: dict[tuple[frozenset[int], int], _State] = {}
        self._moves = 0

    def fullmatch(self, text: str) -> bool:
        """Whether the whole text matches."""
        state = self._first
        for character in text:
            found = state.moves.get(character)
            state = self._move(state, character) if found is None else found
            if not state.nodes:
                return False
        return self._accept in self._open(state, _EDGE)

    def _move(self, state: _State, character: str) -> _State:
        kind = _kind(character)
        nodes = frozenset(
            target
            for node in self._open(state, kind)
            if (held := self._sets[node]) is not None and character in held
            for target in self._next[node]
        )
        if self._moves >= CACHE:
            self._known, self._moves = {}, 0
            self._first = _State(self._first.nodes, _EDGE)
        self._moves += 1
        found = self._known.setdefault((nodes, kind), _State(nodes, kind))
        state.moves[character] = found
        return found

    def _open(self, state: _State, behind: int) -> list[int]:
        """What can be reached without taking a character, given what stands behind."""
        known = state.open.get(behind)
        if known is not None:
            return known
        seen, pending, found = set(state.nodes), list(state.nodes), []
        while pending:
            node = pending.pop()
            place = self._places[node]
            if self._sets[node] is not None or node == self._accept:
                found.append(node)
            elif place is None or _holds(place, state.before, behind):
                fresh = [target for target in self._next[node] if target not in seen]
                seen.update(fresh)
                pending += fresh
        state.open[behind] = found
        return found

    def _node(
        self, held: CharSet | None = None, place: str | None = None, to: tuple[int, ...] = ()
    ) -> int:
        if len(self._next) >= SIZE:
            raise PatternError(f"it takes more than {SIZE} states")
        self._sets.append(held)
        self._places.append(place)
        self._next.append(to)
        return len(self._next) - 1

    def _build(self, tree: Tree, end: int) -> int:
        """The node that leads through the tree to `end`."""
        kind = tree[0]
        if kind == "set":
            return self._node(held=tree[1], to=(end,))
        if kind == "at":
            return self._node(place=tree[1], to=(end,))
        if kind == "all":
            for part in reversed(tree[1]):
                end = self._build(part, end)
            return end
        if kind == "any":
            return self._node(to=tuple(self._build(part, end) for part in tree[1]))
        _, inner, low, high = tree
        if high is None:
            loop = self._node()
            self._next[loop] = (self._build(inner, loop), end)
            end = loop
        else:
            final = end
            for _ in range(high - low):
                end = self._node(to=(self._build(inner, end), final))
        for _ in range(low):
            end = self._build(inner, end)
        return end


def _kind(character: str) -> int:
    if character == "\n":
        return _NEWLINE
    return _LETTER if character in _WORD else _OTHER


def _holds(place: str, before: int, behind: int) -> bool:
    if place == "start":
        return before == _EDGE
    if place == "end":
        return behind == _EDGE
    if place == "line start":
        return before in (_EDGE, _NEWLINE)
    if place == "line end":
        return behind in (_EDGE, _NEWLINE)
    return ((before == _LETTER) != (behind == _LETTER)) == (place == "word")
