"""Literals of operations that hold programs, sequences and optionals, as ONNX's text."""

from __future__ import annotations

from typing import Any

import numpy as np

X, Y = np.array([1, 2], np.float32), np.array([3], np.float32)
S, O = "seq(float[N])", "optional(float[N])"  # noqa: E741 - as the types' first letters
TWO = "float[N] x, float[M] y"

Program = tuple[str, str, list[Any], list[Any]]
"""The operation, the graph's text, the inputs and the outputs."""

PROGRAMS: list[Program] = [
    (
        "If",
        "(bool c, float[N] x) => (float[N] z) { z = If(c) <"
        "then_branch = a () => (float[N] p) { p = Neg(x) }, "
        "else_branch = b () => (float[N] q) { q = Abs(x) }> }",
        [np.array(True), X],
        [-X],
    ),
    (
        "Loop",
        "(int64 n, float[N] x) => (float[N] z) { c = Constant <value = bool {1}> () "
        "z = Loop(n, c, x) <body = b (int64 i, bool k, float[N] v) => (bool o, float[N] w) "
        "{ o = Identity(k) w = Add(v, v) }> }",
        [np.array(3), X],
        [8 * X],
    ),
    (
        "Scan",
        "(float s, float[N] x) => (float t, float[N] z) { t, z = Scan(s, x) <num_scan_inputs = 1, "
        "body = b (float a, float e) => (float o, float p) { o = Add(a, e) p = Identity(o) }> }",
        [np.array(10, np.float32), X],
        [np.array(13, np.float32), np.array([11, 13], np.float32)],
    ),
    ("SequenceAt", f"({TWO}) => (float[K] z) {{ s = SequenceConstruct(x, y) "
     "i = Constant <value = int64 {-1}> () z = SequenceAt(s, i) }", [X, Y], [Y]),
    ("SequenceConstruct", f"({TWO}) => ({S} s) {{ s = SequenceConstruct(x, y) }}",
     [X, Y], [[X, Y]]),
    ("SequenceEmpty", "() => (int64 z) { s = SequenceEmpty () z = SequenceLength(s) }",
     [], [np.array(0)]),
    ("SequenceLength", f"({TWO}) => (int64 z) {{ s = SequenceConstruct(x, y) "
     "z = SequenceLength(s) }", [X, Y], [np.array(2)]),
    ("SequenceErase", f"({TWO}) => ({S} t) {{ s = SequenceConstruct(x, y) "
     "t = SequenceErase(s) }", [X, Y], [[X]]),
    ("SequenceInsert", f"({TWO}) => ({S} t) {{ s = SequenceConstruct(x) "
     "i = Constant <value = int64 {0}> () t = SequenceInsert(s, y, i) }", [X, Y], [[Y, X]]),
    ("SequenceMap", f"({TWO}) => ({S} t) {{ s = SequenceConstruct(x, y) t = SequenceMap(s) "
     "<body = b (float[K] e) => (float[K] m) { m = Neg(e) }> }", [X, Y], [[-X, -Y]]),
    ("ConcatFromSequence", f"({TWO}) => (float[K] z) {{ s = SequenceConstruct(x, y) "
     "z = ConcatFromSequence <axis = 0> (s) }", [X, Y], [np.array([1, 2, 3], np.float32)]),
    ("SplitToSequence", f"(float[N] x) => ({S} s) {{ s = SplitToSequence <keepdims = 1> (x) }}",
     [X], [[X[:1], X[1:]]]),
    ("Optional", "(float[N] x) => (bool z) { o = Optional(x) z = OptionalHasElement(o) }",
     [X], [np.array(True)]),
    ("OptionalGetElement", f"({O} o) => (float[N] z) {{ z = OptionalGetElement(o) }}", [X], [X]),
    ("OptionalHasElement", f"({O} o) => (bool z) {{ z = OptionalHasElement(o) }}",
     [X], [np.array(True)]),
]  # fmt: skip
