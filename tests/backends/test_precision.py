"""Engines that compute as the program says refuse to promise another precision."""

import logging

import pytest
from onnx import parser

import rlx

BACKENDS = [
    "numpy",
    "reference",
    pytest.param("onnxruntime-cpu", marks=pytest.mark.needs("onnxruntime")),
]


def program(dtype):
    text = f'<ir_version: 8, opset_import: ["" : 17]> g ({dtype}[2] x) => ({dtype}[2] y)'
    return rlx.load(parser.parse_model(text + " { y = Relu(x) }"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("asked", "stated"), [("f16", "float"), ("bf16", "float")])
def test_another_precision_than_the_programs_is_refused(backend, asked, stated):
    session = rlx.Session(backend=backend, precision=asked)
    with session, pytest.raises(rlx.PrecisionError) as caught:
        session.compile(program(stated))
    engine = {"reference": "the reference", "onnxruntime-cpu": "onnxruntime"}.get(backend, backend)
    name = {"float": "float32"}.get(stated, stated)
    assert str(caught.value) == (
        f"{engine} computes g as the program says, in {name}; {asked} was asked for. "
        f"Fix: export the program in {asked}, leave the precision unset, "
        "or set precision_policy to warn or allow."
    )


@pytest.mark.parametrize(
    ("asked", "stated"), [("f32", "float"), ("f32", "double"), ("f16", "float16")]
)
def test_the_programs_own_precision_may_be_asked_for(asked, stated):
    with rlx.Session(backend="numpy", precision=asked) as session:
        assert session.compile(program(stated)).options.precision == asked


@pytest.mark.parametrize(("policy", "warnings"), [("warn", 1), ("allow", 0)])
def test_a_policy_lets_it_compute_as_the_program_says(policy, warnings, caplog):
    caplog.set_level(logging.WARNING, "rlx")
    with rlx.Session(backend="numpy", precision="f16", precision_policy=policy) as session:
        assert session.compile(program("float")).options.precision is None
    assert len(caplog.records) == warnings
