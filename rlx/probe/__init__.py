"""Probes: cheap checks that a backend can work here; a reason where it can't, no exception."""

from rlx.probe.memo import depends_on_masks, facts_for, generation, masks, probe, refresh

__all__ = ["depends_on_masks", "facts_for", "generation", "masks", "probe", "refresh"]
