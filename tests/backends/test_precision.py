"""Engines that compute as the program says refuse to promise another precision."""

import logging

import pytest
from onnx import parser

import rlx
from rlx.backends.protocol import CompileOptions

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
    options = CompileOptions(asked)
    with rlx.acquire(backend) as lease, pytest.raises(rlx.PrecisionError) as caught:
        lease.backend.compile(program(stated), options)
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


@pytest.mark.parametrize(
    ("asked", "stated"), [("f16", "float"), ("bf16", "float"), ("f32", "float16")]
)
def test_the_route_says_so_before_anything_is_opened(asked, stated):
    name = {"float": "float32"}.get(stated, stated)
    found = rlx.route(program(stated), backend="numpy", precision=asked)
    (reason,) = next(one for one in found.candidates if one.backend == "numpy").reasons
    assert (found.backend, reason.code) == (None, "capability")
    assert reason.detail == (
        f"lacks computes_{asked}, which {asked} takes where the program states {name}"
    )
    assert reason.fix == (
        f"export the program in {asked}, leave the precision unset, "
        "or set precision_policy to warn or allow."
    )
    session = rlx.Session(backend="numpy", precision=asked)
    with session, pytest.raises(rlx.NoBackend, match=f"lacks computes_{asked}"):
        session.compile(program(stated))


def test_the_route_asks_no_more_where_the_policy_does_not():
    for policy in ("warn", "allow"):
        asked = {"precision": "f16", "precision_policy": policy}
        assert rlx.route(program("float"), backend="numpy", **asked).backend == "numpy"
    assert rlx.route(program("float16"), backend="numpy", precision="f16").backend == "numpy"
    assert rlx.route(program("float"), backend="numpy", precision="f32").backend == "numpy"


def test_a_route_by_precision_is_kept_apart_from_one_without():
    loaded = program("float")
    assert rlx.route(loaded, backend="numpy").backend == "numpy"
    assert rlx.route(loaded, backend="numpy", precision="f16").backend is None
    assert rlx.route(loaded, backend="numpy").backend == "numpy"
