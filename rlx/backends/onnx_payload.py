"""The `onnx` payload: the program itself at the lowest opset that it fits, for onnxruntime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.precision import as_stated
from rlx.backends.protocol import CompileOptions
from rlx.errors import CorruptArtifact, ProgramError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.payload import Payload, Target
    from rlx.backends.protocol import Executable
    from rlx.device import DeviceSpec
    from rlx.program import Program

FORMAT = "onnx"
PART = "model.onnx"


class OnnxCompiler:
    """Writes the program as ONNX; needs no library beyond onnx."""

    payload_format = FORMAT

    @property
    def toolchain(self) -> str:
        """The version of onnx that writes it."""
        import onnx

        return f"onnx {onnx.__version__}"

    def compile(self, program: Program, target: Target) -> Mapping[str, bytes]:
        """One part: the model, weights included.

        Raises:
            PrecisionError: another precision than the program's is asked for.
            ProgramError: the model is over the 2 GiB that protobuf allows.
        """
        as_stated(program, CompileOptions(target.precision), "the onnx payload", building=True)
        return {PART: program.to_onnx().SerializeToString(deterministic=True)}


class OnnxMaterializer:
    """Loads the model into onnxruntime on the CPU."""

    payload_format = FORMAT

    def accepts(self, toolchain: str) -> str | None:
        """Any onnx wrote a model that says by itself which opset it needs."""
        name = toolchain.partition(" ")[0]
        return None if name == "onnx" else f"it was made by {toolchain}, an onnx is needed"

    def materialize(self, payload: Payload, spec: DeviceSpec) -> Executable:
        """Read the model back, which checks it, and compile it.

        Raises:
            CorruptArtifact: its one part is no valid model.
            Unavailable: there is no such device.
        """
        from rlx.backends.onnxruntime import open_cpu
        from rlx.program import load
        from rlx.program.reading import parse

        try:
            program = load(parse(payload.only(PART)[PART], text=False))
        except ProgramError as error:
            raise CorruptArtifact(f"{PART} can't be read: {printable(error.message)}") from error
        return open_cpu(spec, {}).compile(program, CompileOptions())
