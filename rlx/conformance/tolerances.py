"""The tolerances that operations declare for themselves, in `configs/tolerances.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from rlx import resources
from rlx.conformance.compare import Tolerance
from rlx.errors import ConfigError, Fault
from rlx.manifest.models import Model, Name
from rlx.manifest.parser import parse

LOOSEST = 1e-5
"""No absolute tolerance is looser: beyond, an answer would be wrong."""


class ToleranceModel(Model):
    """What some operations are allowed, and why."""

    operations: Annotated[tuple[Name, ...], Field(min_length=1)]
    rtol: Annotated[float, Field(ge=0, le=1e-3)]
    atol: Annotated[float, Field(ge=0, le=LOOSEST)]
    reason: Name


class TolerancesModel(Model):
    """`kind: Tolerances`."""

    apiVersion: Literal["rlx/v1"]  # noqa: N815
    kind: Literal["Tolerances"]
    tolerances: tuple[ToleranceModel, ...]


def read(path: Path) -> TolerancesModel:
    """The file, checked.

    Raises:
        ConfigError: it is not YAML as manifests are, or not of this shape; every fault is listed.
    """
    document = parse(path.read_bytes(), path.name, "packaged")
    try:
        return TolerancesModel.model_validate(document.root.plain())
    except ValidationError as error:
        raise ConfigError(
            Fault(
                "tolerances",
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}, got {fault['input']!r}",
                f"give operations, rtol, atol (at most {LOOSEST}) and a reason.",
                document.origin(*fault["loc"]),
            )
            for fault in error.errors()
        ) from error


@cache
def declared() -> dict[str, Tolerance]:
    """The tolerance of each operation that declares one."""
    model = read(resources.configs() / "tolerances.yaml")
    return {
        operation: Tolerance(entry.rtol, entry.atol)
        for entry in model.tolerances
        for operation in entry.operations
    }


def tolerance(operations: set[str], case: Tolerance) -> Tolerance:
    """The case's own tolerance, or the loosest that one of its operations declares."""
    found = [entry for name, entry in declared().items() if name in operations]
    return Tolerance(
        max([case.rtol, *(entry.rtol for entry in found)]),
        max([case.atol, *(entry.atol for entry in found)]),
        case.scaled,
    )
