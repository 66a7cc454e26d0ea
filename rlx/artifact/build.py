"""Building: a program, a registration and its compiler make an artifact."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from rlx.artifact.artifact import Artifact
from rlx.artifact.facets import facet_digest, target_compiler
from rlx.artifact.header import MOST_PARTS, Header, Part
from rlx.backends.payload import Target
from rlx.errors import (
    ContractError,
    CorruptArtifact,
    ExecutionError,
    RlxError,
    UnsupportedFeature,
    printable,
)
from rlx.program.types import BARRIER
from rlx.registries import Registry
from rlx.router import Route, decide
from rlx.settings import Request

if TYPE_CHECKING:
    from rlx.program import Program
    from rlx.registration import Registration


def build(
    program: Program,
    registration: Registration,
    registry: Registry,
    precision: str | None = None,
    request: Request | None = None,
) -> Artifact:
    """Compile a program for a registration's target; no device is needed.

    What the compiler does not claim is lowered, as `request.kernel_dispatch` says.

    Raises:
        UnsupportedFeature: there is no compiler, it does not claim one of the program's nodes
            (the message names it), or its library is missing.
        ContractError: the compiler broke its contract.
        ExecutionError: it failed.
    """
    compiler = target_compiler(registration)
    handed = _handed(program, registration, registry, request or Request())
    options = tuple((name, value) for name, value in registration.options)
    target = Target(registration.target, registration.device, options, precision)
    try:
        made = compiler.compile(handed, target)
        parts = dict(sorted(made.items()))
        toolchain = compiler.toolchain
    except RlxError:
        raise
    except (Exception, SystemExit) as error:
        raise ExecutionError(
            f"the compiler of {registration.id} failed on {printable(program.name)}: "
            f"{type(error).__name__}: {printable(str(error)):.500}"
        ) from error
    if not 1 <= len(parts) <= MOST_PARTS or not all(
        isinstance(name, str) and isinstance(data, bytes) for name, data in parts.items()
    ):
        raise ContractError(
            f"the compiler of {registration.id} must return 1 to {MOST_PARTS} parts of bytes"
        )
    header = Header(
        backend=registration.id,
        device=registration.device,
        target=registration.target,
        payload_format=str(registration.payload_format),
        toolchain=toolchain,
        precision=precision,
        registration=facet_digest(registration),
        registry=registry.digest,
        program=program.digest,
        name=program.name,
        inputs=program.inputs,
        outputs=program.outputs,
        operations=tuple(sorted(Counter(node.operation for node in program.nodes()).items())),
        parts=tuple(
            Part(name, len(data), sha256(data).hexdigest()) for name, data in parts.items()
        ),
    )
    try:
        Header.from_bytes(header.to_bytes())
    except (CorruptArtifact, TypeError, ValueError) as error:
        said = error.message if isinstance(error, CorruptArtifact) else printable(str(error))
        raise ContractError(
            f"the compiler of {registration.id} made what no artifact can hold: {said}"
        ) from error
    return Artifact(header, tuple(parts.values()))


def _handed(
    program: Program, registration: Registration, registry: Registry, request: Request
) -> Program:
    """The program with what the compiler does not claim lowered.

    Raises:
        UnsupportedFeature: a node is not claimed, nor its lowering; the message names it.
    """
    if registration.compiles is None:
        raise UnsupportedFeature(
            f"{registration.id} does not say what its compiler takes",
            fix="add `compiles` to its registration.",
        )
    barrier = next((node for node in program.nodes() if node.operation == BARRIER), None)
    if barrier is not None:
        raise UnsupportedFeature(
            f"an artifact holds one launch: node {printable(barrier.name)!r} {BARRIER} divides "
            f"{printable(program.name)} into stages",
            fix="run the program itself, or take its barriers out: those that repeat nothing "
            "change no result.",
        )
    as_backend = replace(
        registration,
        coverage=registration.compiles,
        capabilities=tuple(one.id for one in registry.capabilities),
        dispatches=True,
        enabled=True,
        software=False,
        probes=(),
    )
    alone = Registry(replace(registry.content, registrations=(as_backend,)))
    asked = replace(
        request,
        devices=(),
        backend=registration.id,
        disabled=(),
        precedence=(),
        require=(),
    )
    route = decide(alone, program, asked, {})
    assert isinstance(route, Route)  # nothing is probed
    for candidate in route.candidates:
        for reason in candidate.reasons:
            raise UnsupportedFeature(
                f"the compiler of {registration.id} does not take this program: {reason.detail}",
                fix=reason.fix or "choose another target: run `rlx backends`.",
                origin=reason.source,
            )
    return route.executed
