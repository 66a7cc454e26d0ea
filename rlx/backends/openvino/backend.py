"""The opened OpenVINO device: programs are checked node by node, and compiled for it alone."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from rlx.backends.openvino import LESS, said
from rlx.backends.openvino.axes import varies
from rlx.backends.openvino.mending import mend
from rlx.backends.precision import FLOATS, as_stated
from rlx.errors import (
    ContractError,
    CorruptArtifact,
    ExecutionError,
    PrecisionError,
    SettingError,
    StaleArtifact,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.openvino.run import Compiled, Empty
    from rlx.backends.protocol import CompileOptions
    from rlx.program import Program
    from rlx.program.types import Interface

DEVICES = {"CPU": "cpu", "GPU": "oneapi", "NPU": "npu"}
"""By OpenVINO's name of a device: rlx's."""
HINTS = {"f32": "FP32", "f16": "FP16"}
"""By precision hint: the capability of a device that can keep it."""
DIVIDE = "nonconvertable_divide_0"
"""OpenVINO's mark on a division that stays one: it would multiply by a reciprocal, which is
infinite for the smallest numbers."""
WRONG = frozenset(
    {"BitShift", "ConvInteger", "DFT", "DynamicQuantizeLinear", "GridSample", "MatMulInteger"}
    | {"QLinearConv", "QLinearMatMul", "ReduceLogSum", "ReduceLogSumExp", "TopK"}
)
"""Operations that OpenVINO 2026.4 answers wrongly for values or sizes that claims can't tell apart.

Shifts of 8 bits saturate, products of 8-bit integers are summed in float32 and with constants are
others, one-sided transforms keep an axis, of equal numbers another is the first, the rest differ at
their ends; and so is what is left of a division of floats (`fmod`)."""
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

    def compile(self, program: Program, options: CompileOptions) -> Compiled | Empty:
        """Compile the program, stamped with the lowest opset that it fits, for this device alone.

        Raises:
            PrecisionError: the device would compute in less than the program states.
            ExecutionError: a node can't run on the device; it is named.
            SettingError: an option has a value that the device refuses.
            ContractError: another device or precision is used than was asked for.
        """
        from rlx.backends.openvino.integers import bounds
        from rlx.backends.openvino.run import Compiled, Empty, is_empty

        if all(map(is_empty, program.outputs)):
            self._checked(program, options)
            return Empty(program, self.device)
        compiled, _ = self.compiled(program, options)
        return Compiled(compiled, program, self._id, DEVICES, bounds(program))

    def compiled(self, program: Program, options: CompileOptions) -> tuple[Any, str | None]:
        """OpenVINO's own compiled model, and the precision that it was held to; as `compile`."""
        hint = self._checked(program, options)
        model = self._read(program)
        config = self._config(hint)
        try:
            compiled = self._core.compile_model(model, self._name, config)
        except RuntimeError as error:
            what = printable(", ".join(self._lacking(model)) or said(error))
            raise ExecutionError(
                f"{self._id} can't run {what} of {printable(program.name)} on {self._name}",
                fix="choose another backend: run `rlx explain --all`.",
            ) from error
        self._check_promise(compiled, hint)
        return compiled, hint

    def _checked(self, program: Program, options: CompileOptions) -> str | None:
        """The precision to hold the program to, once nothing is in its way."""
        from rlx.backends.openvino.integers import check_integers
        from rlx.backends.openvino.run import check_exchanged

        as_stated(program, options, self._id)
        hint = None if options.precision_policy == "allow" else self._hint(program)
        check_exchanged(program, self._id)
        for node in program.nodes():
            if node.operation in WRONG or node.attribute("fmod", 0):
                raise ExecutionError(
                    f"{self._id} answers {node.operation} wrongly, "
                    f"which is node {printable(node.name)}",
                    fix="choose another backend: run `rlx explain --all`.",
                )
        check_integers(program, self._id)
        return hint

    def restored(self, blob: bytes, hint: str, ports: Interface) -> Compiled:
        """What `export_model` gave, imported at this precision: by itself it takes another.

        Raises:
            StaleArtifact: it is for another OpenVINO, or another kind of processor.
            CorruptArtifact: OpenVINO can't read it.
            ContractError: another device or precision is used than was asked for.
        """
        from rlx.backends.openvino.run import Compiled

        try:
            compiled = self._core.import_model(io.BytesIO(blob), self._name, self._config(hint))
        except RuntimeError as error:
            sides = unmatched(error)
            kind = StaleArtifact if sides else CorruptArtifact
            raise kind(
                f"{self._id} can't import {printable(ports.name)}: "
                f"{printable(sides or said(error))}"
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
            model = self._core.read_model(program.to_onnx().SerializeToString())
        except RuntimeError as error:
            raise ExecutionError(
                f"{self._id} can't read {printable(program.name)}: {printable(unread(error))}",
                fix="choose another backend: run `rlx explain --all`.",
            ) from error
        for node in model.get_ops():
            # OpenVINO mixes up the sides of a division of a constant that it does not convert.
            if node.get_type_name() == "Divide" and varies(node.input_value(0).get_node()):
                node.get_rt_info()[DIVIDE] = True
        mend(self._engine, model)
        return model

    def _lacking(self, model: Any) -> list[str]:
        """Nodes that OpenVINO does not say it can run here: asking takes as long as compiling."""
        found = self._core.query_model(model, self._name)
        return [
            f"{node.get_friendly_name()} ({node.get_type_name()})"
            for node in model.get_ops()
            if node.get_type_name() not in PASSIVE and node.get_friendly_name() not in found
        ]

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
    """What a blob needs and what is here, where OpenVINO says that they differ; else nothing."""
    lines = [line.strip() for line in str(error).splitlines()]
    sides = [line for line in lines if line.startswith(("blob:", "current:"))]
    return "; ".join(" ".join(line.split()) for line in sides)


def unread(error: Exception) -> str:
    """What OpenVINO's reader names: the operations in its summary, else its last words."""
    lines = [line.strip() for line in str(error).splitlines()]
    summary = lines[lines.index("Summary:") :] if "Summary:" in lines else []
    named = [line.removeprefix("-- ") for line in summary if line.startswith("-- ")]
    return "; ".join(named) or said(error)
