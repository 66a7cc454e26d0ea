"""A small program, a registry of null backends, and a check that nothing stays open."""

import gc

import pytest
from onnx import parser

from rlx import testing
from rlx.program import load
from rlx.session import leases

HELLO = """<ir_version: 9, opset_import: ["" : 20]>
hello (float[1,4] x, float[1,4] w) => (float[1,4] y) { t = Add(x, w)  y = Relu(t) }"""


@pytest.fixture(scope="session")
def hello():
    """Two inputs and one output, float32[1,4]."""
    return load(parser.parse_model(HELLO))


@pytest.fixture
def make(hello):
    """Make a registry of null backends that cover `hello`: id, or (id, device), by rank."""

    def registry(*backends, **fields):
        made = []
        for rank, one in enumerate(backends):
            name, device = (one, "cpu") if isinstance(one, str) else one
            given = {"rank": rank, "coverage": testing.covering(hello), **fields}
            made.append(testing.registration(name, device, **given))
        return testing.registry(*made)

    return registry


@pytest.fixture(autouse=True)
def balanced():
    """Whatever a test opens, it closes; no earlier failure is remembered."""
    leases.slots.current().first_causes.clear()
    yield
    if leases.opened():
        gc.collect()
    assert leases.opened() == {}


BARRED = """<ir_version: 10, opset_import: ["" : 21, "rlx" : 1]>
barred (float[2] x) => (float[2] y) { [neg] a = Neg(x)  [fence] b = rlx.Barrier(a)
  [relu] y = Relu(b) }"""


@pytest.fixture(scope="session")
def barred():
    """Two nodes with a barrier between them."""
    return load(parser.parse_model(BARRED))
