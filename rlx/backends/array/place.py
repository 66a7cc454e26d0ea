"""Placing: what NumPy computes on the host, what the device computes, and what moves between.

Values that follow from shapes and constants alone, and program inputs that say how to compute
rather than what with (a shape, axes, a count), stay on the host. So a device is not waited for,
and a program whose steps do not depend on its data can be compiled as a whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rlx.backends.array.dtypes import INTEGERS
from rlx.backends.array.fold import RANDOM
from rlx.backends.array.kernels.table import DYNAMIC, HOST_OPERANDS, HOSTED

if TYPE_CHECKING:
    from rlx.backends.array.draft import Draft, Op
    from rlx.program.types import ValueType

TO_DEVICE, TO_HOST = "to device", "to host"
THERE = "@device"
"""What the names of constants that were moved to the device end with."""
_ONLY_SIZES = frozenset({"Shape", "Size"})


def place(draft: Draft) -> None:
    """Mark the operations that run on the host, and insert the transfers that are needed.

    `draft.findings` then says why the program cannot be compiled, if it cannot: a step that
    waits for values that the device computed.
    """
    if draft.library.host:
        return
    wanted = _wanted(draft)
    if draft.host_inputs is None:
        draft.host_inputs = _parameters(draft, wanted)
    draft.host_inputs |= {name for name in draft.inputs if draft.is_held(name)}
    moves = _Moves(draft, draft.host_inputs)
    for op in draft.ops:
        on_host = _on_host(draft, op, moves.on_host, wanted)
        held = () if on_host else host_operands(op)
        inputs = []
        for position, name in enumerate(op.inputs):
            if not name or op.operation in _ONLY_SIZES or position >= op.own:
                inputs.append(name)
            elif on_host or position in held:
                inputs.append(moves.to_host(name, op))
            else:
                inputs.append(moves.to_device(name))
        _judge(draft, op, on_host)
        moves.ops.append(replace(op, inputs=tuple(inputs), on_host=on_host))
        for name in filter(None, op.outputs):
            (moves.on_host if on_host or draft.is_held(name) else moves.on_device).add(name)
    draft.outputs = tuple(
        moves.to_host(name, None) if position in draft.host_outputs else moves.to_device(name)
        for position, name in enumerate(draft.outputs)
    )
    draft.ops[:] = moves.ops
    draft.on_host = frozenset(moves.on_host)


def _parameters(draft: Draft, wanted: set[str]) -> frozenset[str]:
    """The program's inputs that say how to compute: shapes, axes, counts, conditions.

    They have at most one dimension. Whole numbers and truths may be computed with first; floats,
    such as Resize's scales, are data unless an operation takes them so as they are.
    """
    direct = {op.inputs[at] for op in draft.ops for at in host_operands(op) if at < op.own}
    found = []
    for name in draft.inputs:
        known = draft.types.get(name)
        if known is None or known.kind != "tensor" or known.ndim not in (0, 1):
            continue
        if name in direct or (name in wanted and known.dtype in INTEGERS | {"bool"}):
            found.append(name)
    return frozenset(found)


def host_operands(op: Op) -> tuple[int, ...]:
    """Positions of the inputs that the kernel of `op` reads as Python numbers."""
    return HOST_OPERANDS.get(op.operation, ())


def _judge(draft: Draft, op: Op, on_host: bool) -> None:
    """Note an operation whose results' sizes, or whose values, no compiled form can have."""
    label = f"node {op.name!r} {op.operation}"
    if op.operation in DYNAMIC and not on_host:
        draft.findings.append(f"{label}: the size of its result depends on the data")
    if op.operation in RANDOM and (op.operation != "Dropout" or len(op.inputs) > 2):
        draft.findings.append(f"{label}: its values are drawn anew at each run")


def _wanted(draft: Draft) -> set[str]:
    """The values that must be on the host, and those that they are computed from, if light."""
    wanted = {draft.outputs[position] for position in draft.host_outputs}
    for op in reversed(draft.ops):
        wanted.update(op.inputs[at] for at in host_operands(op) if at < op.own)
        if (
            op.operation not in _ONLY_SIZES
            and not op.has_bodies
            and wanted.intersection(op.outputs)
        ):
            wanted.update(op.inputs)
    return wanted - {""}


def _on_host(draft: Draft, op: Op, available: set[str], wanted: set[str]) -> bool:
    if op.operation in _ONLY_SIZES:
        return True
    hosted = op.operation in draft.library.hosted | HOSTED
    if hosted or any(draft.is_held(name) for name in (*op.inputs, *op.outputs)):
        if draft.library.alone:
            raise NotImplementedError(
                f"node {op.name!r} {op.operation}: NumPy would compute it on the host, and "
                f"{draft.library.name} computes on {draft.library.device} alone"
            )
        return hosted or not op.has_bodies
    if op.has_bodies:
        return False
    if op.operation in RANDOM:
        return False
    if any(name and name not in available for name in op.inputs):
        return False
    outputs = [name for name in op.outputs if name]
    return all(name in wanted or _is_line(draft.types.get(name)) for name in outputs)


def _is_line(known: ValueType | None) -> bool:
    """True for a tensor of at most one dimension."""
    return known is not None and known.kind == "tensor" and known.ndim in (0, 1)


class _Moves:
    """The operations so far, where each value is, and the transfers made."""

    def __init__(self, draft: Draft, host_inputs: frozenset[str]):
        self.draft = draft
        self.ops: list[Op] = []
        self.on_host = set(host_inputs) | draft.constants.keys()
        self.on_device = set(draft.inputs) - host_inputs

    def to_device(self, name: str) -> str:
        """The name of the value on the device; a constant is moved here, once."""
        if name in self.on_device or self.draft.is_held(name):
            return name
        there = f"{name}{THERE}"
        if there in self.on_device:
            return there
        draft = self.draft
        self._typed(there, name)
        if name in draft.constants:
            draft.constants[there] = draft.library.to_native(draft.constants[name])
        else:
            self.ops.append(_transfer(TO_DEVICE, name, there))
        self.on_device.add(there)
        return there

    def to_host(self, name: str, reader: Op | None) -> str:
        """The name of the value on the host."""
        if name in self.on_host:
            return name
        here = f"{name}@host"
        if here in self.on_host:
            return here
        self._typed(here, name)
        who = "the block" if reader is None else f"node {reader.name!r} {reader.operation}"
        self.draft.findings.append(
            f"{who}: it reads the values of {name!r}, which the device computes"
        )
        self.ops.append(_transfer(TO_HOST, name, here))
        self.on_host.add(here)
        return here

    def _typed(self, moved: str, name: str) -> None:
        """What is moved has the type of the value."""
        if name in self.draft.types:
            self.draft.types[moved] = self.draft.types[name]


def _transfer(operation: str, source: str, target: str) -> Op:
    from rlx.backends.array.draft import Op  # draft imports the kernels, as this does

    return Op(operation, source, {}, (source,), (target,), 1)
