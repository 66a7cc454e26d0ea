"""Facts about registrations as bit masks: bit i stands for the i-th registration in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rlx.registration import Registration


def mask_of(indices: Iterable[int], size: int) -> int:
    """The mask with these bits set; takes time linear in `size`."""
    octets = bytearray((size + 7) // 8)
    for index in indices:
        octets[index >> 3] |= 1 << (index & 7)
    return int.from_bytes(octets, "little")


def bits(mask: int) -> Iterator[int]:
    """The indices of the bits that are set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Facets:
    """What the checks before coverage ask of each registration; immutable once made."""

    __slots__ = (
        "call_probed",
        "capabilities",
        "devices",
        "dispatching",
        "enabled",
        "everything",
        "implicit",
        "index",
        "oracles",
        "software",
    )

    def __init__(self, registrations: Sequence[Registration]):
        size = len(registrations)

        def where(holds: Callable[[Registration], bool]) -> int:
            return mask_of((i for i, one in enumerate(registrations) if holds(one)), size)

        def grouped(names: Callable[[Registration], Iterable[str]]) -> dict[str, int]:
            members: dict[str, list[int]] = {}
            for i, one in enumerate(registrations):
                for name in names(one):
                    members.setdefault(name, []).append(i)
            return {name: mask_of(indices, size) for name, indices in members.items()}

        self.everything = (1 << size) - 1
        self.index = {one.id: i for i, one in enumerate(registrations)}
        self.enabled = where(lambda one: one.enabled)
        self.dispatching = where(lambda one: one.dispatches)
        self.oracles = where(lambda one: one.reference_oracle)
        self.software = where(lambda one: one.software)
        self.call_probed = where(lambda one: any(probe.kind == "call" for probe in one.probes))
        self.implicit = self.enabled & self.dispatching & ~self.oracles
        self.devices = grouped(lambda one: (one.device,))
        self.capabilities = grouped(lambda one: one.capabilities)
