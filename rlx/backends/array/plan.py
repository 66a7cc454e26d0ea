"""The plan: steps over numbered slots, with values freed, written over and copied where safe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rlx.backends.array.arrange import arrange
from rlx.backends.array.place import THERE
from rlx.backends.array.site import Array, Fresh, Kernel

if TYPE_CHECKING:
    from rlx.backends.array.draft import Draft, Op
    from rlx.program.types import ValueType

Step = tuple[Kernel, tuple[int, ...], Any, tuple[int, ...], Callable[[list[Array]], Any]]
"""A kernel, its input slots, its output slot (a tuple of them where there are several), the slots
that are dead after it, and what takes the inputs out of all slots."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does: put the inputs in the first slots, do the steps, take the outputs."""

    slots: tuple[Array, ...]
    """The slots at the start: None for inputs and results, and the constants."""
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    copied: tuple[int, ...]
    """Positions in `outputs` that may share memory with an input, a constant or another output."""
    labels: tuple[str, ...]
    """What each step is to a reader: its node and operation."""
    host_inputs: tuple[bool, ...] = ()
    """Per input, whether it stays a NumPy array."""
    weights: tuple[int, ...] = ()
    """The slots of the constants on the device."""
    findings: tuple[str, ...] = ()
    """Why the steps cannot be compiled as a whole; none: they can."""


def schedule(draft: Draft) -> Plan:
    """Number the draft's values and build its kernels, in the order of its operations."""
    kernels = [draft.kernel(op) for op in draft.ops]
    arrange(draft, kernels)
    numbers = {name: slot for slot, name in enumerate((*draft.inputs, *draft.constants))}
    numbers[""] = len(numbers)  # always None: an omitted input; results nobody wants go to `waste`
    waste = len(numbers)
    count = waste + 1
    last_use = {name: at for at, op in enumerate(draft.ops) for name in op.inputs}
    memory = _Memory(draft, last_use)
    steps: list[Step] = []
    for at, (op, kernel) in enumerate(zip(draft.ops, kernels, strict=True)):
        sources = tuple(numbers[name] for name in op.inputs)
        over = memory.write_over(op, kernel, at)
        memory.record(op, kernel)
        for name in op.outputs:
            if name:
                numbers[name] = count
                count += 1
        targets = tuple(numbers[name] if name else waste for name in op.outputs)
        if over is not None and isinstance(kernel, Fresh) and kernel.into is not None:
            sources = (*sources, numbers[over])
            call: Kernel = kernel.into
        else:
            call = kernel.call if isinstance(kernel, Fresh) else kernel
        if draft.runs_on(op).host and any(
            name and _may_be_scalar(draft.types.get(name)) for name in op.outputs
        ):
            call = _as_arrays(draft, op, call)
        dead = tuple(sorted({numbers[name] for name in _dying(draft, op, at, last_use)}))
        target: Any = targets[0] if len(targets) == 1 else targets
        steps.append((call, sources, target, dead, _taker(sources)))
    slots: list[Array] = [None] * count
    for name, array in draft.constants.items():
        slots[numbers[name]] = array
    outputs = tuple(numbers[name] for name in draft.outputs)
    labels = tuple(f"node {op.name!r} {op.operation}" for op in draft.ops)
    host = draft.library.host
    held = draft.host_inputs or ()
    return Plan(
        slots=tuple(slots),
        steps=tuple(steps),
        outputs=outputs,
        copied=memory.shared_outputs(),
        labels=labels,
        host_inputs=tuple(host or name in held for name in draft.inputs),
        weights=tuple(numbers[x] for x in draft.constants if not host and x.endswith(THERE)),
        findings=tuple(draft.findings),
    )


def _taker(sources: tuple[int, ...]) -> Callable[[list[Array]], Any]:
    """Takes these slots, as a tuple or a list."""
    if len(sources) > 1:
        return itemgetter(*sources)
    first = sources[0] if sources else 0
    return itemgetter(slice(first, first + len(sources)))


