"""Writing a kernel's body: values are folded where they are known, and never computed twice."""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator
from contextlib import contextmanager

from rlx.backends.shader.ir import (
    Assign,
    Atom,
    Barrier,
    If,
    Let,
    Lit,
    Loop,
    Ref,
    Statement,
    Store,
    Var,
)

_TOP = 1 << 32
BOOLEAN = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def f32(value: float) -> Lit:
    """A float as a literal; what float32 cannot hold is rounded to it."""
    try:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        bits = 0x7F800000 if value > 0 else 0xFF800000
    return Lit(bits, "f32")


def u32(value: int) -> Lit:
    """An unsigned integer as a literal; it wraps around."""
    return Lit(value % _TOP, "u32")


def i32(value: int) -> Lit:
    """A signed integer as a literal; it wraps around."""
    return Lit((value + (1 << 31)) % _TOP - (1 << 31), "i32")


def truth(value: bool) -> Lit:
    """A truth as a literal."""
    return Lit(int(value), "bool")


class Builder:
    """The statements so far, and which values have names already."""

    def __init__(self, loose: Container[str] = ()) -> None:
        self.loose = loose
        """The functions of floats that the device gets wrong: they are mended."""
        self._blocks: list[list[Statement]] = [[]]
        self._known: list[dict[object, Ref]] = [{}]
        self._count = 0

    @property
    def body(self) -> tuple[Statement, ...]:
        """All statements."""
        return tuple(self._blocks[0])

    def op(self, op: str, type_: str, *args: Atom, target: str = "") -> Atom:
        """The value of an operation: known, named before, or named now."""
        folded = _folded(op, args)
        if folded is not None:
            return folded
        key = (op, type_, args, target)
        for scope in reversed(self._known):
            if key in scope:
                return scope[key]
        ref = self._fresh("v", type_)
        self._blocks[-1].append(Let(ref, op, args, target))
        if op != "load_shared":
            self._known[-1][key] = ref
        return ref

    def load(self, buffer: str, type_: str, index: Atom) -> Atom:
        """A word of a buffer that this kernel does not write to."""
        return self.op("load", type_, index, target=buffer)

    def load_shared(self, name: str, type_: str, index: Atom) -> Atom:
        """A word of the workgroup's memory, as it is now."""
        return self.op("load_shared", type_, index, target=name)

    def store(self, target: str, index: Atom, value: Atom, *, shared: bool = False) -> None:
        """Write a word."""
        self._blocks[-1].append(Store(target, index, value, shared))

    def var(self, value: Atom) -> Ref:
        """A variable; reading it is never remembered."""
        ref = self._fresh("x", value.type)
        self._blocks[-1].append(Var(ref, value))
        return ref

    def read(self, ref: Ref) -> Atom:
        """The value that a variable has now."""
        now = self._fresh("v", ref.type)
        self._blocks[-1].append(Let(now, "copy", (ref,)))
        return now

    def assign(self, ref: Ref, value: Atom) -> None:
        """A new value of a variable."""
        self._blocks[-1].append(Assign(ref, value))

    def barrier(self) -> None:
        """Wait for the workgroup."""
        self._blocks[-1].append(Barrier())

    @contextmanager
    def loop(self, start: Atom, stop: Atom, step: int = 1) -> Iterator[Ref]:
        """The statements within are a loop's body."""
        ref = self._fresh("i", "u32")
        with self._scope() as body:
            yield ref
        self._blocks[-1].append(Loop(ref, start, stop, step, tuple(body)))

    @contextmanager
    def when(self, condition: Atom) -> Iterator[None]:
        """The statements within happen where the condition holds."""
        if isinstance(condition, Lit) and condition.value:
            yield
            return
        with self._scope() as body:
            yield
        self._blocks[-1].append(If(condition, tuple(body)))

    @contextmanager
    def _scope(self) -> Iterator[list[Statement]]:
        body: list[Statement] = []
        self._blocks.append(body)
        self._known.append({})
        try:
            yield body
        finally:
            self._blocks.pop()
            self._known.pop()

    def _fresh(self, letter: str, type_: str) -> Ref:
        self._count += 1
        return Ref(f"{letter}{self._count}", type_)

    # Whole numbers without sign: what indices are computed in.

    def add(self, a: Atom, b: Atom) -> Atom:
        """The sum."""
        return self.op("add", "u32", a, b)

    def mul(self, a: Atom, b: int) -> Atom:
        """So many times."""
        return self.op("mul", "u32", a, u32(b))

    def div(self, a: Atom, b: int) -> Atom:
        """The quotient."""
        return self.op("div", "u32", a, u32(b))

    def mod(self, a: Atom, b: int) -> Atom:
        """The rest."""
        return self.op("rem", "u32", a, u32(b))


_U32 = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "rem": lambda a, b: a % b,
}


def _folded(op: str, args: tuple[Atom, ...]) -> Atom | None:
    """What an operation gives where that is known without computing; of unsigned integers only."""
    if op == "select":
        condition, a, b = args
        if isinstance(condition, Lit):
            return a if condition.value else b
        return a if a == b else None
    if op == "and" and args[0].type == "bool":
        for one, other in (args, args[::-1]):
            if isinstance(one, Lit):
                return other if one.value else one
        return None
    if op not in _U32 or args[0].type != "u32":
        return None
    a, b = args
    if isinstance(a, Lit) and isinstance(b, Lit):
        return u32(_U32[op](a.value, b.value))
    if isinstance(b, Lit):
        if (op, b.value) in (("add", 0), ("sub", 0), ("mul", 1), ("div", 1)):
            return a
        if (op, b.value) in (("mul", 0), ("rem", 1)):
            return u32(0)
    if isinstance(a, Lit) and (op, a.value) in (("add", 0), ("mul", 1)):
        return b
    return a if isinstance(a, Lit) and not a.value and op in ("mul", "div", "rem") else None
