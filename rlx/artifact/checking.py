"""Whether an artifact fits this registry: compatible, stale or foreign; no device is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.artifact.facets import facet_digest, lacking, materializer
from rlx.errors import (
    ArtifactError,
    Code,
    ContractError,
    ForeignArtifact,
    RlxError,
    StaleArtifact,
    UnsupportedFeature,
    printable,
)

if TYPE_CHECKING:
    from rlx.artifact.header import Header
    from rlx.program import Program
    from rlx.registration import Registration
    from rlx.registries import Registry

WORDS: dict[str, Code] = {
    "compatible": Code("it can be run here, as far as can be told without its device", "run it."),
    "stale": Code(
        "it was made otherwise than it would be now: from another program, by another toolchain, "
        "or under another registration of its backend",
        "build it again with `rlx build`.",
    ),
    "foreign": Code(
        "it is for a target, device or payload format that the registry does not have",
        "build it for a target that `rlx backends` lists here, or register its backend.",
    ),
    "corrupt": Code(
        "it is damaged, cut short, too large, or no artifact at all",
        "copy the file again, or build it again with `rlx build`.",
    ),
}
"""What `rlx payload check` says of an artifact, in one word."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of `WORDS`, with the reasons; `notes` are what could not be compared here."""

    word: str
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def require(self) -> None:
        """Raise unless it is compatible.

        Raises:
            ForeignArtifact, StaleArtifact: it is not; the message has every reason.
        """
        classes: dict[str, type[ArtifactError]] = {
            "foreign": ForeignArtifact,
            "stale": StaleArtifact,
        }
        if self.word in classes:
            raise classes[self.word](f"this artifact is {self.word}: {'; '.join(self.reasons)}")

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {"verdict": self.word, "reasons": list(self.reasons), "notes": list(self.notes)}


def provider(header: Header, registry: Registry) -> Registration | None:
    """The registration that provides the artifact's target, where there is one."""
    return next((one for one in registry.registrations if one.target == header.target), None)


def check(header: Header, registry: Registry, program: Program | None = None) -> Verdict:
    """Hold an artifact's header against the registry, and against a program where one is given.

    The runtime's version is compared where the runtime is installed; no device is opened.
    """
    one = provider(header, registry)
    if one is None:
        targets = ", ".join(sorted(r.target for r in registry.registrations if r.payload_format))
        known = f"no backend provides the target {header.target}, only {targets or 'none'}"
        return Verdict("foreign", (known,))
    foreign = [
        f"its {what} is {got}, {one.id} has {wanted or 'none'}"
        for what, got, wanted in (
            ("payload format", header.payload_format, one.payload_format),
            ("device", header.device, one.device),
        )
        if got != wanted
    ]
    if foreign:
        return Verdict("foreign", tuple(foreign))
    stale, notes = [], []
    if header.registration != facet_digest(one):
        stale.append(f"{one.id} is registered otherwise now: its compiler, claims or options")
    if program is not None and header.program != program.digest:
        stale.append(f"it was built from another program than {program.name}")
    try:
        refused = _refused(one, header.toolchain)
    except UnsupportedFeature as error:
        notes.append(f"{error.message}: its version was not compared")
    else:
        if refused is not None:
            stale.append(refused)
    return Verdict("stale" if stale else "compatible", tuple(stale), tuple(notes))


def _refused(one: Registration, toolchain: str) -> str | None:
    """Why the runtime does not take what this toolchain made; None: it takes it.

    Raises:
        UnsupportedFeature: the runtime is not installed.
        ContractError: it gave no answer.
    """
    runtime = materializer(one)
    try:
        refused = runtime.accepts(toolchain)
    except RlxError:
        raise
    except ModuleNotFoundError as error:
        raise lacking(one, "materializer", error) from error
    except (Exception, SystemExit) as error:
        raise ContractError(
            f"the materializer of {one.id} failed on the toolchain {printable(toolchain)}: "
            f"{type(error).__name__}: {printable(str(error)):.200}"
        ) from error
    if refused is not None and not isinstance(refused, str):
        raise ContractError(
            f"the materializer of {one.id} answered {type(refused).__name__} to `accepts`, "
            "which is to give a reason or None"
        )
    return refused
