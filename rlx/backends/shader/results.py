"""Writing to the array that a kernel makes: element by element, or four neighbours at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.backends.shader.builder import Builder, u32
from rlx.backends.shader.emission import Index
from rlx.backends.shader.values import Value, converted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.backends.shader.emission import Emission
    from rlx.backends.shader.ir import Atom, Shared
    from rlx.backends.shader.tensor import Tensor

OUT = "result"


@dataclass(frozen=True, slots=True)
class Written:
    """What a kernel needs besides its code: memory of workgroups, their grid, their size."""

    shared: tuple[Shared, ...]
    grid: tuple[int, int, int]
    threads: int
    fours: bool = False
    """Whether the result is written by fours."""


def word_type(x: Tensor) -> str:
    """The type of the words that an array is held in."""
    return "u32" if x.dtype.words == 2 or x.dtype.kind == "bool" else x.dtype.register


def stored(b: Builder, x: Tensor, flat: Atom, value: Value) -> None:
    """Write an element to the result."""
    if x.dtype.kind == "bool":
        b.store(OUT, flat, b.op("select", "u32", value[0], u32(1), u32(0)))
    elif x.dtype.words == 1:
        b.store(OUT, flat, value[0])
    else:
        wide = converted(b, value, x.register, "pair")
        at = b.mul(flat, 2)
        b.store(OUT, at, wide[0])
        b.store(OUT, b.add(at, u32(1)), wide[1])


def stored_four(
    emission: Emission,
    root: Tensor,
    quarter: Atom,
    core: Tensor | None = None,
    values: Sequence[Atom] = (),
) -> None:
    """Write four neighbours at once: what `root` is there, or makes of the core's four values."""
    b = emission.b
    words = []
    for lane in range(4):
        if core is not None:
            emission.fixed[core.serial] = (values[lane],)
        (word,) = emission.at(root, Index(root.shape, flat=emission.one_of(quarter, lane)))
        if root.dtype.kind == "bool":
            word = b.op("select", "u32", word, u32(1), u32(0))
        words.append(word)
    if core is not None:
        del emission.fixed[core.serial]
    b.store(OUT, quarter, b.op("four", f"{word_type(root)}x4", *words))


def ended(emission: Emission, core: Tensor, root: Tensor, flat: Atom, value: Value) -> None:
    """Write an element of a sum or product, or what its tail makes of it."""
    if core is not root:
        emission.fixed[core.serial] = value
        value = emission.at(root, Index(root.shape, flat=flat))
        del emission.fixed[core.serial]
    stored(emission.b, root, flat, value)
