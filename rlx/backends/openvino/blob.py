"""The `openvino-blob` payload: what OpenVINO compiled for a device, exported and imported.

A blob for processors is bound to the OpenVINO that made it and to the instruction set: OpenVINO
itself compares both when it imports one. The toolchain names both, so that `rlx payload check`
compares them too. One for NPUs is bound to the OpenVINO, and NPU drivers check the rest.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rlx.backends.openvino import import_engine
from rlx.backends.ports import PART as PORTS
from rlx.backends.ports import Ports
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.errors import CorruptArtifact, PrecisionError, UnsupportedFeature, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.openvino.backend import OpenVino
    from rlx.backends.payload import Payload, Target
    from rlx.backends.protocol import Executable
    from rlx.program import Program

FORMAT = "openvino-blob"
BLOB, PRECISION = "model.blob", "precision"
"""The parts, beside the ports: the blob, and the precision that it was compiled to."""
KEPT = ("f32", "f16")
NEEDS = "RUNTIME_REQUIREMENTS"
"""The property by which OpenVINO says what a compiled model needs, such as the instruction set."""


class OpenvinoCompiler:
    """Compiles with OpenVINO on the machine that builds, for processors of its kind."""

    payload_format = FORMAT

    def __init__(self) -> None:
        import_engine()

    @property
    def toolchain(self) -> str:
        """The version of OpenVINO, and the instruction set that it compiles for here."""
        return _on_this_processor()

    def compile(self, program: Program, target: Target) -> Mapping[str, bytes]:
        """The blob, the precision it keeps, and the program's ports.

        Raises:
            PrecisionError: the device would compute in less than the program states.
            ExecutionError: a node can't run on the device; it is named.
            Unavailable: OpenVINO can't compile for the device here.
        """
        from rlx.backends.isolated import apart

        blob, hint = apart(f"{target.id}'s compiler", f"{__name__}:exported", program, target)
        return {BLOB: blob, PRECISION: hint.encode(), PORTS: Ports.of(program).to_bytes()}


def exported(program: Program, target: Target) -> tuple[bytes, str]:
    """The blob and the precision that it keeps; the same bytes in any fresh process.

    OpenVINO numbers what it makes through the life of a process, and the numbers are in the blob.
    """
    opened = _open(DeviceSpec(target.device, 0), dict(target.options))
    compiled, hint = opened.compiled(program, CompileOptions(target.precision))
    if hint not in KEPT:
        raise PrecisionError(f"a blob keeps {' or '.join(KEPT)}, got {hint}")
    blob = io.BytesIO()
    compiled.export_model(blob)
    return blob.getvalue(), hint


class OpenvinoMaterializer:
    """Imports a blob into OpenVINO."""

    payload_format = FORMAT

    def accepts(self, toolchain: str) -> str | None:
        """None for the same OpenVINO on the same kind of processor: a blob runs nowhere else."""
        return _unlike(toolchain, _on_this_processor())

    def materialize(self, payload: Payload, spec: DeviceSpec) -> Executable:
        """Import the blob at the precision that it was compiled to.

        Raises:
            StaleArtifact: it is for another OpenVINO, or another kind of processor.
            CorruptArtifact: its parts are not those of a blob, or OpenVINO can't read it.
            Unavailable: there is no such device.
        """
        parts = payload.only(BLOB, PRECISION, PORTS)
        hint = parts[PRECISION].decode("ascii", "replace")
        if hint not in KEPT:
            raise CorruptArtifact(f"a blob keeps {' or '.join(KEPT)}, got {printable(hint):.10}")
        return _open(spec, {}).restored(parts[BLOB], hint, Ports.from_bytes(parts[PORTS]))


class NpuCompiler(OpenvinoCompiler):
    """Compiles for NPUs; OpenVINO needs the NPU's compiler, which comes with Intel's driver."""

    @property
    def toolchain(self) -> str:
        """The version of OpenVINO."""
        return _version()


class NpuMaterializer(OpenvinoMaterializer):
    """Imports a blob for an NPU."""

    def accepts(self, toolchain: str) -> str | None:
        """None for the same OpenVINO; the NPU's driver has a say when the blob is imported."""
        return _unlike(toolchain, _version())


def _unlike(toolchain: str, here: str) -> str | None:
    return None if toolchain == here else f"it was made by {toolchain}, and here is {here}"


def _open(spec: DeviceSpec, options: Mapping[str, object]) -> OpenVino:
    from rlx.backends import openvino

    openers = {"cpu": openvino.open_cpu, "npu": openvino.open_npu, "oneapi": openvino.open_gpu}
    if spec.name not in openers:
        raise UnsupportedFeature(
            f"OpenVINO compiles for {', '.join(openers)}, got {spec.name}",
            fix="choose another target: run `rlx backends`.",
        )
    return openers[spec.name](spec, options)


def _version() -> str:
    return f"openvino {str(import_engine().get_version()).partition('-')[0]}"


def _on_this_processor() -> str:
    """The version, and the instruction set, which a model that does nothing is asked for."""
    import numpy as np

    engine = import_engine()

    given = engine.opset13.parameter([1], np.float32)
    compiled = engine.Core().compile_model(engine.Model([given], [given], "nothing"), "CPU")
    found = "an unnamed processor"
    if NEEDS in compiled.get_property("SUPPORTED_PROPERTIES"):
        for need in str(compiled.get_property(NEEDS)).split(";"):
            found = need.removeprefix("isa=") if need.startswith("isa=") else found
    return f"{_version()} on {found}"
