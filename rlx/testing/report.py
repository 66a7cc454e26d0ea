"""What the conformance kit found out about one backend."""

from __future__ import annotations

from dataclasses import dataclass

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Report:
    """The findings; each is one line that names the program and what went wrong."""

    backend: str
    version: str
    signatures: int
    """How many different nodes ran: operations, with their dtypes, attributes and sizes."""
    broken: tuple[str, ...] = ()
    """What every backend promises, and this one does not hold."""
    failed: tuple[str, ...] = ()
    """Claims that gave another answer than the oracle, or none."""
    unclaimed: tuple[str, ...] = ()
    """Right answers that the coverage does not claim: programs that go elsewhere for nothing."""
    untried: tuple[str, ...] = ()
    """Claimed operations that no case ran: nothing is known about them."""

    @property
    def passed(self) -> bool:
        """True when what is claimed holds."""
        return not self.broken and not self.failed

    def require(self, *, everything: bool = False) -> None:
        """Fail the test that calls this unless what is claimed holds.

        With `everything`, what is not claimed although it works, and what is claimed although
        nothing tries it, fail it as well.

        Raises:
            AssertionError: with every finding.
        """
        if not self.passed or (everything and (self.unclaimed or self.untried)):
            raise AssertionError(str(self))

    def __str__(self) -> str:
        head = f"{self.backend} {self.version}: {self.signatures} kinds of nodes ran"
        lines = [head if not self.passed else f"{head}, all that is claimed holds"]
        for what, found in (
            ("broken promise", self.broken),
            ("claim failed", self.failed),
            ("not claimed", self.unclaimed),
            ("never tried", self.untried),
        ):
            lines += [f"  {what}: {one}" for one in found[:_SHOWN]]
            if len(found) > _SHOWN:
                lines.append(f"  {what}: … and {len(found) - _SHOWN} more")
        return "\n".join(lines)
