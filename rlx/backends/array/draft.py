"""A block on its way to a plan: operations, constants and types that passes may rewrite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.dtypes import name_of
from rlx.backends.array.host import NUMPY
from rlx.backends.array.kernels.table import KERNELS
from rlx.backends.array.place import TO_DEVICE, TO_HOST
from rlx.backends.array.site import Array, Kernel, Site
from rlx.errors import Unavailable, said
from rlx.program.types import Block, ValueType

if TYPE_CHECKING:
    from rlx.backends.array.library import Library
    from rlx.program.types import Node

FIX = "Fix: choose a backend that covers it: run `rlx explain --all`."


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: a node with its attributes' defaults filled in."""

    operation: str
    name: str
    attributes: dict[str, Any]
    inputs: tuple[str, ...]
    """The node's own, then the values that its bodies capture from the blocks around them."""
    outputs: tuple[str, ...]
    own: int
    """How many inputs are the node's own."""
    on_host: bool = False
    """True where NumPy computes it, whatever the library."""

    @classmethod
    def from_node(cls, node: Node) -> Op:
        """The node's operation; trailing omitted inputs and outputs are cut off."""
        defaults = {key: value for key, value in node.signature.attributes if value is not None}
        own = _trimmed(node.inputs)
        captured = dict.fromkeys(name for block in node.blocks() for name in _captured(block))
        return cls(
            operation=node.operation,
            name=node.name,
            attributes=defaults | dict(node.attributes),
            inputs=(*own, *captured),
            outputs=_trimmed(node.outputs),
            own=len(own),
        )

    @property
    def has_bodies(self) -> bool:
        """True for control flow."""
        return any(isinstance(value, Block) for value in self.attributes.values())


@dataclass(slots=True)
class Draft:
    """What is left to run, as values by name.

    Constants are NumPy arrays until `place` moves those that the device needs.
    """

    library: Library
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    ops: list[Op]
    constants: dict[str, Array] = field(default_factory=dict)
    types: dict[str, ValueType] = field(default_factory=dict)
    control: Callable[[Draft, Op], Kernel] | None = None
    """Builds the kernels of operations with bodies."""
    placed: bool = False
    host_inputs: frozenset[str] | None = None
    """Inputs that come as NumPy arrays; None: placing decides."""
    host_outputs: tuple[int, ...] = ()
    """Positions of outputs that are wanted as NumPy arrays."""
    on_host: frozenset[str] = frozenset()
    """After placing, the values that are NumPy arrays."""
    findings: list[str] = field(default_factory=list)
    """Why this cannot be compiled as a whole; bodies share the list of their block."""

    @classmethod
    def from_block(cls, block: Block, library: Library) -> Draft:
        """The block as it stands."""
        types = dict(block.types)
        types.update((value.name, value.type) for value in (*block.inputs, *block.outputs))
        draft = cls(
            library=library,
            inputs=tuple(value.name for value in block.inputs),
            outputs=tuple(value.name for value in block.outputs),
            ops=[Op.from_node(node) for node in block.nodes],
            types=types,
        )
        for name, array in block.constants:
            draft.constants[name] = array
            types.setdefault(name, ValueType(name_of(array.dtype), tuple(array.shape)))
        return draft

    @property
    def xp(self) -> Any:
        """The array namespace that it will run on."""
        return self.library.xp

    def is_held(self, name: str) -> bool:
        """Whether a value, or the items of a sequence, have a dtype that NumPy holds."""
        known = self.types.get(name)
        if known is None or not known.dtype:
            return False
        return known.dtype.rpartition("(")[2].rstrip(")") in self.library.held

    def runs_on(self, op: Op) -> Library:
        """The library that computes `op`: NumPy on the host, and for all that is constant."""
        return self.library if self.placed and not op.on_host else NUMPY

    def site(self, op: Op) -> Site:
        """What the kernel builder of `op` may know."""
        return Site(
            library=self.runs_on(op),
            operation=op.operation,
            name=op.name,
            attributes=op.attributes,
            inputs=tuple(self._type(name) for name in op.inputs),
            output_types=tuple(self._type(name) for name in op.outputs),
            constants=tuple(self.constants.get(name) for name in op.inputs),
            wanted=tuple(bool(name) for name in op.outputs),
        )

    def kernel(self, op: Op) -> Kernel:
        """Build the kernel of `op`.

        Raises:
            NotImplementedError: there is none; coverage should have refused the program.
        """
        if self.control is not None and op.has_bodies:
            return self.control(self, op)
        if op.operation in (TO_DEVICE, TO_HOST):
            move = self.library.to_native if op.operation == TO_DEVICE else self.library.to_host
            return lambda x: moved(x, move)
        builder = self.runs_on(op).overrides.get(op.operation) or KERNELS.get(op.operation)
        if builder is None:
            raise NotImplementedError(
                f"node {op.name!r}: no array kernel for {op.operation}. {FIX}"
            )
        try:
            return builder(self.site(op))
        except NotImplementedError as error:
            raise NotImplementedError(f"node {op.name!r} {op.operation}: {said(error)}") from error
        except Unavailable as error:
            raise Unavailable(f"node {op.name!r}: {error.message}", fix=error.fix) from error
        except Exception as error:  # noqa: BLE001 - its constants don't fit it: it fails if it runs
            return _failing(error)

    def asarray(self, name: str) -> Callable[[Any], Array]:
        """What makes an array of the value `name` where a kernel gave a scalar."""
        known = self.types.get(name)
        if known is None or known.dtype != "string":
            return np.asarray
        return partial(np.asarray, dtype=NUMPY.dtype("string"))

    def _type(self, name: str) -> ValueType | None:
        return self.types.get(name, ValueType("", None)) if name else None


def moved(value: Any, move: Callable[[Any], Any]) -> Any:
    """A value moved between the host and the device: an array, a list of them, or nothing."""
    if isinstance(value, list):
        return [moved(item, move) for item in value]
    return None if value is None else move(value)


def _failing(error: Exception) -> Kernel:
    """A kernel that fails: the run reports it with its node, if it gets there."""

    reason = str(error) or type(error).__name__

    def run(*_: Array) -> Any:
        raise ValueError(reason)

    return run


def _captured(block: Block) -> Iterator[str]:
    """The values that a block reads, or hands out, and does not define."""
    defined = {value.name for value in block.inputs} | {name for name, _ in block.constants}
    for node in block.nodes:
        inner = (name for body in node.blocks() for name in _captured(body))
        yield from (name for name in (*node.inputs, *inner) if name and name not in defined)
        defined.update(node.outputs)
    yield from (value.name for value in block.outputs if value.name not in defined)


def _trimmed(names: tuple[str, ...]) -> tuple[str, ...]:
    end = len(names)
    while end and not names[end - 1]:
        end -= 1
    return names[:end]
