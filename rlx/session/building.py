"""Building, facets and artifacts by name, with the default registry where none is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.artifact import facets
from rlx.artifact.artifact import Artifact, read_artifact
from rlx.artifact.build import build as build_for
from rlx.errors import UnknownBackend, UnsupportedFeature, printable
from rlx.registries import checked
from rlx.session import artifacts
from rlx.session.default import default_registry
from rlx.session.routes import as_program
from rlx.settings import make_request

if TYPE_CHECKING:
    import os

    from rlx.artifact.facets import OperationFacet
    from rlx.backends.payload import Compiler, Materializer
    from rlx.registration import Registration
    from rlx.registries import Registry
    from rlx.session.artifacts import LoadedArtifact


def build(
    program: Any, target: str, *, precision: str | None = None, registry: Registry | None = None
) -> Artifact:
    """Compile a program for a target, or for a backend by id; no device is needed.

    `artifact.write("model.rlx")` puts it into one file, which `rlx.load_artifact` runs elsewhere.

    Raises:
        UnsupportedFeature: nothing provides the target; it has no compiler; the compiler's library
            is missing, or it does not take one of the program's nodes, which the message names.
        ContractError: the compiler broke its contract.
        ExecutionError: it failed.
        ProgramError: the program can't be read.
    """
    used = default_registry() if registry is None else checked(registry)
    request = make_request(used, precision=precision)
    provider = _provider(used, target)
    if provider.compiler is None:
        raise UnsupportedFeature(
            f"{provider.id} registers no compiler",
            fix=_others(used),
            origin=provider.origin if provider.origin.path else None,
        )
    return build_for(as_program(program), provider, used, request.precision, request)


def load_artifact(
    source: Artifact | str | os.PathLike[str],
    *,
    index: int | None = None,
    registry: Registry | None = None,
) -> LoadedArtifact:
    """Put an artifact, or the file of one, on the device that it was built for.

    A request is a promise here too: where scope or environment ask for another device, backend or
    precision, or disable this one, the artifact is refused.

    Raises:
        PrecisionError: another precision is asked for than the artifact computes in.
        CorruptArtifact, ForeignArtifact, StaleArtifact: it can't be used here, and why.
        Unavailable: the device can't be used here.
        UnsupportedFeature: nothing here materialises its format.
        ContractError, ExecutionError: the runtime broke its contract, or refused the payload.
    """
    used = default_registry() if registry is None else checked(registry)
    made = source if isinstance(source, Artifact) else read_artifact(source)
    return artifacts.load_artifact(made, used, index, make_request(used))


def target_compiler(backend: str, *, registry: Registry | None = None) -> Compiler:
    """The compiler that a backend registers, imported.

    Raises:
        UnknownBackend: no backend has this id.
        UnsupportedFeature: it registers no compiler, or the compiler's library is missing.
        ContractError: it is no compiler, or one for another payload format.
    """
    return facets.target_compiler(_known(backend, registry))


def materializer(backend: str, *, registry: Registry | None = None) -> Materializer:
    """The materializer that a backend registers, imported.

    Raises:
        UnknownBackend: no backend has this id.
        UnsupportedFeature: it registers no materializer, or the runtime's library is missing.
        ContractError: it is no materializer, or one for another payload format.
    """
    return facets.materializer(_known(backend, registry))


def target_operation_facets(*, registry: Registry | None = None) -> tuple[OperationFacet, ...]:
    """Every operation that a compiler takes, per target, sorted; imports no compiler.

    Raises:
        ContractError: a compiler claims an operation that nobody declares.
    """
    used = default_registry() if registry is None else checked(registry)
    return facets.target_operation_facets(used)


def _known(backend: str, registry: Registry | None) -> Registration:
    used = default_registry() if registry is None else checked(registry)
    found = used.get(backend)
    if found is None:
        raise UnknownBackend(f"no backend {printable(backend)!r} is registered")
    return found


def _provider(registry: Registry, name: str) -> Registration:
    """The backend that provides this target, else the one of this id."""
    for key in ("target", "id"):
        for one in registry.registrations:
            if getattr(one, key) == name:
                return one
    raise UnsupportedFeature(
        f"no backend provides the target {printable(name)!r}", fix=_others(registry)
    )


def _others(registry: Registry) -> str:
    """What to build for instead."""
    known = ", ".join(sorted(one.target for one in registry.registrations if one.compiler))
    return f"build for one of: {known}." if known else "register a backend with a compiler."
