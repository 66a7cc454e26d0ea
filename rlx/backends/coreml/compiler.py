"""The `mlpackage` payload: compiled anywhere, for Core ML on the Neural Engine of a Mac."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rlx.backends.coreml.library import toolchain
from rlx.errors import PrecisionError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.payload import Payload, Target
    from rlx.backends.protocol import Executable
    from rlx.device import DeviceSpec
    from rlx.program import Program

FORMAT = "mlpackage"


class CoremlCompiler:
    """Emits MIL, and has coremltools write it as a package; needs no Mac."""

    payload_format = FORMAT

    def __init__(self) -> None:
        self._toolchain = toolchain()

    @property
    def toolchain(self) -> str:
        """The version of coremltools."""
        return self._toolchain

    def compile(self, program: Program, target: Target) -> Mapping[str, bytes]:
        """The package's files: its manifest, the model, and the weights, if there are any.

        Floats are computed as the program says, or in float16 where `target.precision` is `f16`.

        Raises:
            PrecisionError: bfloat16 is asked for, or float32 of a program in float16.
            UnsupportedFeature: a size is not known, or a node can't be emitted; it is named.
        """
        from rlx.backends.coreml.emitting import emit
        from rlx.backends.coreml.package import parts_of
        from rlx.backends.ports import Ports
        from rlx.backends.precision import as_stated
        from rlx.backends.protocol import CompileOptions

        if target.precision == "bf16":
            raise PrecisionError(
                "Core ML computes in float32 or float16, bf16 was asked for",
                fix="ask for f16, or leave the precision unset.",
            )
        if target.precision != "f16":
            as_stated(
                program, CompileOptions(target.precision), "the mlpackage compiler", building=True
            )
        half = target.precision == "f16"
        emitted = emit(program, half=half)
        return parts_of(emitted.mil, Ports.of(program), half=half)


class CoremlMaterializer:
    """Loads a package into Core ML, which is part of macOS."""

    payload_format = FORMAT

    def accepts(self, toolchain: str) -> str | None:
        """Any coremltools writes a package that says by itself which Core ML it needs."""
        name = toolchain.partition(" ")[0]
        return None if name == "coremltools" else f"it was made by {toolchain}, not by coremltools"

    def materialize(self, payload: Payload, spec: DeviceSpec) -> Executable:
        """Compile the package for this Mac, and see that the Neural Engine is what computes it.

        Raises:
            Unavailable: this is no Mac, or Core ML would compute some operation elsewhere.
        """
        if sys.platform != "darwin":
            raise Unavailable(
                f"an mlpackage runs on macOS only, this is {sys.platform}",
                fix="copy the artifact to a Mac.",
            )
        from rlx.backends.coreml.live import load

        return load(payload, spec)
