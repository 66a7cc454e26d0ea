"""The `stablehlo` payload: a module and its weights, for jax on the device it was made for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.precision import as_stated
from rlx.backends.protocol import CompileOptions
from rlx.errors import UnsupportedFeature

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.payload import Payload, Target
    from rlx.backends.protocol import Executable
    from rlx.device import DeviceSpec
    from rlx.program import Program

FORMAT = "stablehlo"
MODULE = "module.stablehlo"
"""What jax.export serialises: the StableHLO of the program, and how it is called."""
WEIGHTS = "weights.bin"
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
"""Devices of rlx, which jax calls the same. jax.export itself takes any name."""


class StablehloCompiler:
    """Exports with jax on the CPU, for any of jax's platforms."""

    payload_format = FORMAT

    def __init__(self) -> None:
        _jax()

    @property
    def toolchain(self) -> str:
        """The version of jax that exports."""
        return f"jax {_jax().__version__}"

    def compile(self, program: Program, target: Target) -> Mapping[str, bytes]:
        """Two parts, the module and the weights; one where there are no weights.

        Raises:
            PrecisionError: another precision than the program's is asked for.
            UnsupportedFeature: jax has no such platform, or the program can't be exported.
        """
        if target.device not in PLATFORMS:
            raise UnsupportedFeature(
                f"jax exports for {', '.join(PLATFORMS)}, {target.id} is on {target.device}",
                fix="choose another target: run `rlx backends`.",
            )
        as_stated(program, CompileOptions(target.precision), "the stablehlo payload", building=True)
        from rlx.backends.stablehlo.export import export, serialised
        from rlx.backends.stablehlo.weights import pack

        exported, weights = export(program, target.device, target.device)
        parts = {MODULE: serialised(program, exported)}
        if weights:
            parts[WEIGHTS] = pack(weights)
        return parts


class StablehloMaterializer:
    """Loads a module with jax, which compiles it for the device that it was exported for."""

    payload_format = FORMAT

    def accepts(self, toolchain: str) -> str | None:
        """None for this jax and for what is up to one minor version older.

        jax.export promises that a jax runs what one of up to six months before it exported, and
        what one of up to three weeks after it did
        (https://docs.jax.dev/en/latest/export/export.html#compatibility-guarantees). A minor
        version takes about three months, so one is within the first and none within the second.
        """
        name, _, version = toolchain.partition(" ")
        if name != "jax":
            return f"it was made by {toolchain}, jax is needed"
        here = str(_jax().__version__)
        made, own = _release(version), _release(here)
        if made == own or (made is not None and own is not None and _promised(made, own)):
            return None
        return (
            f"it was made by {toolchain}, and jax {here} is here: a jax runs what itself, or one "
            "of the minor version before it, exported"
        )

    def materialize(self, payload: Payload, spec: DeviceSpec) -> Executable:
        """Compile the module for the device, and move the weights there.

        Raises:
            ForeignArtifact: the module is for another platform.
            Unavailable: there is no such device.
        """
        from rlx.backends.stablehlo.loading import load

        parts = payload.only(MODULE, optional=(WEIGHTS,))
        return load(parts[MODULE], parts.get(WEIGHTS, b""), spec)


def _jax() -> Any:
    """jax, and what it exports with.

    Raises:
        ModuleNotFoundError: one of them is not installed.
    """
    import flatbuffers
    import jax
    import jax.export

    del flatbuffers
    return jax


def _promised(made: tuple[int, ...], own: tuple[int, ...]) -> bool:
    return made[0] == own[0] and made[1] in (own[1] - 1, own[1]) and made <= own


def _release(version: str) -> tuple[int, ...] | None:
    numbers = version.split(".")[:3]
    plain = len(numbers) == 3 and all(map(str.isdigit, numbers))
    return tuple(map(int, numbers)) if plain else None
