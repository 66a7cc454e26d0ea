"""The grammar of `kernel_dispatch`: one reading, one form, and what is wrong said whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.operations.policies import POLICIES, BadDispatch, Dispatch, parse


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("native", "native"),
        (" Common ", "common"),
        ("Gelu=common", "prefer-native,Gelu=common"),
        ("prefer-native,Gelu=COMMON", "prefer-native,Gelu=common"),
        ("Relu = native , common, acme::Gate=prefer-native",
         "common,Relu=native,acme::Gate=prefer-native"),
        ("ai.onnx::Gelu=common", "prefer-native,Gelu=common"),
    ],
)  # fmt: skip
def test_each_text_has_one_form(text, form):
    """Whatever the order, the case of policies and the blanks."""
    assert str(parse(text)) == form


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        (
            "native,common",
            "the text 'native,common' holds two policies, native and common",
            "write one policy, then single operations, such as prefer-native,Gelu=common.",
        ),
        (
            "native,",
            "the text 'native,' holds two policies, native and nothing",
            "write one policy, then single operations, such as prefer-native,Gelu=common.",
        ),
        (
            "prefer_native",
            "unknown value 'prefer_native', allowed: native, prefer-native, common",
            "did you mean prefer-native?",
        ),
        (
            "Gelu=fast",
            "unknown value 'fast', allowed: native, prefer-native, common",
            "write one of: native, prefer-native, common.",
        ),
        (
            "Ge lu=common",
            "'Ge lu' is no operation",
            "write Name or domain::Name, such as Gelu=common.",
        ),
        (
            "Gelu=common,ai.onnx::Gelu=native",
            "the text 'Gelu=common,ai.onnx::Gelu=native' names Gelu twice",
            "name each operation once.",
        ),
    ],
)
def test_what_is_wrong_is_said(text, message, fix):
    """The whole message, and what to write."""
    with pytest.raises(BadDispatch) as caught:
        parse(text)
    assert (caught.value.message, caught.value.fix) == (message, fix)


NAMES = st.from_regex(r"(?:[a-z]{1,5}::)?[A-Z][a-zA-Z]{0,8}", fullmatch=True)


@given(st.sampled_from(POLICIES), st.dictionaries(NAMES, st.sampled_from(POLICIES)))
def test_parse_reads_what_str_writes(policy, overrides):
    """And each operation has its own policy, any other the general one."""
    made = Dispatch(policy, tuple(sorted(overrides.items())))
    assert parse(str(made)) == made
    assert all(made.of(name) == value for name, value in overrides.items())
    assert made.of("0") == policy
