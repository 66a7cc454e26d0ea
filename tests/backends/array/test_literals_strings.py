"""Strings: results that a person can check, and what is refused; counting n-grams."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from rlx.errors import ExecutionError

STRING, INT64 = onnx.TensorProto.STRING, onnx.TensorProto.INT64
FLOAT, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL


def s(*values, shape=None):
    made = np.empty(len(values), object)
    made[:] = values
    return made.reshape((len(values),) if shape is None else shape)


def n(*values):
    return np.array(values, np.int64)


def f(*values):
    return np.array(values, np.float32)


def b(*values):
    return np.array(values, bool)


WORDS = s("Monday", "tuesday", "MONDAY", "é")
CASES = [
    ("StringConcat", {}, [s("a", "b"), s("x", "y")], [s("ax", "by")]),
    (
        "StringConcat",
        {},
        [s("a", "b", shape=(2, 1)), s("é", "")],
        [s("aé", "a", "bé", "b", shape=(2, 2))],
    ),
    ("StringConcat", {}, [s("a", shape=()), s("b", shape=())], [s("ab", shape=())]),
    ("StringConcat", {}, [s(), s("b")], [s()]),
    (
        "StringSplit",
        {},
        [s(" a  b ", "c", "")],
        [s("a", "b", "c", "", "", "", shape=(3, 2)), n(2, 1, 0)],
    ),
    (
        "StringSplit",
        {"delimiter": ","},
        [s("a,,b", "")],
        [s("a", "", "b", "", "", "", shape=(2, 3)), n(3, 1)],
    ),
    ("StringSplit", {"maxsplit": 1}, [s("a b c")], [s("a", "b c", shape=(1, 2)), n(2)]),
    ("StringSplit", {"delimiter": "-"}, [s("a-b", shape=())], [s("a", "b"), np.array(2)]),
    ("StringSplit", {}, [s()], [s(shape=(0, 0)), n()]),
    ("StringNormalizer", {}, [WORDS], [WORDS]),
    (
        "StringNormalizer",
        {"case_change_action": "LOWER"},
        [WORDS],
        [s("monday", "tuesday", "monday", "é")],
    ),
    ("StringNormalizer", {"stopwords": ["monday"]}, [WORDS], [s("tuesday", "é")]),
    (
        "StringNormalizer",
        {"stopwords": ["MONDAY"], "is_case_sensitive": 1},
        [WORDS],
        [s("Monday", "tuesday", "é")],
    ),
    (
        "StringNormalizer",
        {"stopwords": ["a"], "case_change_action": "UPPER"},
        [s("a", "b", shape=(1, 2))],
        [s("B", shape=(1, 1))],
    ),
    ("StringNormalizer", {"stopwords": ["a"]}, [s("a", "A", shape=(1, 2))], [s("", shape=(1, 1))]),
    ("StringNormalizer", {"stopwords": ["a"]}, [s("a")], [s("")]),
    ("RegexFullMatch", {"pattern": r"[a-z]+\d?"}, [s("ab", "ab1", "1", "")], [b(1, 1, 0, 0)]),
    ("RegexFullMatch", {"pattern": "a"}, [s("a", shape=())], [np.array(True)]),
    ("Cast", {"to": STRING}, [f(0.1, 1, 1e-5)], [s("0.1", "1.0", "1e-05")]),
    ("Cast", {"to": STRING}, [n(-5, 2**63 - 1)], [s("-5", "9223372036854775807")]),
    (
        "Cast",
        {"to": FLOAT},
        [s("1.5", "-1e2", "INF", "-inf", "NaN")],
        [f(1.5, -100, np.inf, -np.inf, np.nan)],
    ),
    ("Cast", {"to": INT64}, [s("-9223372036854775808", "+7")], [n(-(2**63), 7)]),
    ("Cast", {"to": STRING}, [s("a", shape=())], [s("a", shape=())]),
    ("Equal", {}, [s("a", "b"), s("a", shape=())], [b(1, 0)]),
    ("Where", {}, [b(1, 0), s("a"), s("b")], [s("a", "b")]),
    ("Concat", {"axis": 0}, [s("a"), s("b")], [s("a", "b")]),
    ("Gather", {}, [s("a", "b"), np.array(1)], [s("b", shape=())]),
    ("Gather", {}, [s("a", "b"), n(1, 0)], [s("b", "a")]),
    ("Reshape", {}, [s("a", "b"), n(2, 1)], [s("a", "b", shape=(2, 1))]),
    ("Transpose", {}, [s("a", "b", shape=(1, 2))], [s("a", "b", shape=(2, 1))]),
    ("Unique", {}, [s("b", "a", "b")], [s("a", "b")]),
    ("Tile", {}, [s("a"), n(2)], [s("a", "a")]),
    ("Expand", {}, [s("a", shape=(1, 1)), n(2, 1)], [s("a", "a", shape=(2, 1))]),
    ("Squeeze", {}, [s("a", shape=(1, 1))], [s("a", shape=())]),
    ("OneHot", {}, [n(1), np.array(2), s("off", "on")], [s("off", "on", shape=(1, 2))]),
]


def kinds(arrays):
    return [
        STRING if x.dtype == object else onnx.helper.np_dtype_to_tensor_dtype(x.dtype)
        for x in arrays
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_strings(case, run_typed):
    operation, attributes, inputs, expected = case
    found = run_typed(operation, attributes, inputs, kinds(expected))
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, want, strict=True)


POOL = {
    "ngram_counts": [0, 3],
    "ngram_indexes": [0, 1, 2, 3, 4],
    "pool_int64s": [1, 2, 3, 1, 2, 2, 3],
}
"""1-grams 1, 2, 3; 2-grams (1, 2) and (2, 3)."""
GRAMS = [
    ({"max_gram_length": 1}, n(1, 2, 1, 9), f(2, 1, 0, 0, 0)),
    ({"max_gram_length": 2}, n(1, 2, 3), f(1, 1, 1, 1, 1)),
    ({"min_gram_length": 2, "max_gram_length": 2}, n(1, 9, 2, 3), f(0, 0, 0, 0, 1)),
    (
        {"min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 1},
        n(1, 9, 2, 3),
        f(0, 0, 0, 1, 1),
    ),
    ({"max_gram_length": 1, "max_skip_count": 3}, n(1, 1), f(2, 0, 0, 0, 0)),
    ({"max_gram_length": 1, "mode": "IDF"}, n(1, 1), f(1, 0, 0, 0, 0)),
    (
        {"max_gram_length": 1, "mode": "IDF", "weights": [0.5, 1, 1, 1, 1]},
        n(1, 1),
        f(0.5, 0, 0, 0, 0),
    ),
    (
        {"max_gram_length": 1, "mode": "TFIDF", "weights": [0.5, 1, 1, 1, 1]},
        n(1, 1),
        f(1, 0, 0, 0, 0),
    ),
    ({"max_gram_length": 2}, n(), f(0, 0, 0, 0, 0)),
    ({"max_gram_length": 2}, np.array([[3, 3], [1, 2]]), f([0, 0, 2, 0, 0], [1, 1, 0, 1, 0])),
    ({"max_gram_length": 2}, np.zeros((2, 0), np.int64), np.zeros((2, 5), np.float32)),
    ({"max_gram_length": 2, "ngram_indexes": [4, 3, 2, 1, 0]}, n(1), f(0, 0, 0, 0, 1)),
]


@pytest.mark.parametrize(("attributes", "tokens", "expected"), GRAMS, ids=str)
def test_grams_are_counted(attributes, tokens, expected, run_typed):
    default = {"mode": "TF", "min_gram_length": 1, "max_skip_count": 0}
    texts = {"pool_strings": [f"w{token}" for token in POOL["pool_int64s"]]}
    for pool, x in (
        (POOL, tokens),
        (
            {**{k: v for k, v in POOL.items() if k != "pool_int64s"}, **texts},
            s(*(f"w{token}" for token in tokens.ravel()), shape=tokens.shape),
        ),
    ):
        (found,) = run_typed("TfIdfVectorizer", default | pool | attributes, [x], [FLOAT])
        np.testing.assert_array_equal(found, expected, strict=True)


REFUSED = [
    (
        "RegexFullMatch",
        {"pattern": r"(a)\1"},
        [s("aa")],
        BOOL,
        r"'\(a\)\\\\1' is no pattern of RE2's: invalid escape sequence: \\1",
    ),
    (
        "RegexFullMatch",
        {"pattern": "(?=a)a"},
        [s("a")],
        BOOL,
        r"'\(\?=a\)a' is no pattern of RE2's: invalid perl operator: \(\?=",
    ),
    (
        "StringNormalizer",
        {"case_change_action": "TITLE"},
        [s("a")],
        STRING,
        "case_change_action 'TITLE'",
    ),
    (
        "StringNormalizer",
        {"case_change_action": "UPPER", "locale": "tr_TR"},
        [s("i")],
        STRING,
        "locale 'tr_TR', whose letters change case by own rules",
    ),
    ("Cast", {"to": BOOL}, [s("1")], BOOL, "strings to bool: ONNX leaves their meaning open"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[0]}-{case[1]}")
def test_what_is_refused(case, run_typed):
    operation, attributes, inputs, kind, says = case
    with pytest.raises(NotImplementedError, match=rf"^node '{operation}_0' {operation}: {says}$"):
        run_typed(operation, attributes, inputs, [kind])


def test_weights_need_columns_that_count_up(run_typed):
    attributes = {"mode": "IDF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0}
    attributes |= POOL | {"ngram_indexes": [4, 3, 2, 1, 0], "weights": [1.0] * 5}
    with pytest.raises(
        NotImplementedError, match="weights beside ngram_indexes that don't count up"
    ):
        run_typed("TfIdfVectorizer", attributes, [n(1)], [FLOAT])


@pytest.mark.parametrize(
    ("text", "says"),
    [("2.718", "'2.718' is no integer"), ("1_0", "'1_0' is no integer"), ("128", "128 is no int8")],
)
def test_text_that_is_no_integer_is_an_error(text, says, run_typed):
    with pytest.raises(ExecutionError, match=says):
        run_typed("Cast", {"to": onnx.TensorProto.INT8}, [s(text)], [onnx.TensorProto.INT8])
