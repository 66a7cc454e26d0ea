"""A small program, and registries of null backends that cover it."""

import pytest
from onnx import parser

from rlx import testing
from rlx.program import load

HELLO = """<ir_version: 9, opset_import: ["" : 20]>
hello (float[1,4] x, float[1,4] w) => (float[1,4] y) { t = Add(x, w)  y = Relu(t) }"""


@pytest.fixture(scope="session")
def hello():
    return load(parser.parse_model(HELLO))


@pytest.fixture
def make(hello):
    """Makes a registry of null backends: each an id, or (id, device); by rank, in this order."""

    def registry(*backends):
        made = []
        for rank, one in enumerate(backends):
            name, device = (one, "cpu") if isinstance(one, str) else one
            coverage = testing.covering(hello)
            made.append(testing.registration(name, device, rank=rank, coverage=coverage))
        return testing.registry(*made)

    return registry
