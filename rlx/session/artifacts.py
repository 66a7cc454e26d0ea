"""Running artifacts: a payload is materialised on a device, and called like a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from rlx.artifact.checking import check, provider
from rlx.artifact.facets import lacking, materializer
from rlx.device import DeviceSpec
from rlx.errors import (
    ExecutionError,
    PrecisionError,
    RlxError,
    SessionClosed,
    Unavailable,
    printable,
)
from rlx.program.precisions import floats, others
from rlx.router.checks import disabled_by
from rlx.session.closing import Closing
from rlx.session.compiling import check_executable
from rlx.session.inputs import Door, Native
from rlx.session.opening import cause_text
from rlx.session.selection import probed
from rlx.settings import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rlx.artifact.artifact import Artifact
    from rlx.backends.protocol import Executable
    from rlx.registration import Registration
    from rlx.registries import Registry


class LoadedArtifact(Closing):
    """An artifact on a device, until `close`; a `with` block closes it.

    Inputs and outputs are checked as those of a compiled program are.
    """

    def __init__(self, artifact: Artifact, executable: Executable, spec: DeviceSpec, backend: str):
        self.header = artifact.header
        self.device = spec
        self.backend = backend
        self._executable: Executable | None = executable
        native = Native.of(executable, str(spec))
        door = Door(artifact.header, executable.run, self._failure, backend, native)
        self._call: Callable[..., tuple[Any, ...]] = door.call
        self._order = door.order

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        """Run with the inputs by position; outputs are NumPy arrays.

        Raises:
            InputError: inputs do not fit the program.
            ExecutionError: the runtime failed.
            ContractError: its outputs are not what the program declares.
            SessionClosed: it was closed.
        """
        return self._call(*inputs)

    def run(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Run with the inputs by name; the outputs come in the program's order."""
        return list(self._call(*self._order(inputs)))

    def run_named(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run with the inputs by name; the outputs come by name."""
        names = [value.name for value in self.header.outputs]
        return dict(zip(names, self.run(inputs), strict=True))

    def close(self) -> None:
        """Release what it holds; calling it again does nothing."""
        executable, self._executable = self._executable, None
        if executable is not None:
            self._call = self._order = self._closed
            executable.close()

    def _closed(self, *_: Any) -> NoReturn:
        raise SessionClosed(f"the artifact of {printable(self.header.name)} is closed")

    def _failure(self, error: Exception) -> RlxError:
        what = f"{self.backend} failed to run the artifact of {printable(self.header.name)}"
        return ExecutionError(f"{what}: {cause_text(error)}")

    def __repr__(self) -> str:
        return f"<LoadedArtifact {printable(self.header.name)} on {self.device} ({self.backend})>"


def load_artifact(
    artifact: Artifact,
    registry: Registry,
    index: int | None = None,
    request: Request | None = None,
) -> LoadedArtifact:
    """Put an artifact on the device that it was built for; `request` may forbid that.

    Raises:
        PrecisionError: the request is for another precision.
        ForeignArtifact, StaleArtifact: it does not fit this registry.
        Unavailable: the device can't be used here.
        UnsupportedFeature: the runtime is not installed, or nothing materialises its format.
        ContractError: the materializer gave no executable, or one on another device.
        ExecutionError: the runtime refused the payload.
    """
    check(artifact.header, registry).require()
    one = provider(artifact.header, registry)
    assert one is not None  # checked
    asked = Request() if request is None else request
    _as_requested(artifact, registry, one, asked)
    runtime = materializer(one)
    own = next((spec.index for spec in asked.devices if spec.name == one.device), None)
    spec = DeviceSpec(one.device, (own or 0) if index is None else index)
    _available(registry, one, spec.index or 0)
    what = f"{one.id} loaded the artifact of {printable(artifact.header.name)}"
    try:
        made = runtime.materialize(artifact.payload, spec)
    except RlxError:
        raise
    except ModuleNotFoundError as error:
        raise lacking(one, "materializer", error) from error
    except (Exception, SystemExit) as error:
        raise ExecutionError(
            f"{one.id} can't load the artifact of {printable(artifact.header.name)}: "
            f"{cause_text(error)}"
        ) from error
    check_executable(what, made, one.device)
    return LoadedArtifact(artifact, made, spec, one.id)


def _available(registry: Registry, one: Registration, index: int) -> None:
    fact = probed(registry, one, index)
    if fact.reason is not None:
        raise Unavailable(
            f"{one.id} is not available here: {fact.reason}", fix=fact.fix or one.install
        )


def _as_requested(
    artifact: Artifact, registry: Registry, one: Registration, request: Request
) -> None:
    """Refuse to run elsewhere, or otherwise, than was asked for."""
    what = f"the artifact of {printable(artifact.header.name)} is for {one.id} on {one.device}"
    by = str(request.source or "the request")
    fix = f"ask for {one.device}, or build the program for what is asked for."
    masked = disabled_by(registry, request, one)
    if masked or not one.enabled:
        why = f"RLX_DISABLE={masked}" if masked else "its registration"
        raise Unavailable(f"{what}, which {why} disables", fix="enable it again.")
    if request.backend not in (None, one.id):
        raise Unavailable(f"{what}, {request.backend} was asked for by {by}", fix=fix)
    if request.devices and one.device not in {spec.name for spec in request.devices}:
        asked = " or ".join(map(str, request.devices))
        raise Unavailable(f"{what}, {asked} was asked for by {by}", fix=fix)
    header = artifact.header
    if request.precision is None or request.precision_policy != "error":
        return
    dtypes = {value.type.dtype for value in (*header.inputs, *header.outputs)}
    stated = floats(dtypes) and not others(dtypes, request.precision)
    if request.precision != header.precision and not (header.precision is None and stated):
        computes = header.precision or "what its program states"
        raise PrecisionError(
            f"the artifact of {printable(header.name)} computes in {computes}, "
            f"{request.precision} was asked for",
            fix=f"build it with `rlx build --precision {request.precision}`, or ask for no "
            "precision.",
        )
