"""Running artifacts: a payload is materialised on a device, and called like a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from rlx import probe
from rlx.artifact.checking import check, provider
from rlx.artifact.facets import materializer
from rlx.device import DeviceSpec
from rlx.errors import (
    ContractError,
    ExecutionError,
    RlxError,
    SessionClosed,
    Unavailable,
    printable,
)
from rlx.session.inputs import Door
from rlx.session.opening import cause_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from rlx.artifact.artifact import Artifact
    from rlx.backends.protocol import Executable
    from rlx.registration import Registration
    from rlx.registries import Registry


class LoadedArtifact:
    """An artifact on a device, until `close`; a `with` block closes it.

    Inputs and outputs are checked as those of a compiled program are.
    """

    def __init__(self, artifact: Artifact, executable: Executable, spec: DeviceSpec, backend: str):
        self.header = artifact.header
        self.device = spec
        self.backend = backend
        self._executable: Executable | None = executable
        door = Door(artifact.header, executable.run, self._failure, backend)
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

    def __enter__(self) -> LoadedArtifact:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<LoadedArtifact {printable(self.header.name)} on {self.device} ({self.backend})>"


def load_artifact(artifact: Artifact, registry: Registry, index: int = 0) -> LoadedArtifact:
    """Put an artifact on the device that it was built for.

    Raises:
        ForeignArtifact, StaleArtifact: it does not fit this registry.
        Unavailable: the device can't be used here.
        UnsupportedFeature: the runtime is not installed, or nothing materialises its format.
        ContractError: the materializer gave no executable, or one on another device.
        ExecutionError: the runtime refused the payload.
    """
    check(artifact.header, registry).require()
    one = provider(artifact.header, registry)
    assert one is not None  # checked
    runtime = materializer(one)
    spec = DeviceSpec(one.device, index)
    _available(one, index)
    what = f"{one.id} loaded the artifact of {printable(artifact.header.name)}"
    try:
        made = runtime.materialize(artifact.payload, spec)
    except RlxError:
        raise
    except (Exception, SystemExit) as error:
        raise ExecutionError(
            f"{one.id} can't load the artifact of {printable(artifact.header.name)}: "
            f"{cause_text(error)}"
        ) from error
    missing = [name for name in ("device", "run", "close") if not hasattr(made, name)]
    if missing:
        raise ContractError(f"{what} to {type(made).__name__}, which has no {missing[0]}")
    if made.device != one.device:
        made.close()
        raise ContractError(f"{what} for {made.device!r:.60}, {one.device} was promised")
    return LoadedArtifact(artifact, made, spec, one.id)


def _available(one: Registration, index: int) -> None:
    fact = probe.probe(one, index)
    if fact.reason is not None:
        raise Unavailable(
            f"{one.id} is not available here: {fact.reason}", fix=fact.fix or one.install
        )
