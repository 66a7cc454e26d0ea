"""Lists too long to be sizes: refused where they are used as sizes, and not followed elsewhere."""

import onnx
import pytest

from rlx.errors import ProgramError
from rlx.program import load

HEAD = '<ir_version: 10, opset_import: ["": 21]> g '
LONG = 2**31
USES = {
    "Pad": "c = Reshape(z, n) d = Cast<to=7>(c) y = Pad(x, d)",
    "Reshape": "d = ConstantOfShape<value=int64[1]{1}>(n) y = Reshape(x, d)",
    "Expand": "c = ConstantOfShape<value=int64[1]{1}>(n) d = Add(c, c) y = Expand(x, d)",
    "Tile": "d = Expand(z, n) y = Tile(x, d)",
    "ConstantOfShape": "d = Tile(z, n) y = ConstantOfShape(d)",
}


@pytest.mark.parametrize("operation", USES)
def test_a_list_that_cannot_be_sizes_is_refused(operation):
    """ONNX's inference would fill the memory with as many dimensions as the list has numbers."""
    body = USES[operation]
    held = f"<int64[1] n = {{{LONG}}}, int64[1] z = {{1}}>"
    text = f"{HEAD} (float[3] x) => (float y) {held} {{ {body} }}"
    model = onnx.parser.parse_model(text)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    with pytest.raises(ProgramError) as caught:
        load(model)
    assert caught.value.message.endswith(
        f"({operation}) takes its sizes from 'd', a list of over 100000 numbers"
    )
    assert caught.value.fix == "no tensor has so many dimensions: correct the exporter."


def test_a_declared_length_counts_too():
    text = f"{HEAD} (float[3] x, int64[{LONG}] s) => (float[N] y) {{ y = Reshape(x, s) }}"
    with pytest.raises(ProgramError, match="takes its sizes from 's', a list of over 100000"):
        load(onnx.parser.parse_model(text))


def test_a_long_list_that_is_no_list_of_sizes_is_read():
    """And its length is known."""
    text = f"{HEAD} () => (float[N] y) <int64[1] n = {{{LONG}}}> {{ y = ConstantOfShape(n) }}"
    program = load(onnx.parser.parse_model(text))
    assert dict(program.body.types)["y"].shape == (LONG,)


def test_computed_sizes_are_followed_beside_long_weights():
    """A long bias does not cost the knowledge of the shapes."""
    text = f"""{HEAD} (float[2,3] x, float[200000] b) => (float[A,B] y, float[N] z)
      <int64[1] two = {{2}}, int64[1] three = {{3}}>
      {{ s = Concat<axis=0>(three, two) y = Reshape(x, s) z = Neg(b) }}"""
    assert dict(load(onnx.parser.parse_model(text)).body.types)["y"].shape == (3, 2)


def test_lists_as_long_as_a_huge_input_are_not_followed():
    text = f"""{HEAD} (float[{LONG},3] x) => (int64[N] y) <int64 z = {{0}}, int64 one = {{1}}>
      {{ s = Shape<end=1>(x) a = Squeeze(s) y = Range(z, a, one) }}"""
    assert dict(load(onnx.parser.parse_model(text)).body.types)["y"].ndim == 1


@pytest.mark.parametrize("step", [2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**31) - 1, -(2**63)])
@pytest.mark.parametrize("way", ["initializer", "Constant", "If"])
def test_a_step_beyond_32_bits_is_read(step, way):
    """Following numbers, ONNX's inference ends the process, or fills the memory."""
    held, made = f"int64[1] t = {{{step}}}", ""
    if way == "Constant":
        held, made = "", f"t = Constant<value_ints=[{step}]>()"
    body = f"{made} y = Slice(x, a, b, c, t)"
    if way == "If":
        held += ", bool yes = {1}"
        body = """y = If(yes)<then_branch = one () => (float[N] u) { u = Slice(x, a, b, c, t) },
          else_branch = other () => (float[N] v) { v = Identity(x) }>"""
    rest = "int64[1] a = {3}, int64[1] b = {0}, int64[1] c = {0}"
    constants = ", ".join(filter(None, [rest, held]))
    text = f"{HEAD} (float[4] x) => (float[N] y) <{constants}> {{ {body} }}"
    program = load(onnx.parser.parse_model(text))
    assert dict(program.body.types)["y"].ndim == 1
