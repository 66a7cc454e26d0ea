"""Sequences, optionals and SequenceMap: results that a person can check, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.errors import ExecutionError
from tests.backends.array.sameness import same


def f(*values):
    return np.array(values, np.float32)


def i(value):
    return np.array(value, np.int64)


A, B, C = f(1, 2), f(3), f()
SEQ = "seq(float[N])"
CASES = {
    "empty": ("() => (int64 n) { s = SequenceEmpty() n = SequenceLength(s) }", [], [i(0)]),
    "construct": (
        f"(float[N] x, float[M] y) => ({SEQ} s) {{ s = SequenceConstruct(x, y) }}",
        [A, B],
        [[A, B]],
    ),
    "at": (
        f"({SEQ} s, int64 p) => (float[N] x) {{ x = SequenceAt(s, p) }}",
        [[A, B, C], i(-2)],
        [B],
    ),
    "insert": (
        f"({SEQ} s, float[N] x, int64 p) => ({SEQ} t) {{ t = SequenceInsert(s, x, p) }}",
        [[A, B], C, i(-1)],
        [[A, C, B]],
    ),
    "insert at the end": (
        f"({SEQ} s, float[N] x) => ({SEQ} t) {{ t = SequenceInsert(s, x) }}",
        [[A], B],
        [[A, B]],
    ),
    "insert past the last": (
        f"({SEQ} s, float[N] x, int64 p) => ({SEQ} t) {{ t = SequenceInsert(s, x, p) }}",
        [[A], B, i(1)],
        [[A, B]],
    ),
    "erase": (
        f"({SEQ} s, int64 p) => ({SEQ} t) {{ t = SequenceErase(s, p) }}",
        [[A, B, C], i(0)],
        [[B, C]],
    ),
    "erase the last": (f"({SEQ} s) => ({SEQ} t) {{ t = SequenceErase(s) }}", [[A, B]], [[A]]),
    "length": (f"({SEQ} s) => (int64 n) {{ n = SequenceLength(s) }}", [[A, B, C]], [i(3)]),
    "identity": (f"({SEQ} s) => ({SEQ} t) {{ t = Identity(s) }}", [[A, C]], [[A, C]]),
    "split": (
        "(float[3] x) => (seq(float[N]) s) { s = SplitToSequence(x) }",
        [f(1, 2, 3)],
        [[f(1), f(2), f(3)]],
    ),
    "split, without the axis": (
        "(float[2] x) => (seq(float) s) { s = SplitToSequence <keepdims = 0> (x) }",
        [A],
        [[np.float32(1), np.float32(2)]],
    ),
    "split, in chunks": (
        "(float[5] x, int64 n) => (seq(float[N]) s) { s = SplitToSequence(x, n) }",
        [f(1, 2, 3, 4, 5), i(2)],
        [[f(1, 2), f(3, 4), f(5)]],
    ),
    "split, in lengths": (
        "(float[3] x, int64[2] n) => (seq(float[N]) s) { s = SplitToSequence(x, n) }",
        [f(1, 2, 3), i([3, 0])],
        [[f(1, 2, 3), C]],
    ),
    "concat": (
        f"({SEQ} s) => (float[N] x) {{ x = ConcatFromSequence <axis = 0> (s) }}",
        [[A, B, C]],
        [f(1, 2, 3)],
    ),
    "stack": (
        f"({SEQ} s) => (float[M, N] x) {{ x = ConcatFromSequence <axis = -1, new_axis = 1> (s) }}",
        [[A, A]],
        [f([1, 1], [2, 2])],
    ),
    "of strings": (
        "(string[N] x) => (seq(string[N]) s) { s = SplitToSequence(x) }",
        [np.array(["a", "b"], object)],
        [[np.array(["a"], object), np.array(["b"], object)]],
    ),
    "optional": (
        "(float[N] x) => (bool h, float[N] y) "
        "{ o = Optional(x) h = OptionalHasElement(o) y = OptionalGetElement(o) }",
        [A],
        [np.array(True), A],
    ),
    "has nothing": (
        "(optional(float[N]) o) => (bool h) { h = OptionalHasElement(o) }",
        [None],
        [np.array(False)],
    ),
    "has, without a value at all": (
        "(float[N] x) => (bool h) { h = OptionalHasElement() }",
        [A],
        [np.array(False)],
    ),
    "nothing passes through": (
        "(optional(seq(float[N])) o) => (optional(seq(float[N])) p) { p = Identity(o) }",
        [None],
        [None],
    ),
    "an empty sequence is something": (
        "(optional(seq(float[N])) o) => (bool h) { h = OptionalHasElement(o) }",
        [[]],
        [np.array(True)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_sequences_and_optionals(name, run_text):
    text, inputs, expected = CASES[name]
    same(run_text(f"m {text}", *inputs), expected)


WRONG = [
    (
        "s, p",
        "x = SequenceAt(s, p)",
        "float[N] x",
        [[A, B], i(2)],
        "position 2 is not in a sequence of 2",
    ),
    (
        "s, p",
        "x = SequenceAt(s, p)",
        "float[N] x",
        [[A, B], i(-3)],
        "position -3 is not in a sequence of 2",
    ),
    (
        "s, p",
        "t = SequenceErase(s, p)",
        f"{SEQ} t",
        [[], i(0)],
        "position 0 is not in a sequence of 0",
    ),
    ("s", "t = SequenceErase(s)", f"{SEQ} t", [[]], "position -1 is not in a sequence of 0"),
    (
        "s, p",
        "t = SequenceInsert(s, e, p)",
        f"{SEQ} t",
        [[A], i(2)],
        "position 2 is not in a sequence of 1",
    ),
    (
        "s",
        "x = ConcatFromSequence <axis = 0> (s)",
        "float[N] x",
        [[]],
        "a sequence without items has nothing to concatenate",
    ),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case[1])
def test_positions_that_are_not_there_are_errors(case, run_text):
    names, node, output, inputs, says = case
    kinds = {"s": SEQ, "p": "int64"}
    formals = ", ".join(f"{kinds[name]} {name}" for name in names.split(", "))
    text = f"m ({formals}) => ({output}) {{ e = Constant <value_floats = [1.0]> () {node} }}"
    operation = node.split("= ")[1].split(" ")[0].split("(")[0]
    with pytest.raises(
        ExecutionError, match=rf"^node '{operation}_1' {operation} failed: {says}\. Fix: "
    ):
        run_text(text, *inputs)


@pytest.mark.parametrize(
    ("lengths", "says"),
    [
        (i([1, 1]), r"split \[1, 1\] does not add up to 3"),
        (i([4, -1]), r"split \[4, -1\] does not add up to 3"),
        (i(0), "split is 0, and chunks hold 1 or more"),
    ],
)
def test_lengths_must_add_up(lengths, says, run_text):
    shape = "" if lengths.ndim == 0 else "[2]"
    text = f"m (float[3] x, int64{shape} n) => (seq(float[N]) s) {{ s = SplitToSequence(x, n) }}"
    with pytest.raises(ExecutionError, match=says):
        run_text(text, f(1, 2, 3), lengths)


def test_nothing_cannot_be_unwrapped(run_text):
    text = "m (optional(float[N]) o) => (float[N] x) { x = OptionalGetElement(o) }"
    with pytest.raises(
        ExecutionError, match=r"OptionalGetElement failed: the optional holds nothing\."
    ):
        run_text(text, None)


LOOP = """m (int64 n) => (seq(float[N]) all, optional(float[1]) last) {
  empty = SequenceEmpty()
  nothing = Optional <type = float[1]> ()
  all, last = Loop(n, , empty, nothing) <body = b
      (int64 turn, bool go, seq(float[N]) s, optional(float[1]) o) =>
      (bool again, seq(float[N]) t, optional(float[1]) p) {
    again = Identity(go)
    one = Constant <value_ints = [1]> ()
    at = Reshape(turn, one)
    x = Cast <to = 1> (at)
    t = SequenceInsert(s, x)
    p = Optional(x)
  }>
}"""


@pytest.mark.parametrize(("turns", "last"), [(0, None), (1, f(0)), (3, f(2))])
def test_loops_carry_sequences_and_optionals(turns, last, run_text):
    same(run_text(LOOP, i(turns)), [[f(turn) for turn in range(turns)], last])


def test_branches_give_sequences(run_text):
    text = f"""m (bool c, {SEQ} s) => ({SEQ} t) {{
      t = If(c) <then_branch = a () => ({SEQ} u) {{ u = SequenceErase(s) }},
                 else_branch = b () => ({SEQ} v) {{ v = SequenceEmpty() }}>
    }}"""
    same(run_text(text, np.array(True), [A, B]), [[A]])
    same(run_text(text, np.array(False), [A, B]), [[]])


def test_sequence_map_takes_items_side_by_side_and_tensors_whole(run_text):
    text = f"""m ({SEQ} s, {SEQ} t, float[1] x) => ({SEQ} sums, seq(int64[1]) sizes) {{
      sums, sizes = SequenceMap(s, t, x) <body = b (float[N] a, float[N] c, float[1] k) =>
          (float[N] sum, int64[1] size) {{ p = Mul(c, k) sum = Add(a, p) size = Shape(a) }}>
    }}"""
    found = run_text(text, [A, B], [A, B], f(10))
    same(found, [[f(11, 22), f(33)], [i([2]), i([1])]])
    same(run_text(text, [], [], f(10)), [[], []])
