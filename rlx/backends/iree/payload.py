"""The `vmfb` payload: IREE's module, its weights and its signature, for IREE's runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.precision import as_stated
from rlx.backends.protocol import CompileOptions
from rlx.errors import CorruptArtifact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.payload import Payload, Target
    from rlx.backends.protocol import Executable
    from rlx.device import DeviceSpec
    from rlx.program import Program

FORMAT = "vmfb"
MODULE = "module.vmfb"
SIGNATURE = "signature.json"
WEIGHTS = "weights.bin"


class VmfbCompiler:
    """Exports with jax on the CPU, and compiles that with IREE."""

    payload_format = FORMAT

    def __init__(self) -> None:
        from rlx.backends.iree.versions import compiler
        from rlx.backends.stablehlo.payload import StablehloCompiler

        self._version = compiler()
        self._exported_by = StablehloCompiler().toolchain

    @property
    def toolchain(self) -> str:
        """The version of IREE's compiler, and that of jax."""
        return f"iree {self._version} ({self._exported_by})"

    def compile(self, program: Program, target: Target) -> Mapping[str, bytes]:
        """Three parts: the module, its signature, and the weights where there are any.

        Raises:
            PrecisionError: another precision than the program's is asked for.
            UnsupportedFeature: IREE has no such device, or does not compile the program.
            SettingError: the registration has an option that IREE's target does not take.
        """
        from rlx.backends.iree.compiling import compile_program
        from rlx.backends.iree.targets import flags
        from rlx.backends.stablehlo.weights import pack

        backend, given = flags(target.device, dict(target.options))
        as_stated(program, CompileOptions(target.precision), "the vmfb payload", building=True)
        made = compile_program(program, target.device, backend, given)
        parts = {MODULE: made.module, SIGNATURE: made.signature.to_bytes()}
        if made.weights:
            parts[WEIGHTS] = pack(made.weights)
        return parts


class VmfbMaterializer:
    """Loads a module into IREE's runtime; needs neither its compiler nor jax."""

    payload_format = FORMAT

    def __init__(self) -> None:
        from rlx.backends.iree.versions import runtime

        self._version = runtime()

    def accepts(self, toolchain: str) -> str | None:
        """None for modules of this minor version.

        IREE promises nothing across versions: its release notes of 3.12 say that what 3.11 and
        earlier compiled does not load (https://github.com/iree-org/iree/releases/tag/v3.12.0).
        """
        name, _, rest = toolchain.partition(" ")
        if name != "iree":
            return f"it was made by {toolchain}, an iree is needed"
        made = rest.partition(" ")[0]
        if made.split(".")[:2] == self._version.split(".")[:2]:
            return None
        return (
            f"it was made by iree {made}, and iree {self._version} is here: "
            "a runtime loads modules of its own minor version"
        )

    def materialize(self, payload: Payload, spec: DeviceSpec) -> Executable:
        """Load the module on the device, and move the weights there.

        Raises:
            CorruptArtifact: IREE can't load it, or its parts don't fit each other.
            Unavailable: there is no such device.
        """
        from rlx.backends.array.dtypes import numpy_dtype
        from rlx.backends.iree.module import Module
        from rlx.backends.iree.signature import Signature
        from rlx.backends.stablehlo.weights import unpack

        parts = payload.only(MODULE, SIGNATURE, optional=(WEIGHTS,))
        try:
            signature = Signature.from_bytes(parts[SIGNATURE])
            types = [(numpy_dtype(dtype), shape) for dtype, shape in signature.weights]
            weights = unpack(parts.get(WEIGHTS, b""), types)
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptArtifact(f"its parts don't fit each other: {error}") from error
        return Module(parts[MODULE], signature, weights, spec.name, spec.index or 0)
