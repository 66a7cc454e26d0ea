"""A vocabulary with operations of other domains, and programs that use them."""

import dataclasses

import onnx.parser
import pytest

import rlx
from rlx.registries import Registry

DECLARED = """\
apiVersion: rlx/v1
kind: Operations
operations:
  - name: acme::SwiGLU
    inputs: [{name: x, type: T}, {name: w, type: T}, {name: v, type: T}]
    outputs: [{name: out, type: T}]
    types: {T: [float16, float32, float64]}
    lowering: |
      gate = MatMul (x, w)
      value = MatMul (x, v)
      active = Swish (gate)
      out = Mul (active, value)
  - name: acme::Scaled
    inputs: [{name: x, type: T}, {name: bias, type: T, option: optional}]
    outputs: [{name: out, type: T}, {name: norm, type: T, option: optional}]
    attributes: [{name: slope, type: FLOAT, default: 0.5}, {name: axes, type: INTS}]
    types: {T: [float16, float32, float64]}
    lowering: |
      # Two outputs, an optional input that Clip may lack, attributes with and without a default.
      leaky = LeakyRelu <alpha = @slope> (x)
      out = Clip (leaky, bias)
      all = Constant <value_ints = @axes> ()
      norm = ReduceL2 (x, all)
  - name: acme::Deep
    inputs: [{name: x, type: T}]
    outputs: [{name: out, type: T}]
    types: {T: [float16, float32, float64]}
    lowering: |
      inner = acme.Scaled <slope = 0.25> (x)
      zero = Constant <value_float = 0.0> ()
      like = CastLike (zero, x)
      total = ReduceSum <keepdims = 0> (x)
      some = Greater (total, like)
      out = If (some) <
        then_branch = yes () => (a) { a = Gelu (inner) },
        else_branch = no () => (b) { b = Neg (inner) }
      >
  - name: acme::Native
    inputs: [{name: x, type: T}]
    outputs: [{name: out, type: T}]
    types: {T: [float16, float32]}
"""


@pytest.fixture(scope="session")
def declared(tmp_path_factory):
    """The packaged registry, with the operations above."""
    path = tmp_path_factory.mktemp("operations") / "operations.yaml"
    path.write_text(DECLARED, encoding="utf-8")
    return Registry.load([path], only=True)


@pytest.fixture(scope="session")
def with_backends(declared):
    """The same words, and only these backends."""

    def make(*registrations, routing=None):
        content = dataclasses.replace(declared.content, registrations=registrations)
        if routing is not None:
            content = dataclasses.replace(content, routing=routing)
        return Registry(content)

    return make


@pytest.fixture(scope="session")
def load():
    """A program of these inputs, outputs and lines, in ONNX's text syntax."""

    def make(inputs, outputs, *lines, domains='"" : 28, "acme" : 1'):
        body = "\n".join(lines)
        head = f"<ir_version: 10, opset_import: [{domains}]>\n"
        model = onnx.parser.parse_model(f"{head}test ({inputs}) => ({outputs}) {{\n{body}\n}}")
        return rlx.load(model)

    return make
