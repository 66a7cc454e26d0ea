"""Loading a module: it becomes the one step of a plan, which jax compiles as any other."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rlx.backends.array.dtypes import name_of
from rlx.backends.array.plan import Plan
from rlx.backends.stablehlo.weights import unpack
from rlx.errors import CorruptArtifact, ForeignArtifact, Unavailable, said
from rlx.program.types import ValueType

if TYPE_CHECKING:
    from rlx.backends.array.engine import ArrayExecutable
    from rlx.backends.array.library import Library
    from rlx.device import DeviceSpec


def load(module: bytes, data: bytes, spec: DeviceSpec) -> ArrayExecutable:
    """The module as an executable on a device of jax.

    Raises:
        CorruptArtifact: it is no module that jax exported, or these are not its weights.
        ForeignArtifact: it was exported for another platform.
        Unavailable: there is no such device.
    """
    import jax
    from jax import export

    from rlx.backends.array.engine import ArrayExecutable
    from rlx.backends.array.jax import library

    try:
        exported = export.deserialize(bytearray(module))
    except Exception as error:
        raise CorruptArtifact(
            f"its module can't be read by jax {jax.__version__}: {said(error)}"
        ) from error
    if exported.platforms != (spec.name,):
        raise ForeignArtifact(
            f"its module is for {', '.join(exported.platforms)}, not for {spec.name}"
        )
    there = library(_device(spec))
    (own, given), _ = jax.tree.unflatten(exported.in_tree, exported.in_avals)
    try:
        weights = unpack(data, [(one.dtype, tuple(one.shape)) for one in own])
    except ValueError as error:
        raise CorruptArtifact(str(error)) from error
    weights = there.guard(lambda: [there.to_native(x) for x in weights])
    plan = _plan(exported, there, weights, len(given), len(exported.out_avals))
    made = ArrayExecutable(plan, there, exported.fun_name)
    made.prepare([_type(one) for one in given])
    return made


def _device(spec: DeviceSpec) -> Any:
    """jax's device."""
    from rlx.backends.array.native_jax_devices import accelerator, cpu

    if spec.name != "cpu":
        return accelerator(spec.name, spec.index or 0)
    if spec.index:
        raise Unavailable(f"jax has only cpu:0, got {spec}", fix="ask for cpu.")
    return cpu()


def _plan(exported: Any, there: Library, weights: list[Any], inputs: int, outputs: int) -> Plan:
    """Inputs in the first slots, then the weights, then what the module gives."""
    del there
    sources = tuple(range(inputs + len(weights)))
    targets = tuple(range(len(sources), len(sources) + outputs))

    def call(*values: Any) -> list[Any]:
        given, own = list(values[:inputs]), list(values[inputs:])
        made: list[Any] = exported.call(own, given)
        return made

    taken = itemgetter(slice(0, len(sources)))
    return Plan(
        slots=(*(None,) * inputs, *weights, *(None,) * outputs),
        steps=((call, sources, targets, (), taken),),
        outputs=targets,
        copied=(),
        labels=("the module",),
        host_inputs=(False,) * inputs,
        weights=sources[inputs:],
    )


def _type(aval: Any) -> ValueType:
    sizes = tuple(size if isinstance(size, int) else None for size in aval.shape)
    return ValueType(name_of(aval.dtype), sizes)