def _dying(draft: Draft, op: Op, at: int, last_use: dict[str, int]) -> set[str]:
    """Values that hold memory of the run's own and are not used after operation number `at`."""
    names = {name for name in (*op.inputs, *op.outputs) if name and last_use.get(name, at) == at}
    return names - set(draft.outputs) - set(draft.inputs) - draft.constants.keys()


class _Memory:
    """Which values may share memory: `roots` maps each to the values that own it."""

    def __init__(self, draft: Draft, last_use: dict[str, int]):
        self.draft = draft
        self.last_use = last_use
        self.kept = set(draft.inputs) | draft.constants.keys()
        self.roots = {name: frozenset({name}) for name in self.kept}
        self.kept.add("")  # owns what kernels hold themselves, such as the constants of bodies
        self.owners: set[str] = set()
        self.sharers: dict[str, list[str]] = {}

    def record(self, op: Op, kernel: Kernel) -> None:
        """Note what the results of `op` may share memory with."""
        fresh = isinstance(kernel, Fresh)
        inputs = frozenset[str]().union(*(self.roots.get(name, ()) for name in op.inputs))
        for name in op.outputs:
            if not name:
                continue
            if fresh:
                self.owners.add(name)
            own = {""} if op.has_bodies or not op.inputs else {op.outputs[0]}
            self.roots[name] = frozenset({name}) if fresh else inputs | own
            for root in self.roots[name] - {name}:
                self.sharers.setdefault(root, []).append(name)

    def write_over(self, op: Op, kernel: Kernel, at: int) -> str | None:
        """An input of `op`, number `at`, whose memory its one output may take, if there is one."""
        if not isinstance(kernel, Fresh) or kernel.into is None or len(op.outputs) != 1:
            return None
        for name in op.inputs:
            if name not in self.owners or self.last_use[name] != at:
                continue
            if name in self.draft.outputs or not self._same_type(name, op.outputs[0]):
                continue
            if not any(self._alive(other, at) for other in self.sharers.get(name, ())):
                return name
        return None

    def shared_outputs(self) -> tuple[int, ...]:
        """Positions of outputs that may share memory with what is not theirs alone."""
        taken = set(self.kept)
        shared = []
        for position, name in enumerate(self.draft.outputs):
            if taken & self.roots[name] or self._may_repeat(name):
                shared.append(position)
            taken |= self.roots[name]
        return tuple(shared)

    def _may_repeat(self, name: str) -> bool:
        """Whether a sequence may hold one array twice, or views of one array."""
        known = self.draft.types.get(name)
        return known is not None and known.kind != "tensor" and name not in self.owners

    def _alive(self, name: str, at: int) -> bool:
        return name in self.draft.outputs or self.last_use.get(name, -1) >= at

    def _same_type(self, name: str, other: str) -> bool:
        one, two = self.draft.types.get(name), self.draft.types.get(other)
        if one is None or two is None or one.dtype != two.dtype or one.shape != two.shape:
            return False
        return bool(one.shape) and all(isinstance(size, int) for size in one.shape or ())


def _may_be_scalar(known: ValueType | None) -> bool:
    return known is None or (known.kind == "tensor" and not known.shape)


def _as_arrays(draft: Draft, op: Op, kernel: Kernel) -> Kernel:
    """NumPy's functions return scalars where an array without dimensions is due: make it one."""
    make = tuple(map(draft.asarray, op.outputs))
    if len(make) == 1:
        one = make[0]
        known = draft.types.get(op.outputs[0])
        if known is not None and known.dtype:
            return lambda *inputs: one(kernel(*inputs))
        return lambda *inputs: _array(one, kernel(*inputs))
    return lambda *inputs: tuple(map(_array, make, kernel(*inputs)))


def _array(make: Callable[[Any], Array], result: Any) -> Any:
    """The array; lists, maps and None are sequences, maps and optionals, whatever was inferred."""
    return result if result is None or result.__class__ in (list, dict) else make(result)
