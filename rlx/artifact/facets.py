"""A registration's facets: its compiler, its materializer, and what it compiles.

A registration imports nothing; a facet is imported when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from rlx.errors import ContractError, UnsupportedFeature, printable
from rlx.freeze.digest import coverage_digest, plain_digest
from rlx.references import resolve

if TYPE_CHECKING:
    from rlx.backends.payload import Compiler, Materializer
    from rlx.registration import Registration
    from rlx.registries import Registry

FACET_VERSION = 1
_COMPILER = ("payload_format", "toolchain", "compile")
_MATERIALIZER = ("payload_format", "accepts", "materialize")


@dataclass(frozen=True, slots=True, order=True)
class OperationFacet:
    """One operation that a target's compiler takes."""

    operation: str
    target: str
    version: int = FACET_VERSION


def target_compiler(registration: Registration) -> Compiler:
    """The registration's compiler, imported.

    Raises:
        UnsupportedFeature: it has none, or the compiler's library is missing.
        ContractError: what it names is no compiler, or one for another payload format.
    """
    return cast("Compiler", _facet(registration, "compiler", _COMPILER))


def materializer(registration: Registration) -> Materializer:
    """The registration's materializer, imported.

    Raises:
        UnsupportedFeature: it has none, or the runtime's library is missing.
        ContractError: what it names is no materializer, or one for another payload format.
    """
    return cast("Materializer", _facet(registration, "materializer", _MATERIALIZER))


def _facet(one: Registration, what: str, members: tuple[str, ...]) -> Any:
    reference = getattr(one, what)
    if reference is None:
        raise UnsupportedFeature(
            f"{one.id} registers no {what}",
            fix="choose a backend that has one: run `rlx backends`.",
            origin=one.source(what) if one.source(what).path else None,
        )
    try:
        made = resolve(reference)()
        missing = [name for name in members if not hasattr(made, name)]
        payload_format = None if missing else made.payload_format
    except ModuleNotFoundError as error:
        raise lacking(one, what, error) from error
    except (Exception, SystemExit) as error:
        raise ContractError(
            f"the {what} of {one.id} can't be loaded: {type(error).__name__}: "
            f"{printable(str(error)):.200}",
        ) from error
    if missing:
        raise ContractError(
            f"the {what} of {one.id} is {type(made).__name__}, which has no "
            f"{' and no '.join(missing)}"
        )
    if payload_format != one.payload_format:
        raise ContractError(
            f"the {what} of {one.id} is for {payload_format!r:.60}, "
            f"the registration says {one.payload_format}"
        )
    return made


def lacking(one: Registration, what: str, error: ModuleNotFoundError) -> UnsupportedFeature:
    """The error for a compiler or materializer whose library is not installed."""
    return UnsupportedFeature(
        f"the {what} of {one.id} needs {error.name}, which is not installed",
        fix=one.install or "install it.",
    )


def target_operation_facets(registry: Registry) -> tuple[OperationFacet, ...]:
    """Every operation that the compilers of the registry take, per target, sorted.

    Operations with bodies, such as If, are left out: no node of theirs is a program by itself.

    Raises:
        ContractError: a compiler claims an operation that nobody declares.
    """
    bodied = _bodied(registry)
    found: set[OperationFacet] = set()
    for one in registry.registrations:
        if one.compiler is None or one.compiles is None or not one.enabled:
            continue
        for name in {name for row in one.compiles.rows for name in row.operations}:
            if name not in bodied:
                raise ContractError(
                    f"{one.id} compiles {printable(name)}, which no Operations manifest declares",
                    fix="correct the name, or declare the operation.",
                )
            if not bodied[name]:
                found.add(OperationFacet(name, one.target))
    return tuple(sorted(found))


def _bodied(registry: Registry) -> dict[str, bool]:
    """Per operation, whether it needs bodies of its own."""
    return {
        one.name: any(attribute.type in ("GRAPH", "GRAPHS") for attribute in one.attributes)
        for one in registry.vocabulary.operations
    }


def facet_digest(one: Registration) -> str:
    """SHA-256 of what a payload depends on: not its rank, its probes or how it is installed."""
    compiles = (
        None if one.compiles is None else one.compiles.digest or coverage_digest(one.compiles)
    )
    plain = [one.id, one.device, one.target, one.payload_format, one.compiler, one.materializer]
    return plain_digest([*plain, one.options, compiles])
