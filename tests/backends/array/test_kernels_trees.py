"""TreeEnsemble: one tree by hand, random forests beside a walk in plain Python, and refusals."""

from __future__ import annotations

import math

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.errors import ExecutionError

OPERATION = "ai.onnx.ml::TreeEnsemble"
FLOAT = onnx.TensorProto.FLOAT
LEQ, LT, GTE, GT, EQ, NEQ, MEMBER = range(7)
AVERAGE, SUM, MIN, MAX = range(4)


def tensor(values, dtype=np.float32):
    return onnx.numpy_helper.from_array(np.array(values, dtype))


def ensemble(nodes, leaves, roots, targets, members=None, dtype=np.float32, **more):
    """`nodes`: (mode, feature, split, true child, false child, NaN is true); a leaf is ~number."""
    columns = list(zip(*nodes, strict=True))
    modes, features, splits, yes, no, missing = columns
    attributes = {
        "nodes_modes": tensor(modes, np.uint8),
        "nodes_featureids": list(features),
        "nodes_splits": tensor(splits, dtype),
        "nodes_missing_value_tracks_true": list(missing),
        "tree_roots": list(roots),
        "leaf_targetids": [target for target, _ in leaves],
        "leaf_weights": tensor([weight for _, weight in leaves], dtype),
        "n_targets": targets,
        **more,
    }
    for side, children in (("true", yes), ("false", no)):
        attributes[f"nodes_{side}nodeids"] = [~c if c < 0 else c for c in children]
        attributes[f"nodes_{side}leafs"] = [int(c < 0) for c in children]
    if members is not None:
        attributes["membership_values"] = tensor(members, dtype)
    return attributes


STUMP = [(LEQ, 0, 1.0, ~0, 1, 0), (GT, 1, 0.0, ~1, ~2, 1)]
LEAVES = [(0, 1.0), (0, 2.0), (0, 4.0)]
X = np.array([[1, 9], [2, 5], [2, -5], [2, math.nan], [math.nan, -1]], np.float32)


def test_one_tree_by_hand(run_typed):
    (y,) = run_typed(OPERATION, ensemble(STUMP, LEAVES, [0], 1), [X], [FLOAT])
    np.testing.assert_array_equal(y, np.array([[1], [2], [4], [2], [4]], np.float32), strict=True)


@pytest.mark.parametrize(
    ("together", "expected"),
    [(SUM, [[3, 0, 4]]), (AVERAGE, [[1, 0, 4 / 3]]), (MIN, [[1, 0, 4]]), (MAX, [[2, 0, 4]])],
)
def test_weights_are_put_together_for_each_target(together, expected, run_typed):
    nodes = [(LEQ, 0, 5.0, ~leaf, ~leaf, 0) for leaf in range(3)]
    leaves = [(0, 1.0), (0, 2.0), (2, 4.0)]
    attributes = ensemble(nodes, leaves, [0, 1, 2], 3, aggregate_function=together)
    (y,) = run_typed(OPERATION, attributes, [X[:1]], [FLOAT])
    np.testing.assert_allclose(y, np.array(expected, np.float32), strict=True)


def test_sets_are_told_apart_by_nan(run_typed):
    nodes = [(MEMBER, 0, 0.0, ~0, 1, 0), (MEMBER, 0, 0.0, ~1, ~2, 0)]
    attributes = ensemble(nodes, LEAVES, [0], 1, members=[0, 5, math.nan, 2, math.nan])
    x = np.array([[0], [5], [2], [3], [math.nan]], np.float32)
    (y,) = run_typed(OPERATION, attributes, [x], [FLOAT])
    assert y.ravel().tolist() == [1, 1, 2, 4, 4]


@pytest.mark.parametrize(
    ("name", "expected"), [(1, [0.5, 0.5, 0]), (2, [0.5, 0.5, 0]), (3, [0, 0, 1])]
)
def test_scores_are_transformed_as_onnx_numbers_it(name, expected, run_typed):
    """1 is SOFTMAX, 2 LOGISTIC and 3 SOFTMAX_ZERO; onnxruntime swaps the first two."""
    attributes = ensemble([(LEQ, 0, 5.0, ~0, ~0, 0)], [(2, -99.0)], [0], 3, post_transform=name)
    (y,) = run_typed(OPERATION, attributes, [X[:1]], [FLOAT])
    np.testing.assert_allclose(y[0], expected, atol=1e-6)


