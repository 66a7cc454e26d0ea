"""`kernel_dispatch`: which operations are lowered, and which must not be; its one grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rlx.operations.vocabulary import Vocabulary
from rlx.spelling import nearest

POLICIES = ("native", "prefer-native", "common")
DEFAULT = "prefer-native"
_OPERATION = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_.-]*::)?[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class BadDispatch(ValueError):
    """A text that is no `kernel_dispatch`; says what to write instead."""

    def __init__(self, message: str, fix: str):
        super().__init__(message)
        self.message, self.fix = message, fix


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A policy, and other ones for single operations.

    `native` lowers nothing; `prefer-native` lowers what the backend does not claim; `common`
    lowers all that has a function body whose operations the backend claims, and leaves the rest
    native where it is claimed. `str()` is what `parse` reads.
    """

    policy: str = DEFAULT
    overrides: tuple[tuple[str, str], ...] = ()
    """(operation, policy) pairs, by operation."""

    def of(self, operation: str) -> str:
        """The policy in force for an operation."""
        for name, policy in self.overrides:
            if name == operation:
                return policy
        return self.policy

    def __str__(self) -> str:
        return ",".join([self.policy, *(f"{name}={policy}" for name, policy in self.overrides)])


@lru_cache(maxsize=64)
def parse(text: str) -> Dispatch:
    """Read `prefer-native`, `common,Gelu=native`, `Gelu=common`; blanks around signs are fine.

    A policy has any case, and comes at most once; an operation is named as coverage names it.

    Raises:
        BadDispatch: it is anything else.
    """
    policy, overrides = None, dict[str, str]()
    for part in text.split(","):
        name, sign, value = (one.strip(" \t") for one in part.partition("="))
        if not sign:
            if policy is not None:
                raise BadDispatch(
                    f"the text {text!r:.200} holds two policies, {policy} and {name or 'nothing'}",
                    "write one policy, then single operations, such as prefer-native,Gelu=common.",
                )
            policy = _policy(name)
            continue
        operation = Vocabulary.canonical(name)
        if not _OPERATION.fullmatch(operation):
            raise BadDispatch(
                f"{name!r:.200} is no operation",
                "write Name or domain::Name, such as Gelu=common.",
            )
        if operation in overrides:
            raise BadDispatch(
                f"the text {text!r:.200} names {operation} twice", "name each operation once."
            )
        overrides[operation] = _policy(value)
    return Dispatch(policy or DEFAULT, tuple(sorted(overrides.items())))


def _policy(name: str) -> str:
    policy = name.lower()
    if policy in POLICIES:
        return policy
    near = nearest(policy, POLICIES)
    raise BadDispatch(
        f"unknown value {name!r:.200}, allowed: {', '.join(POLICIES)}",
        f"did you mean {near}?" if near else f"write one of: {', '.join(POLICIES)}.",
    )
