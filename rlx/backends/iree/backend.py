"""The IREE backends: programs are compiled for a device and run on it, in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.precision import as_stated
from rlx.errors import ExecutionError, SessionClosed, Unavailable, said

if TYPE_CHECKING:
    from rlx.backends.array.library import Function
    from rlx.backends.array.start import Compiling
    from rlx.backends.iree.module import Module
    from rlx.backends.protocol import CompileOptions, Found
    from rlx.backends.stablehlo.trace import Traceable
    from rlx.device import DeviceSpec
    from rlx.program import Program


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> IreeBackend:
    """Open the CPU; code is made for this very processor unless an option says for which.

    Raises:
        Unavailable: an index other than 0 was asked for.
        SettingError: an option is none that IREE takes.
    """
    if spec.index not in (None, 0):
        raise Unavailable(f"iree-cpu has only cpu:0, got {spec}", fix="ask for cpu.")
    return _open(spec, {"architecture": "host", **options})


def open_vulkan(spec: DeviceSpec, options: Mapping[str, object]) -> IreeBackend:
    """Open one Vulkan device.

    Raises:
        Unavailable: there is no such device.
        SettingError: an option is none that IREE takes.
    """
    return _open(spec, options)


def open_cuda(spec: DeviceSpec, options: Mapping[str, object]) -> IreeBackend:
    """Open one NVIDIA GPU; it raises as `open_vulkan` does."""
    return _open(spec, options)


def probe_vulkan(index: int) -> Found | str:
    """What this Vulkan device is, or why IREE can't use it; in a process of its own."""
    from rlx.backends.iree.devices import probe

    return probe("vulkan", index)


def probe_cuda(index: int) -> Found | str:
    """What this NVIDIA GPU is, or why IREE can't use it; in a process of its own."""
    from rlx.backends.iree.devices import probe

    return probe("cuda", index)


def probe_rocm(index: int) -> Found | str:
    """What this AMD GPU is, or why IREE can't use it; in a process of its own."""
    from rlx.backends.iree.devices import probe

    return probe("rocm", index)


def probe_metal(index: int) -> Found | str:
    """What this GPU of Apple's is, or why IREE can't use it; in a process of its own."""
    from rlx.backends.iree.devices import probe

    return probe("metal", index)


def _open(spec: DeviceSpec, options: Mapping[str, object]) -> IreeBackend:
    from rlx.backends.iree.devices import device
    from rlx.backends.iree.targets import flags

    backend, given = flags(spec.name, options)
    for module in ("iree.compiler", "jax", "flatbuffers"):
        if find_spec(module) is None:
            raise Unavailable(
                f"IREE compiles with iree-base-compiler and jax, {module} is not installed",
                fix="pip install 'rlx[iree]'; artifacts run without it.",
            )
    device(spec.name, spec.index or 0)
    return IreeBackend(spec.name, spec.index or 0, backend, given)


class IreeBackend:
    """IREE's compiler and its runtime on one device."""

    def __init__(self, device: str, index: int, backend: str, flags: list[str]):
        from rlx.backends.iree.versions import runtime

        self.device = device
        self.version = runtime()
        self._index = index
        self._backend = backend
        self._flags = flags

    def compile(self, program: Program, options: CompileOptions) -> IreeExecutable:
        """Compile a program; where its sizes are open, for each set of them when it comes.

        Raises:
            PrecisionError: another precision than the program's is asked for.
            NotImplementedError: it can't be compiled as a whole, or not all that it takes and
                gives are tensors of numbers; the message names the node, or the value.
        """
        from rlx.backends.array.start import examples
        from rlx.backends.stablehlo.trace import captured, planned, refuse_kinds, settled

        as_stated(program, options, "IREE")
        refuse_kinds(program)
        made: list[Module] = []

        def compiled(
            function: Function, constants: Sequence[Any], inputs: Sequence[Any]
        ) -> Callable[[Sequence[Any]], list[Any]]:
            found = replace(captured(function, constants, inputs), labels=plan.plan.labels)
            module = self._module(program.name, found)
            made.append(module)
            return module.run

        with settled():
            plan = planned(program, self.device, compiled)
            executable = IreeExecutable(self.device, plan, made)
            given = examples([value.type for value in program.inputs])
            if given is not None and not any(plan.plan.host_inputs):
                executable.prepare(given)
        return executable

    def _module(self, name: str, found: Traceable) -> Module:
        """One form of a program, on the device."""
        from rlx.backends.iree.compiling import (
            LOWERED,
            compile_exported,
            refuse_dtypes,
            signature,
        )
        from rlx.backends.iree.module import Module
        from rlx.backends.stablehlo.export import exported

        made = exported(found, LOWERED)
        refuse_dtypes(signature(made))
        data = compile_exported(found, made, self._backend, self._flags, name)
        return Module(data, signature(made), found.weights, self.device, self._index)

    def close(self) -> None:
        """Nothing is held beyond what executables hold; the device is the process's."""


class IreeExecutable:
    """A program as one module for each set of sizes, and of inputs that say how to compute."""

    def __init__(self, device: str, plan: Compiling, modules: list[Module]):
        self.device = device
        self._plan: Compiling | None = plan
        self._modules = modules
        self._only: Callable[[Sequence[Any]], list[Any]] | None = None

    def prepare(self, inputs: Sequence[Any]) -> None:
        """Compile for the one set of sizes that there can be."""
        assert self._plan is not None
        self._only = self._plan.form(inputs)

    def run(self, inputs: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
        """Run once: inputs in the program's input order, outputs in its output order.

        Raises:
            ExecutionError: these sizes can't be compiled.
            SessionClosed: the executable is closed.
        """
        from rlx.backends.stablehlo.trace import settled

        plan = self._plan
        if plan is None:
            raise SessionClosed("the executable is closed")
        if self._only is not None:
            return self._only(inputs)
        try:
            with settled():
                form = plan.form(inputs)
        except NotImplementedError as error:
            raise ExecutionError(f"it can't be compiled for these inputs: {said(error)}") from error
        held = plan.plan.host_inputs
        return form([x for x, here in zip(inputs, held, strict=True) if not here])

    def close(self) -> None:
        """Free the modules; calling it again does nothing."""
        self._plan = self._only = None
        while self._modules:
            self._modules.pop().close()
