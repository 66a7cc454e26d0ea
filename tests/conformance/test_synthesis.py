"""Claims are the most that the passes support and no failure contradicts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.conformance.synthesis import Claim, Evidence, products, synthesize
from rlx.program import Signature

T = {"T": ("float32", "float64", "int64")}
TWO = {"T1": ("float32", "int64"), "T2": ("float32", "int64")}


def node(*types: str, ndim: int = 2, **attributes: Any) -> Signature:
    """A signature of `Op`; types as `T=float32`."""
    pairs = tuple(sorted((t.split("=")[0], t.split("=")[1]) for t in types))
    return Signature("Op", pairs, tuple(sorted(attributes.items())), ((0, ndim),))


def test_dtypes_that_passed_become_one_claim() -> None:
    evidence = Evidence((node("T=float32"), node("T=int64")), variables=T)
    assert synthesize(evidence) == (Claim((("T", ("float32", "int64")),)),)


def test_a_dtype_that_failed_is_left_out() -> None:
    evidence = Evidence((node("T=float32"),), (node("T=float64"),), variables=T)
    assert synthesize(evidence) == (Claim((("T", ("float32",)),)),)


def test_texts_are_claimed_only_as_tested() -> None:
    evidence = Evidence(
        (node("T=float32", mode="edge"), node("T=float32", mode="wrap")), (), ("mode",), T
    )
    (claim,) = synthesize(evidence)
    assert claim.attributes == (("mode", ("edge", "wrap")),)


def test_numbers_stay_open_where_nothing_failed() -> None:
    (claim,) = synthesize(Evidence((node("T=float32", axis=1),), variables=T))
    assert claim.covers(node("T=float32", axis=7))


def test_a_number_is_limited_where_another_value_failed() -> None:
    passed = (node("T=float32", ceil=0, pad=0), node("T=float32", ceil=0, pad=1))
    evidence = Evidence(passed, (node("T=float32", ceil=1, pad=0),), variables=T)
    assert synthesize(evidence) == (Claim((("T", ("float32",)),), (("ceil", (0,)),)),)


def test_ndim_is_bounded_where_attributes_cannot_tell() -> None:
    passed = (node("T=float32", ndim=3), node("T=float32", ndim=4))
    evidence = Evidence(passed, (node("T=float32", ndim=5),), variables=T)
    assert synthesize(evidence) == (Claim((("T", ("float32",)),), (), (0, 4)),)


def test_a_signature_that_both_passed_and_failed_is_not_claimed() -> None:
    both = node("T=float32")
    assert synthesize(Evidence((both,), (both,), variables=T)) == ()


def test_combinations_are_claimed_exactly() -> None:
    passed = (node("T1=float32", "T2=float32"), node("T1=int64", "T2=int64"))
    claims = synthesize(Evidence(passed, variables=TWO))
    assert not any(claim.covers(node("T1=float32", "T2=int64")) for claim in claims)
    assert all(any(claim.covers(one) for claim in claims) for one in passed)


def test_a_variable_that_no_operand_bound_takes_a_dtype_that_passed() -> None:
    passed = (node("T1=float32", "T2=int64"), node("T1=int64"))
    claims = synthesize(Evidence(passed, variables=TWO))
    assert claims == (Claim((("T1", ("float32", "int64")), ("T2", ("int64",)))),)


def test_one_claim_does_not_repeat_another() -> None:
    passed = tuple(node("T=float32", a=a, b=b) for a in (0, 1) for b in (0, 1))
    assert len(synthesize(Evidence(passed, variables=T))) == 1


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0, False), ("1", 1)])
def test_values_of_different_types_are_different(one: Any, other: Any) -> None:
    claim = Claim((("T", ("float32",)),), (("a", (one,)),))
    assert claim.covers(node("T=float32", a=one))
    assert not claim.covers(node("T=float32", a=other))


def test_an_unknown_signature_is_never_covered() -> None:
    unknown = Signature("Op", known=False)
    assert not Claim().covers(unknown)


DTYPES = st.sampled_from(["float32", "int64"])
SIGNATURES = st.builds(
    lambda a, b, mode, flag, ndim: node(f"T1={a}", f"T2={b}", ndim=ndim, mode=mode, flag=flag),
    DTYPES, DTYPES, st.sampled_from("xyz"), st.integers(0, 1), st.integers(0, 3),
)  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(st.lists(SIGNATURES, max_size=8), st.lists(SIGNATURES, max_size=8))
def test_no_failure_is_ever_claimed(passed: list[Signature], failed: list[Signature]) -> None:
    claims = synthesize(Evidence(tuple(passed), tuple(failed), ("mode",), TWO))
    assert not [one for one in failed if any(claim.covers(one) for claim in claims)]


@settings(deadline=None, max_examples=100)
@given(st.lists(SIGNATURES, max_size=8))
def test_without_failures_every_pass_is_claimed(passed: list[Signature]) -> None:
    claims = synthesize(Evidence(tuple(passed), (), ("mode",), TWO))
    assert all(any(claim.covers(one) for claim in claims) for one in passed)


@settings(deadline=None, max_examples=100)
@given(st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))))
def test_products_are_an_exact_cover(pairs: set[tuple[str, str]]) -> None:
    boxes = products([(("A", (a,)), ("B", (b,))) for a, b in pairs])
    assert {(a, b) for (_, many), (_, more) in boxes for a in many for b in more} == pairs


def test_a_success_of_unknown_ndim_beside_a_failure_of_known_ndim_comes_to_an_end() -> None:
    """No bound admits an unknown number of dimensions, so this pass can't be told apart."""
    types = (("T", "float32"),)
    passed = Signature("Op", types, (), ((0, None), (1, 2)))
    failed = Signature("Op", types, (), ((0, 3), (1, 3)))
    assert synthesize(Evidence((passed,), (failed,), (), {"T": ("float32", "int8")})) == ()
