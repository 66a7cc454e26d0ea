"""The shader language of the generator: kernels of straight code, loops and conditions.

Nothing here knows WGSL or GLSL. Every value is named once (`Let`), so that printing is a table from
operations to text. Types are `f32`, `i32`, `u32` and `bool`, and four at once, such as `f32x4`,
which `four` makes and `lane` takes one of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Number = int | float | bool


@dataclass(frozen=True, slots=True)
class Ref:
    """A named value or variable."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Lit:
    """A number that is known; floats by their bits, so that every float can be written."""

    value: int
    type: str


Atom = Ref | Lit


@dataclass(frozen=True, slots=True)
class Let:
    """A value, computed once: `op` of the arguments; `target` names memory, or one of four."""

    ref: Ref
    op: str
    args: tuple[Atom, ...]
    target: str = ""


@dataclass(frozen=True, slots=True)
class Var:
    """A variable with its first value."""

    ref: Ref
    value: Atom


@dataclass(frozen=True, slots=True)
class Assign:
    """A new value of a variable."""

    ref: Ref
    value: Atom


@dataclass(frozen=True, slots=True)
class Store:
    """A word written to memory: a buffer's, or the workgroup's."""

    target: str
    index: Atom
    value: Atom
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """The body for `ref`, a u32, from `start` to before `stop`, `step` apart."""

    ref: Ref
    start: Atom
    stop: Atom
    step: int
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    """The body where a condition holds."""

    condition: Atom
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Barrier:
    """All of a workgroup come here before any goes on, and see what the others wrote."""


Statement = Let | Var | Assign | Store | Loop | If | Barrier


@dataclass(frozen=True, slots=True)
class Buffer:
    """Device memory as a kernel sees it: 32-bit words of one type, or fours of them."""

    name: str
    type: str
    writable: bool


@dataclass(frozen=True, slots=True)
class Shared:
    """Memory of a workgroup."""

    name: str
    type: str
    size: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """One shader and the grid of workgroups that it runs on.

    In the body `group_x`, `group_y` and `group_z` are the workgroup's place, and `local` the
    invocation's place in it, all u32.
    """

    buffers: tuple[Buffer, ...]
    shared: tuple[Shared, ...]
    body: tuple[Statement, ...]
    threads: int
    grid: tuple[int, int, int] = field(default=(1, 1, 1))


GROUP = tuple(Ref(f"group_{axis}", "u32") for axis in "xyz")
LOCAL = Ref("local", "u32")
