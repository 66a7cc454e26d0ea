"""Counting n-grams, and cutting and joining sequences, beside plain Python on random programs."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

FLOAT = onnx.TensorProto.FLOAT
TOKENS = st.integers(-2, 3)


def count(pool, longest, shortest, skips, row):
    """The counts of the pool's n-grams in one row, by looking at every place."""
    found = [0] * len(pool)
    for place, gram in enumerate(pool):
        size = len(gram)
        if not shortest <= size <= longest:
            continue
        for step in range(1, (skips if size > 1 else 0) + 2):
            for start in range(len(row) - step * (size - 1)):
                found[place] += tuple(row[start::step][:size]) == gram
    return found


@st.composite
def vectorizers(draw):
    longest = draw(st.integers(1, 3))
    grams = [
        sorted(draw(st.sets(st.tuples(*[TOKENS] * size), max_size=4)))
        for size in range(1, longest + 1)
    ]
    if not any(grams):
        grams[0] = [(1,)]
    shortest, skips = draw(st.integers(1, longest)), draw(st.integers(0, 2))
    width = draw(st.integers(0, 7))
    rows = draw(st.lists(st.lists(TOKENS, min_size=width, max_size=width), min_size=1, max_size=3))
    return grams, longest, shortest, skips, rows


@settings(max_examples=100, deadline=None)
@given(vectorizers(), st.sampled_from(["int64", "int32", "string"]))
def test_every_place_is_counted(run_typed, made, kind):
    grams, longest, shortest, skips, rows = made
    pool = [gram for some in grams for gram in some]
    starts = [sum(len(g) * s for s, g in enumerate(grams[:n], 1)) for n in range(len(grams))]
    flat = [token for gram in pool for token in gram]
    texts = kind == "string"
    attributes = {
        **{"mode": "TF", "max_skip_count": skips, "ngram_counts": starts},
        **{"min_gram_length": shortest, "max_gram_length": longest},
        "ngram_indexes": list(range(len(pool))),
        "pool_strings" if texts else "pool_int64s": list(map(str, flat)) if texts else flat,
    }
    x = np.array(rows, np.int64).reshape(len(rows), -1)
    given = x.astype(str).astype(object) if texts else x.astype(kind)
    (found,) = run_typed("TfIdfVectorizer", attributes, [given], [FLOAT])
    expected = [count(pool, longest, shortest, skips, row) for row in rows]
    np.testing.assert_array_equal(found, np.array(expected, np.float32), strict=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=4), st.integers(0, 2), st.data())
def test_what_is_cut_and_joined_again_is_the_same(run_text, lengths, axis, data):
    shape = [2, 1, 3]
    shape[axis] = sum(lengths)
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    sizes = ", ".join("ABC")
    text = f"""m (float[{sizes}] x, int64[N] n) => (seq(float[{sizes}]) s, float[{sizes}] y) {{
      s = SplitToSequence <axis = {axis}> (x, n)
      y = ConcatFromSequence <axis = {axis - 3}> (s)
    }}"""
    if not lengths:
        return
    parts, y = run_text(text, x, np.array(lengths, np.int64))
    assert [part.shape[axis] for part in parts] == lengths
    np.testing.assert_array_equal(y, x, strict=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("a ,b", max_size=6), max_size=5), st.sampled_from([None, "", ",", "a "]))
def test_parts_joined_by_the_delimiter_are_the_text(run_typed, texts, delimiter):
    attributes = {} if delimiter is None else {"delimiter": delimiter}
    x = np.empty(len(texts), object)
    x[:] = texts
    kinds = [onnx.TensorProto.STRING, onnx.TensorProto.INT64]
    parts, counts = run_typed("StringSplit", attributes, [x], kinds)
    assert parts.shape == (len(texts), counts.max(initial=0))
    for row, size, text in zip(parts, counts, texts, strict=True):
        assert not any(row[size:])
        joined = (delimiter or " ").join(row[:size])
        assert joined == (text if delimiter else " ".join(text.split()))


@pytest.mark.parametrize("shape", [(), (0,), (1, 1, 1, 1, 1, 1), (2, 0, 3)])
def test_strings_of_any_shape(shape, run_typed):
    x = np.full(shape, "Ab", object)
    string = onnx.TensorProto.STRING
    for operation, attributes, inputs, expected in (
        ("StringConcat", {}, [x, x], "AbAb"),
        ("RegexFullMatch", {"pattern": "[Ab]+"}, [x], True),
        ("Identity", {}, [x], "Ab"),
        ("Equal", {}, [x, x], True),
        ("Where", {}, [np.ones(shape, bool), x, x], "Ab"),
        ("Reshape", {}, [x, np.array(shape, np.int64)], "Ab"),
    ):
        kind = onnx.TensorProto.BOOL if expected is True else string
        (found,) = run_typed(operation, attributes, inputs, [kind])
        want = np.full(shape, expected, bool if expected is True else object)
        np.testing.assert_array_equal(found, want, strict=True)
