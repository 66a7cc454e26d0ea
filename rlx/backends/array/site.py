"""What a kernel builder knows of the one node that it builds a kernel for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rlx.program.types import ValueType

if TYPE_CHECKING:
    from rlx.backends.array.library import Library

Array = Any
Kernel = Callable[..., Any]
"""Called with the node's inputs in order, None for an omitted one; returns the one output, or a
tuple of outputs (as many as the node has, at least). It never writes to an input, and it may
return a view of one."""


@dataclass(frozen=True, slots=True)
class Site:
    """One node at compile time.

    `attributes` has the schema's defaults filled in; an attribute without a value is absent.
    `constants` holds, per input, its array where it is known at compile time, else None. Operands
    that the operation's family lists in `HOST` are always NumPy arrays, here and at each run.
    `outputs` is how many outputs are asked for, trailing omitted ones cut off; `wanted` says
    which. `opset` never varies: programs are at the canonical opset.
    """

    library: Library
    operation: str
    name: str
    attributes: Mapping[str, Any]
    inputs: tuple[ValueType | None, ...]
    """Per input its inferred type; None where omitted."""
    output_types: tuple[ValueType | None, ...]
    constants: tuple[Array | None, ...]
    wanted: tuple[bool, ...]

    @property
    def xp(self) -> Any:
        """The array namespace (array-api-compat)."""
        return self.library.xp

    def dtype(self, name: str) -> Any:
        """The library's dtype by ONNX's name.

        Raises:
            NotImplementedError: it has none.
        """
        return self.library.dtype(name)

    @property
    def outputs(self) -> int:
        """How many outputs the kernel returns."""
        return len(self.wanted)


Builder = Callable[[Site], Kernel]
"""Makes the kernel of one node; everything that can be decided before the inputs are known is
decided here. It raises NotImplementedError where it can't serve the node, which coverage must
then refuse beforehand."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """A kernel whose outputs are always new memory: never views of its inputs, or of each other.

    The engine relies on it to write later results over values that nothing needs any more, and to
    hand out outputs without a copy. A kernel that is not marked is taken to return views.
    """

    call: Kernel
    into: Kernel | None = None
    """Called as `into(*inputs, out)`: writes the one output into `out` and returns it. `out` has
    the output's shape and dtype, and may be one of the inputs."""
    axes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By position of an input that is a constant on the device: the order in which the kernel
    wants its axes. The constant is transposed once, before the first run."""

    def __call__(self, *inputs: Array) -> Any:
        """Run the kernel."""
        return self.call(*inputs)
