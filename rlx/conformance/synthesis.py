"""From what ran to what is claimed: the most that the passes support and no failure contradicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rlx.program import Signature

Types = tuple[tuple[str, tuple[str, ...]], ...]
OMITTED = ("NoneType", None)
"""How the value of an attribute that a node has not is compared."""
Attributes = tuple[tuple[str, tuple[Any, ...]], ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One box of what an operation can do: the product of its dtypes, values and ndims."""

    types: Types = ()
    attributes: Attributes = ()
    ndim: tuple[int, int | None] | None = None

    def covers(self, signature: Signature) -> bool:
        """Whether a node with this signature lies inside; the operation is not looked at."""
        types = dict(self.types)
        typed = all(dtype in types.get(variable, ()) for variable, dtype in signature.types)
        return typed and self.admits(signature)

    def admits(self, signature: Signature) -> bool:
        """As `covers`, apart from dtypes."""
        if not signature.known:
            return False
        if self.attributes:
            attributes = dict(self.attributes)
            for name, value in signature.attributes:
                if name in attributes and not _among(value, attributes[name]):
                    return False
        if self.ndim is None:
            return True
        low, high = self.ndim
        return all(
            ndim is not None and ndim >= low and (high is None or ndim <= high)
            for _, ndim in signature.ndims
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """What ran of one operation."""

    passed: tuple[Signature, ...]
    failed: tuple[Signature, ...] = ()
    choices: tuple[str, ...] = ()
    """The attributes that pick among a few texts: only values that passed are claimed."""
    variables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Each type variable that the schema leaves open, with the dtypes it allows."""


def synthesize(evidence: Evidence) -> tuple[Claim, ...]:
    """The claims for one operation, in a fixed order.

    Each combination of dtypes that passed is claimed with its choices limited to those that
    passed. Where a failure lies inside, attributes and then ndim are limited until it does not;
    what can't be told from a failure is not claimed.
    """
    failed = frozenset(evidence.failed)
    passed = [signature for signature in dict.fromkeys(evidence.passed) if signature not in failed]
    boxes: dict[Types, tuple[Claim, ...]] = {}
    passes, failures = _by_types(passed), _by_types(failed)
    for types in _combinations(passed, evidence.variables):
        good, bad = _inside_types(types, passes), _inside_types(types, failures)
        limits = _separate(good, bad, evidence.choices)
        if limits:
            boxes[types] = limits
    merged: list[Claim] = []
    for limits in dict.fromkeys(boxes.values()):
        same = [types for types, found in boxes.items() if found == limits]
        merged += [
            Claim(types, limit.attributes, limit.ndim)
            for types in products(same)
            for limit in limits
        ]
    return tuple(sorted(_simplest(merged), key=repr))


_Types = tuple[tuple[str, str], ...]


def _by_types(signatures: Iterable[Signature]) -> dict[_Types, list[Signature]]:
    """Those that coverage can say anything of, by their dtypes."""
    found: dict[_Types, list[Signature]] = {}
    for signature in signatures:
        if signature.known:
            found.setdefault(signature.types, []).append(signature)
    return found


def _inside_types(types: Types, groups: Mapping[_Types, list[Signature]]) -> list[Signature]:
    """The signatures whose dtypes all lie within."""
    allowed = dict(types)
    return [
        signature
        for bound, group in groups.items()
        if all(dtype in allowed.get(variable, ()) for variable, dtype in bound)
        for signature in group
    ]


def _combinations(
    passed: Iterable[Signature], variables: Mapping[str, tuple[str, ...]]
) -> list[Types]:
    """The combinations of dtypes that passed; a variable that no operand binds takes one."""
    found: dict[Types, None] = {}
    partial: dict[Types, None] = {}
    for signature in passed:
        bound: dict[str, tuple[str, ...]] = {}
        for variable, dtype in signature.types:
            bound[variable] = (*bound.get(variable, ()), dtype)
        types = tuple(sorted(bound.items()))
        (found if set(bound) == set(variables) else partial)[types] = None
    for types in partial:
        if any(_agree(types, whole) for whole in found):
            continue
        rest = {name: (_likely(name, found, dtypes),) for name, dtypes in variables.items()}
        found[tuple(sorted({**rest, **dict(types)}.items()))] = None
    return sorted(found)


def _agree(part: Types, whole: Types) -> bool:
    full = dict(whole)
    return all(set(dtypes) <= set(full[variable]) for variable, dtypes in part)


def _likely(variable: str, found: Iterable[Types], allowed: tuple[str, ...]) -> str:
    """The dtype that stands for a variable no operand bound: one that passed, else a common one."""
    for types in found:
        return dict(types)[variable][0]
    return next((name for name in ("float32", "int64", "bool") if name in allowed), allowed[0])


class _Seen:
    """A signature, with its attributes' values by name: they are looked at very often."""

    __slots__ = ("ndims", "signature", "values")

    def __init__(self, signature: Signature):
        self.signature = signature
        self.values = {name: _key(value) for name, value in signature.attributes}
        self.ndims = [ndim for _, ndim in signature.ndims if ndim is not None]


_Option = tuple[Claim, Callable[[_Seen], bool]]
"""A narrower claim, and whether a signature inside the wider one is inside it too."""


def _separate(
    good: list[Signature], bad: list[Signature], choices: Collection[str]
) -> tuple[Claim, ...]:
    """Limits that together admit as many of `good` as can be told from every one of `bad`."""
    found: list[Claim] = []
    start = Claim(attributes=_tested(good, choices))
    right = [_Seen(s) for s in good if start.admits(s)]
    wrong = [_Seen(s) for s in bad if start.admits(s)]
    left = [_Seen(s) for s in good]
    while left:
        claim = _grow(start, left[0], right, wrong)
        if claim is None:
            left.pop(0)
            continue
        found.append(claim)
        left = [one for one in left if not claim.admits(one.signature)]
    return tuple(sorted(found, key=repr))


def _grow(claim: Claim, seed: _Seen, inside: list[_Seen], inside_bad: list[_Seen]) -> Claim | None:
    """The widest limits found around `seed` that keep every one of `inside_bad` out."""
    while inside_bad:
        options = [_limit(claim, name, seed, inside, inside_bad) for name in seed.values]
        options += _bounds(claim, seed, inside, inside_bad)
        best: tuple[tuple[bool, int, int], Claim, list[_Seen], list[_Seen]] | None = None
        for place, (option, admits) in enumerate(options):
            bad = [one for one in inside_bad if admits(one)]
            if len(bad) == len(inside_bad) or not admits(seed):
                continue  # of unknown ndim, the seed itself satisfies no bound
            good = [one for one in inside if admits(one)]
            score = (bool(bad), -len(good), place)
            if best is None or score < best[0]:
                best = (score, option, good, bad)
        if best is None:
            return None
        _, claim, inside, inside_bad = best
    return claim


def _tested(good: list[Signature], choices: Collection[str]) -> Attributes:
    values: dict[str, dict[Any, None]] = {}
    for signature in good:
        for name, value in signature.attributes:
            if name in choices:
                values.setdefault(name, {})[value] = None
    return tuple((name, tuple(sorted(values[name], key=repr))) for name in sorted(values))


def _limit(claim: Claim, name: str, seed: _Seen, inside: list[_Seen], bad: list[_Seen]) -> _Option:
    """The claim with one attribute limited to values that only pass, or to the seed's own."""
    own = seed.values[name]
    fails = {one.values.get(name, OMITTED) for one in bad}
    held = {one.values.get(name, OMITTED) for one in inside}
    kept = {own} if own in fails else held - fails
    values = tuple(sorted((value for _, value in kept), key=repr))
    limited = {**dict(claim.attributes), name: values}
    narrow = Claim(claim.types, tuple(sorted(limited.items())), claim.ndim)
    return narrow, lambda one: name not in one.values or one.values[name] in kept


def _bounds(claim: Claim, seed: _Seen, inside: list[_Seen], bad: list[_Seen]) -> Iterator[_Option]:
    """The claim with ndim bounded above or below: passes nearest to a failure are the bound."""
    own = seed.ndims
    if not own:
        return
    low, high = claim.ndim or (0, None)
    above = [max(one.ndims) for one in bad if one.ndims and max(one.ndims) > max(own)]
    if above:
        kept = [max(one.ndims) for one in inside if one.ndims and max(one.ndims) < min(above)]
        yield _bounded_by(claim, low, max(kept))
    below = [min(one.ndims) for one in bad if one.ndims and min(one.ndims) < min(own)]
    if below:
        kept = [min(one.ndims) for one in inside if one.ndims and min(one.ndims) > max(below)]
        yield _bounded_by(claim, min(kept), high)


def _bounded_by(claim: Claim, low: int, high: int | None) -> _Option:
    bound = Claim(ndim=(low, high))
    narrow = Claim(claim.types, claim.attributes, (low, high))
    return narrow, lambda one: bound.admits(one.signature)


def products(combinations: Iterable[Types]) -> list[Types]:
    """The fewest products, greedily, whose union is exactly these combinations."""
    boxes = sorted(set(combinations))
    while True:
        before = boxes
        for place in reversed(range(len(boxes[0]) if boxes else 0)):
            unions: dict[Types, set[str]] = {}
            for box in boxes:
                rest = (*box[:place], (box[place][0], ()), *box[place + 1 :])
                unions.setdefault(rest, set()).update(box[place][1])
            boxes = sorted(
                (*rest[:place], (rest[place][0], tuple(sorted(dtypes))), *rest[place + 1 :])
                for rest, dtypes in unions.items()
            )
        if boxes == before:
            return boxes


def _simplest(claims: list[Claim]) -> list[Claim]:
    """Without repetition, and without claims that lie inside another."""
    unique = list(dict.fromkeys(claims))
    return [a for a in unique if not any(a != b and _inside(a, b) for b in unique)]


def _inside(a: Claim, b: Claim) -> bool:
    types, values = dict(b.types), dict(b.attributes)
    mine = dict(a.attributes)
    return (
        _bounded(a.ndim, b.ndim)
        and all(set(dtypes) <= set(types.get(variable, ())) for variable, dtypes in a.types)
        and all(
            name in mine and {_key(v) for v in mine[name]} <= {_key(v) for v in allowed}
            for name, allowed in values.items()
        )
    )


def _bounded(a: tuple[int, int | None] | None, b: tuple[int, int | None] | None) -> bool:
    """Whether every ndim that `a` allows is allowed by `b`."""
    if b is None or a is None:
        return b is None
    return a[0] >= b[0] and (b[1] is None or (a[1] is not None and a[1] <= b[1]))


def _key(value: Any) -> tuple[str, Any]:
    """A value that tells 1 from 1.0 and from True."""
    return type(value).__name__, value


def _among(value: Any, allowed: tuple[Any, ...]) -> bool:
    return any(_key(value) == _key(one) for one in allowed)