def walk(roots, nodes, leaves, sets, row):
    """The leaves that a row reaches, step by step."""
    compare = {
        LEQ: lambda a, b: a <= b,
        LT: lambda a, b: a < b,
        GTE: lambda a, b: a >= b,
        GT: lambda a, b: a > b,
        EQ: lambda a, b: a == b,
        NEQ: lambda a, b: a != b,
    }
    for root in roots:
        at = root
        while at >= 0:
            mode, feature, split, yes, no, missing = nodes[at]
            value = row[feature]
            taken = value in sets[at] if mode == MEMBER else compare[mode](value, split)
            at = yes if taken or (missing and math.isnan(value)) else no
        yield leaves[~at]


@st.composite
def forests(draw):
    nodes, leaves, roots, sets = [], [], [], {}
    whole = st.integers(-3, 3).map(float)

    def grow(depth):
        if depth == 0 or draw(st.integers(0, 4)) == 0:
            leaves.append((draw(st.integers(0, 2)), draw(whole)))
            return ~(len(leaves) - 1)
        at = len(nodes)
        nodes.append(())
        mode = draw(st.sampled_from(range(7)))
        if mode == MEMBER:
            sets[at] = draw(st.lists(whole, min_size=1, max_size=3, unique=True))
        split, feature, missing = draw(whole), draw(st.integers(0, 3)), draw(st.integers(0, 1))
        nodes[at] = (mode, feature, split, grow(depth - 1), grow(depth - 1), missing)
        return at

    for _ in range(draw(st.integers(1, 3))):
        at = len(nodes)
        nodes.append(())
        nodes[at] = (LEQ, 0, draw(whole), grow(2), grow(2), 0)
        roots.append(at)
    rows = st.lists(st.sampled_from([-3.0, -1.0, 0.0, 2.0, 3.0, math.nan]), min_size=4, max_size=4)
    return nodes, leaves, roots, sets, draw(st.lists(rows, min_size=1, max_size=5))


@settings(max_examples=60, deadline=None)
@given(forests())
def test_forests_answer_as_a_walk_through_each_tree(run_typed, forest):
    nodes, leaves, roots, sets, rows = forest
    members = [v for at in sorted(sets) for v in (*sets[at], math.nan)] or None
    attributes = ensemble(nodes, leaves, roots, 3, members, np.float64)
    x = np.array(rows, np.float64)
    (y,) = run_typed(OPERATION, attributes, [x], [onnx.TensorProto.DOUBLE])
    expected = np.zeros((len(rows), 3))
    for place, row in enumerate(rows):
        for target, weight in walk(roots, nodes, leaves, sets, row):
            expected[place, target] += weight
    np.testing.assert_array_equal(y, expected, strict=True)


def test_no_rows_are_no_rows(run_typed):
    (y,) = run_typed(OPERATION, ensemble(STUMP, LEAVES, [0], 1), [X[:0]], [FLOAT])
    assert y.shape == (0, 1)


def test_a_circle_is_an_error(run_typed):
    nodes = [(LEQ, 0, 1.0, 1, ~0, 0), (LEQ, 0, 1.0, 0, ~0, 0)]
    with pytest.raises(ExecutionError, match=r"its nodes lead round in a circle\."):
        run_typed(OPERATION, ensemble(nodes, LEAVES, [0], 1), [X[:1]], [FLOAT])


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        (
            ensemble([(LEQ, 0, 1.0, 7, ~0, 0)], LEAVES, [0], 1),
            "a node's child is no node and no leaf",
        ),
        (
            ensemble([(9, 0, 1.0, ~0, ~0, 0)], LEAVES, [0], 1),
            "a node has an unknown mode, or a feature below 0",
        ),
        (ensemble([(MEMBER, 0, 1.0, ~0, ~0, 0)], LEAVES, [0], 1), "0 sets of members for 1 nodes"),
        (
            ensemble(STUMP, LEAVES, [0], 1, post_transform=2),
            "aggregate_function 1 with LOGISTIC of 1 targets",
        ),
        (
            ensemble(STUMP, [(3, 1.0)] * 3, [0], 1),
            "n_targets is missing, or a leaf's target is out of range",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused(attributes, says, run_typed):
    with pytest.raises(NotImplementedError, match=rf"TreeEnsemble: {says}$"):
        run_typed(OPERATION, attributes, [X], [FLOAT])
