"""Sequences in memory: results are the caller's own, and nothing in a sequence is written over."""

from __future__ import annotations

import numpy as np
import pytest

from tests.backends.array.sameness import same


def f(*values):
    return np.array(values, np.float32)


A, B, C = f(1, 2), f(3), f()
SEQ = "seq(float[N])"


OWN = {
    "of an input": (SEQ, "t = Identity(s)"),
    "of a part": ("float[N]", "o = Constant <value_int = 0> () t = SequenceAt(s, o)"),
    "of one value twice": (
        SEQ,
        "o = Constant <value_int = 0> () x = SequenceAt(s, o) y = Neg(x) "
        "t = SequenceConstruct(y, y)",
    ),
    "of a constant": (SEQ, "c = Constant <value_floats = [1.0]> () t = SequenceConstruct(c, c)"),
    "of a split": (SEQ, "x = ConcatFromSequence <axis = 0> (s) t = SplitToSequence(x)"),
    "of an optional": (f"optional({SEQ})", "t = Optional(s)"),
    "of a map's items": (
        SEQ,
        "t = SequenceMap(s) <body = b (float[N] a) => (float[N] z) { z = Identity(a) }>",
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_results_have_memory_of_their_own(name, run_text):
    given = [f(1, 2), f(3)]
    kind, nodes = OWN[name]
    for _ in range(2):
        (result,) = run_text(f"m ({SEQ} s) => ({kind} t) {{ {nodes} }}", given)
        parts = result if isinstance(result, list) else [result]
        for place, part in enumerate(parts):
            assert part.flags.writeable
            assert not any(np.may_share_memory(part, other) for other in (*given, *parts[:place]))
            part[...] = 9
    same(given, [f(1, 2), f(3)])


def test_a_list_that_was_handed_out_is_the_callers(run_text):
    given = [A]
    (result,) = run_text(f"m ({SEQ} s) => ({SEQ} t) {{ t = Identity(s) }}", given)
    result.append(B)
    assert len(given) == 1


def test_a_value_in_a_sequence_is_not_written_over(run_text):
    text = f"""m (float[2] x) => ({SEQ} s, float[2] z) {{
        a = Neg(x)
        s = SequenceConstruct(a)
        z = Exp(a)
    }}"""
    s, z = run_text(text, A)
    same(s, [-A])
    np.testing.assert_allclose(z, np.exp(-A))
