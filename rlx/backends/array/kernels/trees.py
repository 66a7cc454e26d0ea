"""TreeEnsemble of ai.onnx.ml: all rows walk down all trees at once, one level at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlx.backends.array.kernels.scores import transform
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

_COMPARE: tuple[Callable[[Any, Any], Any], ...] = (
    np.less_equal,
    np.less,
    np.greater_equal,
    np.greater,
    np.equal,
    np.not_equal,
)
_MEMBER = len(_COMPARE)
AVERAGE, SUM, MIN, MAX = range(4)
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@dataclass(frozen=True, slots=True)
class _Trees:
    """Nodes by number; a child that is a leaf is -1 - its number."""

    roots: Array
    features: Array
    modes: Array
    splits: Array
    yes: Array
    no: Array
    missing: Array
    """Where a NaN counts as true."""
    members: Array | None
    """By node, the values to test membership of, filled up with NaN."""


def _children(ids: Any, leaves: Any, nodes: int, count: int) -> Array:
    at = np.asarray(ids, np.int64)
    is_leaf = np.asarray(leaves, bool)
    limit = np.where(is_leaf, count, nodes)
    if at.shape != is_leaf.shape or (at < 0).any() or (at >= limit).any():
        raise NotImplementedError("a node's child is no node and no leaf")
    return np.where(is_leaf, -1 - at, at)


def _members(modes: Array, values: Any) -> Array | None:
    """The sets, separated by NaN, of the nodes that test membership, in their order."""
    places = np.flatnonzero(modes == _MEMBER)
    if not len(places):
        return None
    sets: list[list[Any]] = [[]]
    for value in () if values is None else np.asarray(values).reshape(-1):
        if value != value:
            sets.append([])
        else:
            sets[-1].append(value)
    sets = sets if sets[-1] else sets[:-1]
    if len(sets) != len(places):
        raise NotImplementedError(f"{len(sets)} sets of members for {len(places)} nodes")
    table = np.full((len(modes), max(1, *map(len, sets))), np.nan)
    for place, held in zip(places, sets, strict=True):
        table[place, : len(held)] = held
    return table


def _read(site: Site) -> _Trees:
    attributes = site.attributes
    modes = np.asarray(attributes["nodes_modes"], np.int64).reshape(-1)
    leaves = np.asarray(attributes["leaf_weights"]).size
    missing = attributes.get("nodes_missing_value_tracks_true") or (0,) * len(modes)
    features = np.asarray(attributes["nodes_featureids"], np.int64)
    if ((modes < 0) | (modes > _MEMBER)).any() or (features < 0).any():
        raise NotImplementedError("a node has an unknown mode, or a feature below 0")
    sides = (
        _children(
            attributes[f"nodes_{s}nodeids"], attributes[f"nodes_{s}leafs"], len(modes), leaves
        )
        for s in ("true", "false")
    )
    yes, no = sides
    return _Trees(
        roots=np.asarray(attributes["tree_roots"], np.int64),
        features=features,
        modes=modes,
        splits=np.asarray(attributes["nodes_splits"]).reshape(-1),
        yes=yes,
        no=no,
        missing=np.asarray(missing, bool),
        members=_members(modes, attributes.get("membership_values")),
    )


def _decide(trees: _Trees, used: list[int], at: Array, values: Array) -> Array:
    """Whether each value takes the true branch of its node."""
    modes = trees.modes[at]
    splits = trees.splits[at]
    taken = np.zeros(at.shape, bool)
    for mode in used:
        if mode == _MEMBER:
            assert trees.members is not None
            found = (values[:, None] == trees.members[at]).any(axis=1)
        else:
            found = _COMPARE[mode](values, splits)
        taken = found if len(used) == 1 else np.where(modes == mode, found, taken)
    return np.asarray(taken | (trees.missing[at] & (values != values)))


def _leaves(trees: _Trees, used: list[int], x: Array) -> Array:
    """The leaf of every row in every tree (rows, trees).

    Raises:
        ValueError: nodes lead round in a circle.
    """
    at = np.tile(trees.roots, (len(x), 1)).reshape(-1)
    row = np.repeat(np.arange(len(x)), len(trees.roots))
    walking = np.arange(at.size)
    for _ in range(len(trees.modes) + 1):
        if not walking.size:
            return (-1 - at).reshape(len(x), len(trees.roots))
        here = at[walking]
        taken = _decide(trees, used, here, x[row[walking], trees.features[here]])
        there = np.where(taken, trees.yes[here], trees.no[here])
        at[walking] = there
        walking = walking[there >= 0]
    raise ValueError("its nodes lead round in a circle")


def _ensemble(site: Site) -> Kernel:
    """The leaves' weights, put together for each target."""
    attributes = site.attributes
    trees = _read(site)
    used = sorted(set(trees.modes.tolist()))
    weights = np.asarray(attributes["leaf_weights"]).reshape(-1)
    owners = np.asarray(attributes["leaf_targetids"], np.int64)
    targets = attributes.get("n_targets")
    together = attributes["aggregate_function"]
    name = TRANSFORMS[attributes["post_transform"]]
    if targets is None or owners.shape != weights.shape or owners.max(initial=0) >= targets:
        raise NotImplementedError("n_targets is missing, or a leaf's target is out of range")
    if together not in (AVERAGE, SUM, MIN, MAX) or (targets == 1 and name != "NONE"):
        raise NotImplementedError(f"aggregate_function {together} with {name} of {targets} targets")
    finish = transform(name)

    def run(x: Array) -> Array:
        leaves = _leaves(trees, used, x)
        cell = (np.arange(len(x))[:, None] * targets + owners[leaves]).reshape(-1)
        values = weights[leaves].reshape(-1).astype(np.float64)
        if together in (AVERAGE, SUM):
            y: Array = np.bincount(cell, values, len(x) * targets)
            y = y / len(trees.roots) if together == AVERAGE else y
        else:
            y = np.full(len(x) * targets, np.inf if together == MIN else -np.inf)
            (np.minimum if together == MIN else np.maximum).at(y, cell, values)
            y[np.bincount(cell, minlength=y.size) == 0] = 0  # no leaf: as if the sum of none
        return finish(y.reshape(len(x), targets)).astype(x.dtype)

    return Fresh(run)


KERNELS: dict[str, Builder] = {"ai.onnx.ml::TreeEnsemble": _ensemble}
HOSTED = dict.fromkeys(KERNELS)
