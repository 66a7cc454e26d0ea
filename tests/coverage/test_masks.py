"""Coverage masks: they say what the exact check says, for every kind of claim."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.coverage import CoverageTable
from rlx.coverage.facets import Facets, bits, mask_of
from rlx.program.types import Requirements, Signature
from rlx.registration import Coverage, Registration, Row

FLOATS = (("T", ("float16", "float32")),)


def table(*coverages):
    return CoverageTable(
        [
            Registration(f"b{i}", "cpu", f"b{i}", dispatches=True, coverage=coverage)
            for i, coverage in enumerate(coverages)
        ]
    )


def claims(row, signature):
    return table(Coverage((row,))).claims(signature) == 1


def test_an_operation_that_no_row_names_is_not_claimed():
    assert table(Coverage(), Coverage((Row(("Add",)),))).claims(Signature("Mul")) == 0


def test_a_signature_that_is_not_known_is_not_claimed():
    row = Row(("Add",), FLOATS)
    assert claims(row, Signature("Add"))
    assert not claims(row, Signature("Add", known=False))


@pytest.mark.parametrize(
    ("types", "claimed"),
    [
        ((("T", "float32"),), True),
        ((("T", "float64"),), False),
        ((("T", "float16"), ("T", "float32")), True),
        ((("T", "float32"), ("T", "float64")), False),
        ((("T", "float32"), ("U", "float32")), False),
        ((), True),
    ],
)
def test_every_dtype_of_every_type_variable_is_needed(types, claimed):
    assert claims(Row(("Add",), FLOATS), Signature("Add", types)) == claimed


@pytest.mark.parametrize(
    ("attributes", "claimed"),
    [
        ((("mode", "edge"), ("axis", 3)), True),
        ((("mode", "wrap"),), False),
        ((("mode", None),), False),
        ((("mode", "edge"), ("alpha", 0.009999999776482582)), True),
        ((("mode", "edge"), ("alpha", 0.02)), False),
        ((("mode", "edge"), ("pads", (0, 1))), True),
        ((("mode", "edge"), ("pads", (0, 2))), False),
    ],
)
def test_a_named_attribute_is_limited_and_the_others_are_free(attributes, claimed):
    limits = (("mode", ("edge", "constant")), ("alpha", (None, 0.01)), ("pads", (None, (0, 1))))
    assert claims(Row(("Pad",), attributes=limits), Signature("Pad", (), attributes)) == claimed


def test_none_among_the_values_allows_an_omitted_attribute():
    row = Row(("Pad",), attributes=(("axis", (None, 1)),))
    assert claims(row, Signature("Pad", (), (("axis", None),)))
    assert claims(row, Signature("Pad"))


@pytest.mark.parametrize(
    ("ndims", "claimed"),
    [
        (((0, 2),), True),
        (((0, 5),), False),
        (((0, 2), (1, 5)), False),
        (((0, 1),), False),
        (((0, None),), False),
        ((), True),
    ],
)
def test_ndim_bounds_every_tensor_input(ndims, claimed):
    assert claims(Row(("Add",), ndim=(2, 4)), Signature("Add", ndims=ndims)) == claimed


def test_rows_are_alternatives_that_are_not_mixed():
    rows = Coverage(
        (Row(("C",), (("T", ("a",)), ("U", ("b",)))), Row(("C",), (("T", ("c",)), ("U", ("d",)))))
    )
    both = table(rows)
    assert both.claims(Signature("C", (("T", "c"), ("U", "d"))))
    assert not both.claims(Signature("C", (("T", "a"), ("U", "d"))))


def test_a_shared_coverage_is_indexed_once():
    shared = Coverage((Row(("Add",), FLOATS),))
    many = table(*[shared] * 100, Coverage())
    assert many.claims(Signature("Add", (("T", "float32"),))) == (1 << 100) - 1
    (entry,) = many._entries.values()
    assert len(entry.rows) == 1


def test_a_program_needs_the_claims_of_every_node():
    both = Coverage((Row(("Add", "Mul")),))
    add = Coverage((Row(("Add",)),))
    program = Requirements((Signature("Add"), Signature("Mul")))
    assert table(add, both, add, both).covers(program) == 0b1010
    assert table(add, both).covers(Requirements()) == 0b11


@given(st.sets(st.integers(0, 70)))
@settings(deadline=None)
def test_a_mask_and_its_bits_are_inverses(indices):
    assert list(bits(mask_of(indices, 71))) == sorted(indices)


def test_facets_follow_the_registrations():
    facets = Facets(
        [
            Registration("a", "cpu", "a", dispatches=True, capabilities=("x",)),
            Registration("b", "cuda", "b", dispatches=True, enabled=False, software=True),
            Registration("c", "cpu", "c", dispatches=True, reference_oracle=True),
            Registration("d", "cpu", "d"),
        ]
    )
    assert (facets.everything, facets.enabled, facets.dispatching) == (0b1111, 0b1101, 0b0111)
    assert (facets.oracles, facets.software, facets.implicit) == (0b0100, 0b0010, 0b0001)
    assert facets.devices == {"cpu": 0b1101, "cuda": 0b0010}
    assert facets.capabilities == {"x": 0b0001}


# The exact check, written as DESIGN §4 words it.
names = st.sampled_from(["A", "B"])
dtypes = st.sampled_from(["f", "g", "h"])
values = st.sampled_from([None, 0, 1, "x", (1, 2)])
some = st.lists(dtypes, min_size=1, max_size=2, unique=True).map(tuple)
rows = st.builds(
    Row,
    st.lists(names, min_size=1, max_size=2, unique=True).map(tuple),
    st.fixed_dictionaries({"T": some}, optional={"U": some}).map(lambda d: tuple(d.items())),
    st.dictionaries(
        st.sampled_from(["p", "q"]), st.lists(values, min_size=1, max_size=3).map(tuple)
    ).map(lambda d: tuple(d.items())),
    st.none() | st.tuples(st.integers(0, 2), st.none() | st.integers(2, 4)),
)
coverages = st.lists(rows, max_size=4).map(lambda found: Coverage(tuple(found)))
signatures = st.builds(
    Signature,
    names,
    st.lists(st.tuples(st.sampled_from(["T", "U"]), dtypes), max_size=3, unique=True).map(
        lambda found: tuple(sorted(found))
    ),
    st.dictionaries(st.sampled_from(["p", "q", "r"]), values).map(lambda d: tuple(d.items())),
    st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 5)), max_size=2).map(tuple),
    st.booleans() | st.just(True),
)


def exactly(coverage, signature):
    def holds(row):
        types, held = dict(row.types), dict(signature.attributes)
        low, high = row.ndim or (0, None)
        return (
            signature.operation in row.operations
            and all(dtype in types.get(variable, ()) for variable, dtype in signature.types)
            and all(held.get(name) in allowed for name, allowed in row.attributes)
            and (
                row.ndim is None
                or all(
                    n is not None and low <= n and (high is None or n <= high)
                    for _, n in signature.ndims
                )
            )
        )

    return signature.known and any(map(holds, coverage.rows))


@given(st.lists(coverages, max_size=5), st.lists(signatures, max_size=5))
@settings(deadline=None, max_examples=300)
def test_masks_equal_the_exact_check(held, wanted):
    made = table(*held)
    for signature in wanted:
        mask = made.claims(signature)
        for i, coverage in enumerate(held):
            assert bool(mask >> i & 1) == exactly(coverage, signature)
            if not mask >> i & 1:
                assert made.explain(i, signature).operation == signature.operation
    whole = made.covers(Requirements(tuple(wanted)))
    assert [bool(whole >> i & 1) for i in range(len(held))] == [
        all(exactly(coverage, signature) for signature in wanted) for coverage in held
    ]
