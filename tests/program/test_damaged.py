"""Damaged files: whatever bytes they hold, loading succeeds or raises a ProgramError."""

from contextlib import suppress

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.errors import ProgramError
from rlx.program import load

MODELS = {
    "old": """<ir_version: 3, opset_import: ["" : 9]>
    g (float[N,4] x) => (float[A,B] y) <float[4,2] w = {1,2,3,4,5,6,7,8}, int64[2] s = {0,0}>
    { h = MatMul(x, w) c = Clip<min=0.0>(h) r = Reshape(c, s) y = Softmax<axis=0>(r) }""",
    "subgraphs": """<ir_version: 8, opset_import: ["" : 11]>
    g (float[3] x, bool b, int64 n) => (float[3] y, float[k,3] z) {
    t = If (b) <then_branch = p () => (float[3] t1) { t1 = Hardmax<axis=0>(x) },
                else_branch = q () => (float[3] e1) <float[1] k1 = {2}> { e1 = Add(x, k1) }>
    y, z = Loop (n, b, t) <body = r (int64 i, bool c, float[3] a) =>
      (bool co, float[3] o, float[3] s) { co = Identity(c) o = Add(a, x) s = Identity(o) }> }""",
    "functions": """<ir_version: 10, opset_import: ["" : 17, "l" : 1]>
    g (float[3] x) => (float[3] y) { y = l.f<alpha=0.5>(x) }
    <domain: "l", opset_import: ["" : 17]> f<alpha>(a) => (b)
    { t = LeakyRelu<alpha: float = @alpha>(a) b = Relu(t) }""",
    "sequences": """<ir_version: 10, opset_import: ["" : 21]>
    g (float[1,1,4,4] x, float[2] s) => (float[A,B,C,D] y, seq(float[N]) q) {
    c = Constant<value = float[4] {1,1,2,2}>() y = Resize<mode="nearest">(x, , c)
    q = SequenceConstruct(s, s) t = Constant<value_strings=["a","b"]>() }""",
}
BYTES = {name: onnx.parser.parse_model(text).SerializeToString() for name, text in MODELS.items()}


def attempt(data: bytes) -> None:
    with suppress(ProgramError):
        load(data)


@pytest.mark.parametrize("name", MODELS)
def test_the_undamaged_model_is_read(name):
    assert load(BYTES[name]).node_count


@pytest.mark.parametrize("name", MODELS)
def test_a_file_cut_off_anywhere(name):
    for length in range(len(BYTES[name])):
        attempt(BYTES[name][:length])


@pytest.mark.parametrize("name", MODELS)
def test_a_file_with_one_bit_flipped(name):
    """Every byte, with the bit that its place in the file picks."""
    for place in range(len(BYTES[name])):
        data = bytearray(BYTES[name])
        data[place] ^= 1 << place % 8
        attempt(bytes(data))


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(sorted(MODELS)),
    st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 8), st.binary(max_size=10)),
        min_size=1,
        max_size=5,
    ),
)
def test_a_file_with_bytes_replaced(name, edits):
    data = BYTES[name]
    for place, removed, inserted in edits:
        place %= len(data)
        data = data[:place] + inserted + data[place + removed :] or b"\0"
    attempt(data)


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=200))
def test_any_bytes(data):
    attempt(data)


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=100))
def test_any_text_after_the_header(text):
    attempt(('<ir_version: 8, opset_import: ["" : 17]>\n' + text).encode("utf-8", "replace"))
