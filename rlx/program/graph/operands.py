"""Node ids, and operands: what a method knows of a node that it was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from rlx.program.graph.names import SHORT

Dims: TypeAlias = tuple[int | str | None, ...]
"""One entry per dimension: a size, a symbol's name, or None (unknown)."""


class NodeId(int):
    """A node's id: an int, that also knows the graph it belongs to."""

    owner: tuple[str, str] | None = None
    """The graph's token and name."""

    @classmethod
    def of(cls, number: int, owner: tuple[str, str]) -> NodeId:
        """The id of a graph's node."""
        made = cls(number)
        made.owner = owner
        return made


@dataclass(frozen=True, slots=True)
class Operand:
    """A node as an argument of one method."""

    argument: str
    """The method's name for it; "" for a node that the method made itself."""
    id: int
    name: str
    """The value's name in ONNX."""
    type: Any
    """ONNX's TypeProto."""
    dims: Dims | None
    """None: even the number of dimensions is unknown."""

    @property
    def dtype(self) -> str:
        """The graph's name of the dtype, such as `f32`."""
        return SHORT[self.type.tensor_type.elem_type]

    @property
    def ndim(self) -> int | None:
        """The number of dimensions, or None where it is unknown."""
        return None if self.dims is None else len(self.dims)

    def __str__(self) -> str:
        return f"{self.argument} is {shape_text(self.dtype, self.dims)}"


def shape_text(dtype: str, dims: Dims | None) -> str:
    """A type as a message shows it: `f32[3,n,?]`."""
    if dims is None:
        return f"{dtype}[...]"
    return f"{dtype}[{','.join('?' if size is None else str(size) for size in dims)}]"


def dims_of(proto: Any) -> Dims | None:
    """The dimensions that a TypeProto states."""
    if not proto.tensor_type.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
        for dim in proto.tensor_type.shape.dim
    )


def differ(one: int | str | None, other: int | str | None) -> bool:
    """True when two sizes can't be the same: both are known, and they are not equal."""
    return isinstance(one, int) and isinstance(other, int) and one != other


def broadcast(dims: list[Dims]) -> bool:
    """True when shapes may broadcast to one, as NumPy's do; unknown sizes always may."""
    longest = max(map(len, dims), default=0)
    padded = [(1,) * (longest - len(one)) + one for one in dims]
    for sizes in zip(*padded, strict=True):
        if len({size for size in sizes if isinstance(size, int) and size != 1}) > 1:
            return False
    return True
