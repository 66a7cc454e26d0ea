"""A new array library takes one YAML entry and one short file: shown with array-api-strict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rlx

HERE = Path(__file__).parent / "strict"
LAYER = """<ir_version: 10, opset_import: ["": 28]>
m (float[N, 2] x, float[2, 2] w, float[2] b) => (float[N, 2] y) {
  p = MatMul(x, w)
  s = Add(p, b)
  y = Relu(s)
}"""
pytestmark = pytest.mark.needs("array_api_strict")


@pytest.fixture
def session(monkeypatch):
    """A session that asks for the library by its id."""
    monkeypatch.syspath_prepend(str(HERE))
    registry = rlx.Registry.load([str(HERE / "backends.yaml")])
    with rlx.Session(backend="array-api-strict", registry=registry) as opened:
        yield opened


def test_it_takes_less_than_80_lines():
    assert len((HERE / "strict_library.py").read_text().splitlines()) < 80


def test_it_is_routed_to_and_runs(session):
    model = session.compile(rlx.load(LAYER.encode()))
    assert model.backend == "array-api-strict"
    x = np.asarray([[1, -2], [3, 4]], np.float32)
    (y,) = model(x, np.eye(2, dtype=np.float32), np.asarray([1, 1], np.float32))
    np.testing.assert_array_equal(y, [[2, 0], [4, 5]])


def test_what_it_does_not_claim_is_refused(session):
    program = rlx.load(LAYER.replace("float", "double").encode())
    with pytest.raises(rlx.NoBackend, match=r"node .* MatMul: A is float64, claimed: float32"):
        session.compile(program)
