"""Probes: cheap checks that a backend can work here; a reason where it can't, no exception."""

from rlx.probe.memo import facts_for, generation, probe, refresh, values

__all__ = ["facts_for", "generation", "probe", "refresh", "values"]
