"""What the languages of shaders have in common: a printer says only in what its own parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rlx.backends.shader.ir import (
    Assign,
    Atom,
    Barrier,
    If,
    Kernel,
    Let,
    Lit,
    Loop,
    Ref,
    Statement,
    Store,
    Var,
)

TEXT: Mapping[str, str] = MappingProxyType(
    {
        "copy": "{0}",
        "add": "{0} + {1}",
        "sub": "{0} - {1}",
        "mul": "{0} * {1}",
        "div": "{0} / {1}",
        "rem": "{0} % {1}",
        "neg": "-{0}",
        "eq": "{0} == {1}",
        "ne": "{0} != {1}",
        "lt": "{0} < {1}",
        "le": "{0} <= {1}",
        "gt": "{0} > {1}",
        "ge": "{0} >= {1}",
        "and": "{0} & {1}",
        "or": "{0} | {1}",
        "xor": "{0} ^ {1}",
        "invert": "~{0}",
        "not": "!{0}",
        "shl": "{0} << {1}",
        "shr": "{0} >> {1}",
        "fma": "fma({0}, {1}, {2})",
        "lane": "{0}.{target}",
        "load": "{target}[{0}]",
        "load_shared": "{target}[{0}]",
    }
)
"""The operations that are written alike."""
ARITHMETIC = frozenset({"add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge"})
FUNCTIONS = frozenset({"sqrt", "exp", "log", "exp2", "log2"})
ZERO = "({x} * ({x} + 1u)) & 1u"
"""0, for one of two numbers that follow each other is even; but no compiler sees that."""


class Printer(ABC):
    """A kernel as the text of one language."""

    texts: Mapping[str, str]
    """How operations are written; what is not here is a function of that name."""
    booleans: Mapping[str, str]
    """How those are written that truths have signs of their own for."""
    functions: frozenset[str] | None = None
    """The functions that the language has; None: whatever is asked for."""

    @abstractmethod
    def source(self, kernel: Kernel) -> str:
        """The whole shader; its buffers are bound in order."""

    @abstractmethod
    def number(self, one: Lit) -> str:
        """An i32 or an f32 as a literal; what has none comes from its bits."""

    @abstractmethod
    def type_name(self, type: str) -> str:
        """What the language calls a type."""

    @abstractmethod
    def bits(self, there: str, here: str, value: str) -> str:
        """The bits of a value of the type `there`, as one of the type `here`."""

    @abstractmethod
    def secret(self, bits: int) -> str:
        """A float by its bits, such that no compiler sees which one it is."""

    @abstractmethod
    def named(self, ref: Ref, value: str, *, varies: bool) -> str:
        """The declaration of a value, or of a variable."""

    @abstractmethod
    def counter(self, name: str, start: str) -> str:
        """The declaration of a loop's own u32."""

    @property
    @abstractmethod
    def barrier(self) -> str:
        """The statement at which a workgroup waits for all of its own."""

    def literal(self, one: Lit) -> str:
        """A number as the language writes it."""
        if one.type == "bool":
            return "true" if one.value else "false"
        return f"{one.value}u" if one.type == "u32" else self.number(one)

    def atom(self, one: Atom) -> str:
        """A name or a literal."""
        return one.name if isinstance(one, Ref) else self.literal(one)

    def expression(self, let: Let) -> str:
        """What a value is computed as."""
        names = [self.atom(one) for one in let.args]
        if let.op in ARITHMETIC | FUNCTIONS and let.args[0].type == "f32":
            return self.arithmetic(let, names)
        if let.op in ("cast", "four"):
            return f"{self.type_name(let.ref.type)}({', '.join(names)})"
        if let.op == "bits":
            return self.bits(let.args[0].type, let.ref.type, names[0])
        if let.op not in self.texts:
            return self._call(let.op, names)
        truths = let.args[0].type == "bool" and let.op in self.booleans
        texts = self.booleans if truths else self.texts
        return texts[let.op].format(*names, target=let.target)

    def arithmetic(self, let: Let, names: Sequence[str]) -> str:
        """An operation of floats."""
        text = self.texts.get(let.op)
        return self._call(let.op, names) if text is None else text.format(*names)

    def lines(self, body: Sequence[Statement], depth: int = 1) -> Iterator[str]:
        """The statements, a line each, and those within them further in."""
        indent = "  " * depth
        for one in body:
            match one:
                case Let():
                    yield f"{indent}{self.named(one.ref, self.expression(one), varies=False)}"
                case Var():
                    yield f"{indent}{self.named(one.ref, self.atom(one.value), varies=True)}"
                case Assign():
                    yield f"{indent}{one.ref.name} = {self.atom(one.value)};"
                case Store():
                    yield f"{indent}{one.target}[{self.atom(one.index)}] = {self.atom(one.value)};"
                case Barrier():
                    yield f"{indent}{self.barrier}"
                case If():
                    yield f"{indent}if ({self.atom(one.condition)}) {{"
                    yield from self.lines(one.body, depth + 1)
                    yield f"{indent}}}"
                case Loop():
                    name = one.ref.name
                    yield (
                        f"{indent}for ({self.counter(name, self.atom(one.start))} "
                        f"{name} < {self.atom(one.stop)}; {name} += {one.step}u) {{"
                    )
                    yield from self.lines(one.body, depth + 1)
                    yield f"{indent}}}"

    def _call(self, name: str, names: Sequence[str]) -> str:
        if self.functions is not None and name not in self.functions:
            raise KeyError(name)
        return f"{name}({', '.join(names)})"


def is_odd(bits: int) -> bool:
    """True for NaN, infinities and subnormal numbers: no literal is sure to give them."""
    exponent = bits >> 23 & 0xFF
    return exponent == 0xFF or (exponent == 0 and bits & 0x7FFFFF != 0)


def as_float(bits: int) -> str:
    """A float32, by its bits, as the shortest decimal that gives it back."""
    import struct

    import numpy as np

    value = np.float32(struct.unpack("<f", struct.pack("<I", bits))[0])
    text = np.format_float_scientific(value, unique=True, trim="0")
    return text.replace("e+", "e")
