"""The checks that are generated for a program agree with the general ones, on anything."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.errors import InputError
from rlx.program import Value, ValueType
from rlx.session.inputs import Door, explain

SIZES = st.one_of(st.integers(0, 3), st.sampled_from(["n", "m"]), st.none())
SHAPES = st.one_of(st.none(), st.lists(SIZES, max_size=3).map(tuple))
DTYPES = st.sampled_from(["float32", "int64", "bool"])
TYPES = st.lists(st.builds(ValueType, DTYPES, SHAPES), max_size=4)


@st.composite
def questions(draw):
    """Declared inputs, and arrays that fit them often enough."""
    kinds = draw(TYPES)
    sizes = {"n": draw(st.integers(0, 3)), "m": draw(st.integers(0, 3))}
    arrays = []
    for kind in kinds:
        shape = [
            sizes[size]
            if isinstance(size, str)
            else draw(st.integers(0, 3))
            if size is None
            else size
            for size in (draw(SHAPES) or () if kind.shape is None else kind.shape)
        ]
        if draw(st.integers(0, 9)) == 0:
            shape = draw(st.lists(st.integers(0, 3), max_size=3))
        dtype = draw(DTYPES) if draw(st.integers(0, 9)) == 0 else kind.dtype
        arrays.append(np.zeros(shape, dtype))
    return tuple(Value(f"x{i}", kind) for i, kind in enumerate(kinds)), arrays


def refusal(check, *arguments):
    """What the check says against them; None: they pass."""
    try:
        check(*arguments)
    except InputError as error:
        return str(error)
    return None


@settings(deadline=None, max_examples=150)
@given(questions())
def test_the_generated_checks_agree_with_the_general_ones(question):
    takes, arrays = question
    passed = []

    def run(inputs):
        passed.append(inputs)
        return []

    program = SimpleNamespace(name="p", inputs=takes, outputs=())
    door = Door(program, run, RuntimeError)
    expected = refusal(explain.admit, "p", takes, arrays)
    assert refusal(door.call, *arrays) == expected
    if expected is None:
        assert [id(one) for one in passed[0]] == [id(one) for one in arrays]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(max_size=8), max_size=4, unique=True), st.text(max_size=8))
def test_names_of_any_text_find_their_inputs(names, program):
    takes = tuple(Value(name, ValueType("float32", ())) for name in names)
    door = Door(SimpleNamespace(name=program, inputs=takes, outputs=()), lambda _: [], RuntimeError)
    arrays = {name: np.zeros((), np.float32) for name in names}
    ordered = door.order(dict(reversed(arrays.items())))
    assert [id(one) for one in ordered] == [id(arrays[name]) for name in names]
