"""The engine: five operations in NumPy. Put yours in its place."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlx.backends.precision import as_stated
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.errors import SettingError
from rlx.program import Program

OPERATIONS: Mapping[str, Any] = {
    "Add": np.add,
    "MatMul": np.matmul,
    "Mul": np.multiply,
    "Relu": lambda x: np.maximum(x, 0),
    "Sub": np.subtract,
}
_log = logging.getLogger("acme")


def probe(index: int) -> str | None:
    """None where the device of this index works, else why it doesn't; in a process of its own."""
    return None if index == 0 else "acme has only cpu:0"


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> Acme:
    """The factory that the manifest names; an option that it doesn't know is a fault."""
    unknown = set(options) - {"trace"}
    if unknown:
        raise SettingError(f"acme has no option {min(unknown)!r}", fix="remove it.")
    return Acme(trace=bool(options.get("trace")))


class Acme:
    """The engine, opened on a device: what `rlx.backends.protocol.Backend` asks for."""

    device = "cpu"
    version = "1.0"

    def __init__(self, trace: bool):
        self._trace = trace

    def compile(self, program: Program, options: CompileOptions) -> Executable:
        """Coverage was checked before: every operation is one that the manifest claims."""
        as_stated(program, options, "acme")
        return Executable(program, self._trace)

    def close(self) -> None:
        """Release the device; this one holds nothing."""


class Executable:
    """One program, ready to run."""

    device = "cpu"

    def __init__(self, program: Program, trace: bool):
        self._program = program
        self._trace = trace

    def run(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """The outputs, in the program's order; never views of the inputs."""
        body = self._program.body
        names = [value.name for value in body.inputs]
        values = dict(body.constants) | dict(zip(names, inputs, strict=True))
        for node in body.nodes:
            if self._trace:
                _log.info("%s makes %s", node.operation, node.outputs[0])
            compute = OPERATIONS[node.operation]
            values[node.outputs[0]] = np.asarray(compute(*(values[name] for name in node.inputs)))
        computed = {name for node in body.nodes for name in node.outputs}
        return [
            values[one.name] if one.name in computed else np.array(values[one.name])
            for one in body.outputs
        ]

    def close(self) -> None:
        """Release what the executable holds; calling it again does nothing."""
