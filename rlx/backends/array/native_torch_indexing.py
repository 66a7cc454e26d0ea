"""Indexing in PyTorch: gathering, scattering and slicing, with what it lacks made up for."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rlx.backends.array.kernels.indexing import nd_index
from rlx.backends.array.kernels.operands import axis_of
from rlx.backends.array.kernels.table import KERNELS
from rlx.backends.array.site import Builder, Fresh, Kernel, Site

_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _gather(site: Site) -> Kernel:
    axis = site.attributes.get("axis", 0)
    if site.constants[1] is not None and site.constants[1].ndim == 0:
        return KERNELS["Gather"](site)
    if axis == 0:
        return Fresh(lambda x, at: x[at.long()])
    return Fresh(lambda x, at: x[(*(slice(None),) * axis_of(axis, x.ndim), at.long())])


def _inside(at: Tensor, size: int) -> Tensor:
    at = at.long()
    return torch.where(at < 0, at + size, at)


def _gather_elements(site: Site) -> Kernel:
    axis = site.attributes.get("axis", 0)
    return Fresh(lambda x, at: torch.gather(x, axis, _inside(at, x.shape[axis])))


def _scatter_elements(site: Site) -> Kernel:
    axis, how = site.attributes.get("axis", 0), site.attributes.get("reduction", "none")

    def scatter(x: Tensor, at: Tensor, updates: Tensor) -> Tensor:
        at = _inside(at, x.shape[axis])
        if how == "none":
            return torch.scatter(x, axis, at, updates)
        return torch.scatter_reduce(x, axis, at, updates, _REDUCTIONS[how])

    return Fresh(scatter)


def _scatter_nd(site: Site) -> Kernel:
    how = site.attributes.get("reduction", "none")

    def scatter(x: Tensor, at: Tensor, updates: Tensor) -> Tensor:
        places = nd_index(site.xp, tuple(x.shape), at.long(), 0)
        if how in ("none", "add"):
            return torch.index_put(x, places, updates, accumulate=how == "add")
        return _combined(x, places, updates, how)

    return Fresh(scatter)


def _combined(x: Tensor, places: tuple[Tensor, ...], updates: Tensor, how: str) -> Tensor:
    """Each place is a run of elements: as one line, numbered from its start."""
    depth = len(places)
    run = 1
    for size in x.shape[depth:]:
        run *= size
    start = torch.zeros_like(places[0])
    for place, size in zip(places, x.shape[:depth], strict=True):
        start = start * size + place
    line = start.reshape(-1, 1) * run + torch.arange(run, device=x.device)
    flat = x.reshape(-1).scatter_reduce(0, line.reshape(-1), updates.reshape(-1), _REDUCTIONS[how])
    return flat.reshape(x.shape)


def _slice(site: Site) -> Kernel:
    """PyTorch has no steps backwards: such axes are turned around first."""
    steps = site.constants[4] if len(site.constants) > 4 else None
    given = len(site.inputs) > 4 and site.inputs[4] is not None
    if not given or (steps is not None and all(step > 0 for step in steps.tolist())):
        return KERNELS["Slice"](site)

    def cut(x: Tensor, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Tensor:
        places = range(len(starts)) if axes is None else axes.tolist()
        strides = steps.tolist()
        chosen = [slice(None)] * x.ndim
        turned = []
        for start, end, axis, step in zip(
            starts.tolist(), ends.tolist(), places, strides, strict=True
        ):
            at, size = axis_of(axis, x.ndim), x.shape[axis]
            if step > 0:
                chosen[at] = slice(start, end, step)
                continue
            first = min(max(start + size if start < 0 else start, 0), size - 1)
            last = min(max(end + size if end < 0 else end, -1), size - 1)
            turned.append(at)
            chosen[at] = slice(size - 1 - first, max(size - 1 - last, 0), -step)
        return torch.flip(x, turned)[tuple(chosen)]

    return cut


OVERRIDES: dict[str, Builder] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
}
