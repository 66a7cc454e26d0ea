"""The tolerances that operations declare for themselves, in `configs/tolerances.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rlx import resources
from rlx.conformance.compare import Tolerance
from rlx.errors import ConfigError, Fault
from rlx.manifest import read_file
from rlx.manifest.models import TolerancesModel


def read(path: Path) -> TolerancesModel:
    """The file, checked.

    Raises:
        ConfigError: it is not YAML as manifests are, or not of this shape; every fault is listed.
    """
    manifest = read_file(path, "packaged", shown=path.name)
    if isinstance(manifest.model, TolerancesModel):
        return manifest.model
    raise ConfigError(
        [
            Fault(
                "unknown-kind",
                f"kind must be Tolerances, got '{manifest.kind}'",
                "name a Tolerances manifest.",
                manifest.origin("kind"),
            )
        ]
    )


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
