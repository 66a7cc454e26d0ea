"""Integers that float32 does not hold come out as numpy computes them, or are refused."""

import numpy as np
import pytest

import rlx
from rlx.errors import NoBackend

LARGE = 2**24
ONE = [LARGE + 1, -(LARGE + 3), 5, 0, -1, LARGE - 1, -7, 2]
OTHER = [3, 5, 7, 2, 9, 4, 6, 8]
NODES = {
    **{name: f"y = {name}(x)" for name in ("Abs", "Neg", "Sign", "Relu", "Identity")},
    **{
        f"Reduce{name}": f"y = Reduce{name}<keepdims=0>(x)"
        for name in ("Max", "Min", "Sum", "Mean", "L1")
    },
    **{
        name: f"y = {name}(x, z)"
        for name in ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "PRelu", "Equal", "Less")
    },
    "ArgMax": "y = ArgMax<keepdims=0>(x)",
    "Clip": "y = Clip(x, low, high)",
    "MatMul": "y = MatMul(x, z)",
    "Pow": "y = Pow(z, two)",
    "Where": "c = Less(x, z) y = Where(c, x, z)",
}


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("onnxruntime-cpu", marks=pytest.mark.needs("onnxruntime")),
        pytest.param("openvino-cpu", marks=pytest.mark.needs("openvino")),
        pytest.param("torch-cpu", marks=pytest.mark.needs("torch")),
    ],
)
@pytest.mark.parametrize("operation", NODES)
def test_an_integer_beyond_24_bits_stays_whole(backend, operation):
    text = f"""<ir_version: 10, opset_import: ["": 21]> m (int32[8] x, int32[8] z) => (y)
      <int32 low = {{-{LARGE + 1}}}, int32 high = {{{LARGE + 1}}}, int32 two = {{2}}>
      {{ {NODES[operation]} }}"""
    program = rlx.load(text.encode())
    given = {"x": np.array(ONE, np.int32), "z": np.array(OTHER, np.int32) * 683}
    results = []
    for one in ("numpy", backend):
        with rlx.Session(backend=one) as session:
            try:
                results.append(session.compile(program).run(given)[0])
            except NoBackend:
                assert one == backend
                return
    np.testing.assert_array_equal(results[1], results[0])
    assert results[1].dtype == results[0].dtype
