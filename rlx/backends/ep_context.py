"""The `ep-context` payload: what QNN compiled for a Hexagon, as an ONNX model around its binary.

QNN compiles without the NPU, on any x86 machine; there the same library also runs what it made.
"""

from __future__ import annotations

import platform
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from rlx.backends.ports import PART as PORTS
from rlx.backends.ports import Ports
from rlx.backends.protocol import CompileOptions
from rlx.errors import (
    ExecutionError,
    SettingError,
    UnsupportedFeature,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.onnxruntime.provider import Placed, Provider
    from rlx.backends.payload import Payload, Target
    from rlx.backends.protocol import Executable
    from rlx.device import DeviceSpec
    from rlx.program import Program

FORMAT = "ep-context"
CONTEXT = "context.onnx"
"""A model of EPContext nodes, each with the binary that QNN made of a part of the program."""
EMULATED = "onnxruntime-qnn-emulated"
CHIPS = {"68": "30", "69": "36", "73": "43", "75": "57", "79": "69", "81": "87"}
"""By Hexagon's version, the number of a Snapdragon that has it, by QNN's table of devices.

QNN wants the chip (`soc_model`). With the version alone (`htp_arch`) it does not know what fits,
nor that the chip computes in float16; a version that it does not know it takes for none.
"""
FLOAT32 = ("0", CHIPS["68"])
"""The chips, none among them, for which the emulation computes in float32. No Hexagon does."""
X86 = ("x86_64", "amd64", "i686")
PLAIN = frozenset(
    {"bool", "float16", "float32", "int8", "int16", "int32", "int64"}
    | {"uint8", "uint16", "uint32", "uint64"}
)
"""dtypes that QNN has, and that NumPy has too."""
ENTRIES = {"ep.context_enable": "1", "ep.context_embed_mode": "1"}


class QnnCompiler:
    """Compiles with QNN's HTP library, in a process of its own: QNN keeps its first settings."""

    payload_format = FORMAT

    def __init__(self) -> None:
        import onnxruntime
        import onnxruntime_qnn

        del onnxruntime, onnxruntime_qnn

    @property
    def toolchain(self) -> str:
        """The versions of the plugin and of onnxruntime."""
        versions = (metadata.version(name) for name in ("onnxruntime-qnn", "onnxruntime"))
        return "onnxruntime-qnn {} with onnxruntime {}".format(*versions)

    def compile(self, program: Program, target: Target) -> Mapping[str, bytes]:
        """The model of contexts, and the program's ports.

        The target's options choose the Hexagon: `htp_arch`, its version, or `soc_model`, the chip.

        Raises:
            UnsupportedFeature: an input or output has a dtype that can't be exchanged.
            SettingError: an option that QNN does not know, or an architecture.
            PrecisionError: a Hexagon computes in float16, and the program states more.
            ExecutionError: QNN does not take every node; they are named.
        """
        from rlx.backends.isolated import apart
        from rlx.backends.onnxruntime.narrow import promised

        options = dict(target.options)
        chip = _chip(options)
        for value in (*program.inputs, *program.outputs):
            if value.type.dtype not in PLAIN:
                raise UnsupportedFeature(
                    f"an {FORMAT} can't exchange {printable(value.name)!r} of "
                    f"{printable(program.name)}, which is {value.type.dtype}",
                    fix="build it for another target.",
                )
        half = target.id != EMULATED or chip not in FLOAT32
        asked = CompileOptions(target.precision)
        promised(program, asked, target.id, "float16" if half else None, building=True)
        name = f"{target.id}'s compiler"
        chosen = options if chip == "0" else {**options, "soc_model": chip}
        made: bytes = apart(name, f"{__name__}:generated", program, target.id, chosen)
        return {CONTEXT: made, PORTS: Ports.of(program).to_bytes()}


class QnnMaterializer:
    """Loads contexts onto the NPU of this machine."""

    payload_format = FORMAT

    def accepts(self, toolchain: str) -> str | None:
        """None for the same plugin: QNN loads no context of a later one, nor promises older."""
        own = f"onnxruntime-qnn {metadata.version('onnxruntime-qnn')}"
        made = toolchain.partition(" with ")[0]
        return None if made == own else f"it was made by {made}, and {own} is here"

    def materialize(self, payload: Payload, spec: DeviceSpec) -> Executable:
        """Load the contexts; nothing is compiled, and nothing left to the CPU.

        Raises:
            CorruptArtifact: its parts are not those of contexts.
            Unavailable: there is no such device.
            ExecutionError: QNN refuses a context.
        """
        model, ports = _parts(payload)
        return opened(model, ports, spec)


class EmulatedMaterializer(QnnMaterializer):
    """Loads contexts into the emulation, in a process of its own."""

    def materialize(self, payload: Payload, spec: DeviceSpec) -> Executable:
        """Load the contexts; as on the NPU."""
        from rlx.backends.ep_context_apart import Apart

        model, ports = _parts(payload)
        return Apart(EMULATED, model, ports, spec)


def _chip(options: Mapping[str, object]) -> str:
    """The chip that the options mean; `0`: none.

    Raises:
        SettingError: there is no such version, or the chip has another.
    """
    version, chip = options.get("htp_arch"), str(options.get("soc_model", "0"))
    if version is None:
        return chip
    if str(version) not in CHIPS:
        raise SettingError(
            f"htp_arch must be one of {', '.join(CHIPS)}, got {version!r}",
            fix="write htp_arch: 75, for example.",
        )
    own = CHIPS[str(version)]
    if chip not in ("0", own) and chip in CHIPS.values():
        raise SettingError(
            f"htp_arch {version} is not that of soc_model {chip}, for which QNN would compile",
            fix="write one of them.",
        )
    return own if chip == "0" else chip


def generated(program: Program, id: str, options: Mapping[str, object]) -> bytes:
    """The model of contexts; to be called in a fresh process, where it is the same each time."""
    from rlx.backends.onnxruntime.backend import OnnxRuntime
    from rlx.backends.onnxruntime.engine import import_engine
    from rlx.backends.onnxruntime.options import checked

    provider = _provider()
    session, settings = checked(id, options, provider.keys, provider.ours)
    engine = import_engine()
    placed = provider.placed(engine, 0, settings)
    with tempfile.TemporaryDirectory(prefix="rlx-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, CONTEXT)
        entries = {**ENTRIES, "ep.context_file_path": str(path)}
        backend = OnnxRuntime(engine, provider, placed, {**session, "entries": entries})
        backend.compile(program, CompileOptions(precision_policy="allow")).close()
        if not path.is_file():
            raise ExecutionError(
                f"QNN made no context of {program.name}: it computes nothing",
                fix="build it for another target.",
            )
        return _steady(path.read_bytes())


def _steady(data: bytes) -> bytes:
    """The model with attributes in the order of their names, without what changes by itself."""
    import onnx

    model = onnx.ModelProto()
    model.ParseFromString(data)
    for node in model.graph.node:
        kept = sorted(node.attribute, key=lambda one: one.name)
        del node.attribute[:]
        node.attribute.extend(kept)
    steady: bytes = model.SerializeToString(deterministic=True)
    return steady


def opened(model: bytes, ports: Ports, spec: DeviceSpec) -> Executable:
    """The contexts on a device, every one of them there: read back from the session."""
    from rlx.backends.onnxruntime.assignment import Seat, seated
    from rlx.backends.onnxruntime.engine import import_engine
    from rlx.backends.onnxruntime.executable import Compiled

    provider = _provider()
    engine = import_engine()
    placed: Placed = provider.placed(engine, spec.index or 0, {})
    seat = Seat(provider.id, provider.name, placed.settings, placed.device)
    session = seated(engine, model, seat, dict(provider.session))
    return Compiled(engine, session, ports, provider.device)


def _provider() -> Provider:
    """QNN with what is here: on x86 the emulation, elsewhere the NPU."""
    from rlx.backends.onnxruntime.providers import QNN, QNN_EMULATED

    return QNN_EMULATED if platform.machine().lower() in X86 else QNN


def _parts(payload: Payload) -> tuple[bytes, Ports]:
    parts = payload.only(CONTEXT, PORTS)
    return parts[CONTEXT], Ports.from_bytes(parts[PORTS])
