"""Core ML on a Mac: a package compiled, held against the promise of a device, and run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.backends.coreml.boundary import KEY, into, out_of
from rlx.backends.coreml.library import import_library
from rlx.backends.coreml.package import unpack
from rlx.backends.ports import Ports
from rlx.errors import SessionClosed, Unavailable

if TYPE_CHECKING:
    from rlx.backends.payload import Payload
    from rlx.backends.protocol import Array
    from rlx.device import DeviceSpec

ENGINE = "MLNeuralEngineComputeDevice"
MOVING = ("cast", "const")
"""Operations that bring values to the engine and back, or are none: the CPU may do them."""


def load(payload: Payload, spec: DeviceSpec) -> CoremlExecutable:
    """Compile the package, and hold what Core ML plans against what was asked for.

    Core ML can be told to leave the GPU out, but not the CPU. So its plan is read: whatever it
    would compute elsewhere than on the Neural Engine is a reason to refuse. Packages in float32
    always are: the engine computes in float16.

    Raises:
        Unavailable: there is no such engine, or Core ML would compute an operation elsewhere.
        CorruptArtifact: it is no package of rlx.
    """
    if spec.index not in (None, 0):
        raise Unavailable(f"a Mac has only ane:0, got {spec}", fix="ask for ane.")
    library = import_library()
    from coremltools.models.compute_plan import MLComputePlan

    folder = tempfile.TemporaryDirectory(prefix="rlx-")
    try:
        package = unpack(payload.parts, Path(folder.name))
        described = library.utils.load_spec(str(package)).description
        ports = Ports.from_bytes(described.metadata.userDefined[KEY])
        compiled = library.models.utils.compile_model(
            str(package), str(Path(folder.name, "model.mlmodelc"))
        )
        units = library.ComputeUnit.CPU_AND_NE
        refuse_elsewhere(MLComputePlan.load_from_path(compiled, compute_units=units))
        model = library.models.CompiledMLModel(compiled, compute_units=units)
    except BaseException:
        folder.cleanup()
        raise
    return CoremlExecutable(model.predict, ports, folder.cleanup)


def refuse_elsewhere(plan: Any) -> None:
    """See that Core ML plans every operation of the main function for the Neural Engine.

    Raises:
        Unavailable: it plans one for another device, which is named.
    """
    for operation in plan.model_structure.program.functions["main"].block.operations:
        kind = operation.operator_name.rpartition(".")[2]
        usage = plan.get_compute_device_usage_for_mlprogram_operation(operation)
        if usage is None or kind in MOVING:
            continue
        device = type(usage.preferred_compute_device).__name__
        if device != ENGINE:
            name = device.removeprefix("ML").removesuffix("ComputeDevice")
            raise Unavailable(
                f"Core ML would compute {kind} {operation.outputs[0].name!r} on the {name}, "
                "the Neural Engine was asked for",
                fix="use `rlx build --precision f16`, or run the program on the CPU.",
            )


class CoremlExecutable:
    """A loaded package; its inputs and outputs are named by their places."""

    device = "ane"

    def __init__(
        self,
        predict: Callable[[dict[str, Any]], dict[str, Any]],
        ports: Ports,
        release: Callable[[], object],
    ):
        self._predict: Callable[[dict[str, Any]], dict[str, Any]] | None = predict
        self._ports, self._release = ports, release

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Run once.

        Raises:
            InputError: a 64-bit integer does not fit 32 bits.
            SessionClosed: it was closed.
        """
        predict = self._predict
        if predict is None:
            raise SessionClosed("this executable was closed", fix="load the artifact again.")
        named = enumerate(zip(self._ports.inputs, inputs, strict=True))
        made = predict({f"input_{at}": into(value, array) for at, (value, array) in named})
        outputs = enumerate(self._ports.outputs)
        return [out_of(value, made[f"output_{at}"]) for at, value in outputs]

    def close(self) -> None:
        """Let the model go, and its files; calling it again does nothing."""
        if self._predict is not None:
            self._predict = None
            self._release()
