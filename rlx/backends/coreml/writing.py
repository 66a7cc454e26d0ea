"""The body of a MIL function: what is constant is computed by NumPy's kernels, the rest emitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.draft import Draft
from rlx.backends.array.fold import RANDOM
from rlx.backends.array.host import NUMPY
from rlx.backends.coreml.boundary import HELD, INT32
from rlx.backends.coreml.site import Array, Site, Var
from rlx.backends.coreml.table import CARRIED, EMITTERS
from rlx.errors import UnsupportedFeature, printable
from rlx.program.types import Block, ValueType

if TYPE_CHECKING:
    from rlx.backends.array.draft import Op
    from rlx.program.types import Value

MOST_AXES = 5
NAMES = {"fp32": "float32", "fp16": "float16", "int32": "int32", "bool": "bool"}


@dataclass(frozen=True, slots=True)
class Emitted:
    """What became of one node."""

    name: str
    operation: str
    became: tuple[str, ...]
    """The MIL operations, constants left out; none: it was computed while compiling."""


def _check_halves(site: Site, constants: list[Any]) -> None:
    """A float beyond float16 would be infinite, and infinity times zero is no number."""
    for one in constants:
        if getattr(one, "dtype", None) == np.float32 and one.size:
            largest = float(np.abs(one[np.isfinite(one)]).max(initial=0))
            if largest > float(np.finfo(np.float16).max):
                site.refuse(f"float16 can't hold a constant of it, of the size {largest:.3g}")


class Writing:
    """The values that are there so far: arrays where they are constant."""

    def __init__(self, mb: Any, nodes: list[Emitted], function: Any, half: bool):
        self._mb, self._nodes, self._function, self._half = mb, nodes, function, half
        self._values: dict[str, Array | Var] = {}
        self._made: dict[int, tuple[Array, Var]] = {}

    def take(self, value: Value, given: Var) -> None:
        """An input, as the program wants it."""
        if not value.type.shape:
            given = self._mb.squeeze(x=given, axes=[0])
        if value.type.dtype == "bool":
            given = self._mb.not_equal(x=given, y=np.int32(0))
        self._values[value.name] = given

    def give(self, value: Value, name: str) -> Var:
        """An output, as a package can hand it out."""
        made = self._values[value.name]
        if isinstance(made, np.ndarray):
            raise UnsupportedFeature(
                f"the mlpackage compiler can't emit output {printable(value.name)!r}: it does not "
                "depend on the inputs",
                fix="leave the output out, or build for another target: run `rlx backends`.",
            )
        if value.type.dtype == "bool":
            made = self._mb.cast(x=made, dtype="int32")
        if not made.shape:
            return self._mb.expand_dims(x=made, axes=[0], name=name)
        return self._mb.identity(x=made, name=name)

    def block(self, draft: Draft) -> None:
        """Every operation of a block, in order."""
        self._values.update(draft.constants)
        for op in draft.ops:
            draft.constants.update(
                (name, self._values[name])
                for name in op.inputs
                if isinstance(self._values.get(name), np.ndarray)
            )
            self._one(draft, op)

    def _one(self, draft: Draft, op: Op) -> None:
        if op.operation in ("Shape", "Size"):
            shape = self._values[op.inputs[0]].shape
            stand_in = np.broadcast_to(np.int8(0), tuple(int(size) for size in shape))
            self._keep(op, NUMPY.guard(draft.kernel(op), stand_in))
        elif op.operation == "If" and self._known(op.inputs[0]):
            chosen = "then_branch" if self._values[op.inputs[0]] else "else_branch"
            body: Block = op.attributes[chosen]
            inner = Draft.from_block(body, NUMPY)
            self.block(inner)
            for name, made in zip(op.outputs, inner.outputs, strict=False):
                self._values[name] = self._values[made]
                draft.types[name] = inner.types.get(made, draft.types.get(name, ValueType("")))
        elif op.has_bodies or op.operation in RANDOM - {"Dropout"}:
            self._site(draft, op).refuse("it depends on values that are not known yet")
        elif all(not name or self._known(name) for name in op.inputs):
            inputs = [self._values[name] if name else None for name in op.inputs]
            try:
                made = NUMPY.guard(draft.kernel(op), *inputs)
            except Exception as error:  # noqa: BLE001 - whatever a kernel says of bad constants
                self._site(draft, op).refuse(printable(str(error)))
            self._keep(op, made)
        else:
            self._emit(draft, op)

    def _known(self, name: str) -> bool:
        return isinstance(self._values.get(name), np.ndarray)

    def _keep(self, op: Op, made: Any) -> None:
        """What was computed at once."""
        results = made if isinstance(made, tuple) else (made,)
        for name, result in zip(op.outputs, results, strict=False):
            if name:
                self._values[name] = np.asarray(result)
        self._nodes.append(Emitted(op.name, op.operation, ()))

    def _emit(self, draft: Draft, op: Op) -> None:
        site = self._site(draft, op)
        emitter = EMITTERS.get(op.operation)
        if emitter is None:
            site.refuse("it depends on values that are not known yet")
        for name, dtype in zip(op.inputs, site.dtypes, strict=True):
            if name and dtype not in CARRIED:
                site.refuse(f"a package can't hold {dtype or 'a value of unknown dtype'}")
        before = len(self._function.operations)
        try:
            made = emitter(site)
        except UnsupportedFeature:
            raise
        except Exception as error:  # noqa: BLE001 - the builder raises what it likes
            site.refuse(f"coremltools says: {printable(str(error)):.300}")
        results = made if isinstance(made, tuple) else (made,)
        for name, result in zip(op.outputs, results, strict=False):
            if name:
                self._check(site, draft.types.get(name), result)
                self._values[name] = result
        new = list(self._function.operations)[before:]
        if self._half:
            _check_halves(site, [one.outputs[0].val for one in new if one.op_type == "const"])
        became = tuple(one.op_type for one in new if one.op_type != "const")
        self._nodes.append(Emitted(op.name, op.operation, became))

    def _check(self, site: Site, known: ValueType | None, made: Var) -> None:
        """Hold what the builder infers against what the program says."""
        shape = tuple(made.shape)
        if len(shape) > MOST_AXES or not all(isinstance(size, int | np.integer) for size in shape):
            site.refuse(f"Core ML can't hold its result of shape {shape}")
        if 0 in shape:
            site.refuse("its result is empty")
        stated = known.shape if known is not None else None
        if stated is not None and len(stated) == len(shape):
            clash = any(isinstance(a, int) and a != b for a, b in zip(stated, shape, strict=True))
        else:
            clash = stated is not None
        if clash:
            site.refuse(f"coremltools gives it the shape {shape}, the program {stated}")
        if known is not None and known.dtype and HELD.get(known.dtype, "bool") != self._name(made):
            site.refuse(f"coremltools gives it {self._name(made)}, the program {known.dtype}")

    def _name(self, value: Var) -> str:
        from coremltools.converters.mil.mil.types import builtin_to_string

        return NAMES.get(builtin_to_string(value.dtype), "")

    def _site(self, draft: Draft, op: Op) -> Site:
        values = tuple(self._values.get(name) if name else None for name in op.inputs)
        dtypes = tuple(self._dtype(draft, name) for name in op.inputs)
        where = f"node {printable(op.name)!r} {printable(op.operation)}"
        return Site(self._mb, op, values, dtypes, lambda array: self._constant(array, where))

    def _dtype(self, draft: Draft, name: str) -> str:
        known = draft.types.get(name)
        if known is not None and known.dtype:
            return known.dtype
        value = self._values.get(name)
        if value is None:
            return ""
        return value.dtype.name if isinstance(value, np.ndarray) else self._name(value)

    def _constant(self, array: Array, where: str) -> Var:
        """A constant, made once."""
        kept = self._made.get(id(array))
        if kept is not None:
            return kept[1]
        held = array
        if array.dtype == np.int64:
            if array.size and not (INT32.min <= array.min() and array.max() <= INT32.max):
                raise UnsupportedFeature(
                    f"the mlpackage compiler can't emit {where}: a package holds int64 as int32, "
                    "and a constant of it is larger",
                    fix="build for another target: run `rlx backends`.",
                )
            held = array.astype(np.int32)
        made = self._mb.const(val=held if held.ndim else held[()])
        self._made[id(array)] = (array, made)
        return made
