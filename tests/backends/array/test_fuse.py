"""Fusion: fewer operations, the same results."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from rlx.backends.array.numpy import open_cpu
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.program import load

GENERATOR = np.random.default_rng(5)
HELD = {
    "w": GENERATOR.standard_normal((4, 4, 3, 3)),
    "grouped": GENERATOR.standard_normal((4, 2, 3, 3)),
    "b": GENERATOR.standard_normal(4),
    "scale": GENERATOR.uniform(0.5, 2, 4),
    "shift": GENERATOR.standard_normal(4),
    "mean": GENERATOR.standard_normal(4),
    "variance": GENERATOR.uniform(0.5, 2, 4),
    "each": GENERATOR.standard_normal((4, 1, 1)),
    "all": np.array(-3.0),
    "rows": GENERATOR.standard_normal((3, 1)),
}
NORM = "BatchNormalization <epsilon = 0.01>"
NETS = [
    ("c = Conv(x, w, b) y = {norm}(c, scale, shift, mean, variance)", ["Conv"]),
    ("c = Conv <group = 2> (x, grouped) y = {norm}(c, scale, shift, mean, variance)", ["Conv"]),
    ("c = Conv(x, w) d = Mul(each, c) y = Add(d, all)", ["Conv"]),
    (
        "n = {norm}(x, scale, shift, mean, variance) m = Mul(n, each) a = Add(m, all)"
        " y = Conv(a, w)",
        ["BatchNormalization", "Conv"],
    ),
    ("c = Conv(x, w) y = Mul(c, rows)", ["Conv", "Mul"]),
    ("c = Conv(x, w) d = Mul(c, each) y = Add(c, d)", ["Conv", "Mul", "Add"]),
    ("c = Conv(x, w) y = Mul(c, c)", ["Conv", "Mul"]),
    ("c = Conv(x, w) y = {norm}(c, scale, shift, mean, each1)", ["Conv", "BatchNormalization"]),
]


def model(body: str, extra: str = "") -> onnx.ModelProto:
    text = f"""<ir_version: 10, opset_import: ["": 22]>
      m (float[1,4,5,5] x, float[4] each1) => (float[A,B,C,D] y{extra}) {{ {body} }}"""
    made = onnx.parser.parse_model(text.replace("{norm}", NORM))
    for name, value in HELD.items():
        made.graph.initializer.append(onnx.numpy_helper.from_array(value.astype(np.float32), name))
    return made


def run(made: onnx.ModelProto) -> tuple[list[str], list[np.ndarray]]:
    executable = open_cpu(DeviceSpec("cpu"), {}).compile(load(made), CompileOptions())
    x = np.random.default_rng(1).standard_normal((1, 4, 5, 5)).astype(np.float32)
    found = executable.run([x, np.ones(4, np.float32)])
    return [label.rsplit(" ", 1)[1] for label in executable._plan.labels], found


@pytest.mark.parametrize(("body", "operations"), NETS)
def test_what_is_fused_gives_the_same_results(body, operations):
    done, (y,) = run(model(body))
    values = [part.split(" ")[-1] for part in body.replace("{norm}", NORM).split(" = ")[:-1]]
    names = [name for name in values if name not in {"y", "<group", "<epsilon"}]
    extra = "".join(f", float[E,F,G,H] {name}" for name in names)
    all_done, (plain, *_) = run(model(body, extra))  # outputs are kept, so nothing is fused
    assert done == operations
    assert len(all_done) == body.count("(")
    np.testing.assert_allclose(y, plain, rtol=1e-4, atol=1e-5)
