"""The opened OpenVINO device: programs are checked node by node before they are compiled."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from rlx.backends.openvino import LESS, said
from rlx.backends.precision import FLOATS, as_stated
from rlx.errors import (
    ContractError,
    ExecutionError,
    PrecisionError,
    SettingError,
    StaleArtifact,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.openvino_run import Compiled
    from rlx.backends.protocol import CompileOptions
    from rlx.program import Program
    from rlx.program.types import Interface

DEVICES = {"CPU": "cpu", "GPU": "oneapi", "NPU": "npu"}
"""By OpenVINO's name of a device: rlx's."""
HINTS = {"f32": "FP32", "f16": "FP16"}
"""By precision hint: the capability of a device that can keep it."""
PASSIVE = frozenset({"Constant", "Parameter", "Result"})
"""What computes nothing, and needs no device."""


class OpenVino:
    """One device of OpenVINO."""

    def __init__(
        self, engine: Any, core: Any, device: str, name: str, id: str, options: Mapping[str, Any]
    ):
        self._engine, self._core = engine, core
        self.device = device
        self._name, self._id, self._options = name, id, options
        self._properties = dict(core.get_property(name, "SUPPORTED_PROPERTIES"))

    @property
    def version(self) -> str:
        """The engine's version, without its build."""
        return str(self._engine.get_version()).partition("-")[0]

    def compile(self, program: Program, options: CompileOptions) -> Compiled:
        """Compile the program, stamped with the lowest opset that it fits, for this device alone.

        Raises:
            PrecisionError: the device would compute in less than the program states.
            ExecutionError: a node can't run on the device; it is named.
            SettingError: an option has a value that the device refuses.
            ContractError: another device or precision is used than was asked for.
        """
        from rlx.backends.openvino_run import Compiled

        return Compiled(self.compiled(program, options)[0], program, self._id, DEVICES)

    def compiled(self, program: Program, options: CompileOptions) -> tuple[Any, str | None]:
        """OpenVINO's own compiled model, and the precision that it was held to; as `compile`."""
        from rlx.backends.openvino_integers import check_integers
        from rlx.backends.openvino_run import check_exchanged

        as_stated(program, options, self._id)
        lower = options.precision_policy == "allow"
        hint = None if lower else self._hint(program)
        check_exchanged(program, self._id)
        check_integers(program, self._id)
        model = self._read(program)
        self._check_nodes(program, model)
        compiled = self._core.compile_model(model, self._name, self._config(hint))
        self._check_promise(compiled, hint)
        return compiled, hint

    def restored(self, blob: bytes, hint: str, ports: Interface) -> Compiled:
        """What `export_model` gave, imported at this precision: by itself it takes another.

        Raises:
            StaleArtifact: it is for another OpenVINO, or another kind of processor.
            ContractError: another device or precision is used than was asked for.
        """
        from rlx.backends.openvino_run import Compiled

        try:
            compiled = self._core.import_model(io.BytesIO(blob), self._name, self._config(hint))
        except RuntimeError as error:
            raise StaleArtifact(
                f"{self._id} can't import {printable(ports.name)}: {printable(unmatched(error))}"
            ) from error
        self._check_promise(compiled, hint)
        return Compiled(compiled, ports, self._id, DEVICES)

    def _hint(self, program: Program) -> str:
        """The precision that is not less than the program's: float32, unless all is float16."""
        stated = {d for one in program.requirements.signatures for _, d in one.types if d in FLOATS}
        if "float64" in stated:
            raise PrecisionError(
                f"{self._id} computes float64 in float32, and {printable(program.name)} states it",
                fix="choose another backend, export the program in float32, "
                "or set precision_policy to allow.",
            )
        capable = self._core.get_property(self._name, "OPTIMIZATION_CAPABILITIES")
        if HINTS["f32"] in capable or not stated:
            return "f32"
        if stated == {"float16"} and HINTS["f16"] in capable:
            return "f16"
        raise PrecisionError(
            f"{self._id} computes in {', '.join(capable)}, "
            f"{printable(program.name)} in {' and '.join(sorted(stated))}",
            fix="export the program in float16, or set precision_policy to allow.",
        )

    def _config(self, hint: str | None) -> dict[str, Any]:
        """What keeps the precision."""
        if hint is None:
            return {}
        kept = {key: value for key, value in LESS.items() if self._properties.get(key) == "RW"}
        for key in kept.keys() & self._options.keys():
            if self._options[key] != kept[key]:
                raise SettingError(
                    f"{self._id}: {key} {self._options[key]!r} computes in less than float32",
                    fix=f"remove {key}, or set precision_policy to allow.",
                )
        return {**kept, "INFERENCE_PRECISION_HINT": hint}

    def _read(self, program: Program) -> Any:
        """OpenVINO's own form of the program; it converts all of it or nothing."""
        try:
            return self._core.read_model(program.to_onnx().SerializeToString())
        except RuntimeError as error:
            raise ExecutionError(
                f"{self._id} can't read {printable(program.name)}: {printable(unread(error))}",
                fix="choose another backend: run `rlx explain --all`.",
            ) from error

    def _check_nodes(self, program: Program, model: Any) -> None:
        """Every node must be on the device: OpenVINO would split the program, or fail later."""
        supported = self._core.query_model(model, self._name)
        lacking = [
            f"{node.get_friendly_name()} ({node.get_type_name()})"
            for node in model.get_ops()
            if node.get_type_name() not in PASSIVE
            and supported.get(node.get_friendly_name()) != self._name
        ]
        if lacking:
            raise ExecutionError(
                f"{self._id} can't run {printable(', '.join(lacking))} "
                f"of {printable(program.name)} on {self._name}",
                fix="choose another backend: run `rlx explain --all`.",
            )

    def _check_promise(self, compiled: Any, hint: str | None) -> None:
        used = list(compiled.get_property("EXECUTION_DEVICES"))
        if used != [self._name]:
            raise ContractError(f"openvino runs on {', '.join(used)}, asked for {self._name}")
        if hint is not None:
            kept = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
            if kept != hint:
                raise ContractError(f"openvino computes in {kept}, asked for {hint}")

    def close(self) -> None:
        """Nothing is held: what is compiled belongs to the executables."""


def unmatched(error: Exception) -> str:
    """What a blob needs and what is here, where OpenVINO says so, else its last words."""
    lines = [line.strip() for line in str(error).splitlines()]
    sides = [line for line in lines if line.startswith(("blob:", "current:"))]
    return "; ".join(" ".join(line.split()) for line in sides) or said(error)


def unread(error: Exception) -> str:
    """What OpenVINO's reader names: the operations in its summary, else its last words."""
    lines = [line.strip() for line in str(error).splitlines()]
    summary = lines[lines.index("Summary:") :] if "Summary:" in lines else []
    named = [line.removeprefix("-- ") for line in summary if line.startswith("-- ")]
    return "; ".join(named) or said(error)
