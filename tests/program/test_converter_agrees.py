"""Where ONNX's own version converter keeps a meaning, the rewrites come to the same result."""

import numpy as np
import onnx
import pytest
from onnx import version_converter
from onnx.reference import ReferenceEvaluator

GRAPHS = [
    (6, "g (float[2,3] x) => (float[2,3] y) { y = Dropout<is_test=1>(x) }"),
    (6, "g (float[2,3] x) => (float[2,3] y) { y = Add<broadcast=1>(x, x) }"),
    (8, "g (float[2,3] x) => (float[2,3] y) { y = Clip<min=-1.0, max=0.5>(x) }"),
    (9, "g (float[2,3] x) => (float[2,2] y) { y = Slice<starts=[1], ends=[3], axes=[1]>(x) }"),
    (9, "g (float[2,3] x) => (float[2,2] y, int64[2,2] i) { y, i = TopK<k=2>(x) }"),
    (10, "g (float[2,3] x) => (float[3,5] y) { y = Pad<pads=[0,1,1,1], value=2.0>(x) }"),
    (11, "g (float[2,3] x) => (float[2,3] y) { y = LogSoftmax<axis=0>(x) }"),
    (11, "g (float[2,3] x) => (float[2,1] y) { y = ReduceSum<axes=[1]>(x) }"),
    (11, "g (float[2,3] x) => (float[2,1,3] y) { y = Unsqueeze<axes=[1]>(x) }"),
    (11, "g (float[1,3] x) => (float[3] y) { y = Squeeze<axes=[0]>(x) }"),
    (
        11,
        "g (float[2,3] x) => (float[2,1] y, float[2,2] z) { y, z = Split<axis=1,split=[1,2]>(x) }",
    ),
    (13, "g (float[2,3] x) => (float[1,3] y, float[1,3] z) { y, z = Split(x) }"),
    (17, "g (float[2,3] x) => (float[1,3] y) { y = ReduceMax<axes=[0]>(x) }"),
    (17, "g (float[2,3,1] x) => (float[2,3,2] y) { y = DFT<axis=1>(x) }"),
    (16, "g (float[1,1,2,3] x, float[1,2,2,2] z) => (float[1,1,2,2] y) { y = GridSample(x, z) }"),
    (4, "g (float[2,3] x) => (float[3,2] y) { y = Reshape<shape=[3,2]>(x) }"),
]


@pytest.mark.parametrize(("opset", "graph"), GRAPHS)
def test_both_ways_compute_the_same(parse, run, opset, graph):
    model = parse(graph, opset)
    rng = np.random.default_rng(0)
    inputs = {
        value.name: rng.standard_normal(
            [size.dim_value for size in value.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for value in model.graph.input
    }
    converted = version_converter.convert_version(model, 28)
    expected = ReferenceEvaluator(converted).run(None, inputs)
    for output, value in zip(run(model, **inputs), expected, strict=True):
        np.testing.assert_allclose(output, value, rtol=1e-6)


def test_the_rewrites_serve_models_that_the_converter_cannot(parse):
    """An Add of opset 6 with a symbolic batch; the converter asks for static shapes."""
    from rlx.program import load

    model = parse("g (float[N,3] x) => (float[N,3] y) { y = Add(x, x) }", 6)
    with pytest.raises(RuntimeError, match="param instead of an int"):
        version_converter.convert_version(model, 28)
    assert isinstance(load(model).to_onnx(28), onnx.ModelProto)
