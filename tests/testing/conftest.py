"""A small backend to break, and the conformance kit held against it."""

import sys
import types

import numpy as np
import pytest

import rlx
from rlx import testing
from rlx.registries import Registry
from rlx.testing import check_backend

ALL = ("float32", "float64")
MODULE = "kit_backends"


class Fake:
    """NumPy's Relu and Add; each subclass breaks one promise."""

    device = "cpu"
    version = "fake 1"

    def __init__(self, spec, options):
        self.closed = 0

    def compile(self, program, options):
        if options.precision not in (None, "f32"):
            raise rlx.PrecisionError("only f32")
        self.program = program
        return FakeExecutable(self)

    def compute(self, operation, inputs):
        if operation == "Relu":
            return np.maximum(inputs[0], 0)
        return np.add(*inputs)

    def finish(self, outputs, inputs):
        return outputs

    def close(self):
        self.closed += 1


class FakeExecutable:
    device = "cpu"

    def __init__(self, backend):
        self.backend, self.program = backend, backend.program

    def run(self, inputs):
        body = self.program.body
        values = dict(zip((v.name for v in body.inputs), inputs, strict=True))
        for node in body.nodes:
            arguments = [values[name] for name in node.inputs]
            values[node.outputs[0]] = np.asarray(self.backend.compute(node.operation, arguments))
        return self.backend.finish([values[v.name] for v in body.outputs], inputs)

    def close(self):
        pass


@pytest.fixture
def check(monkeypatch):
    """Checks a backend of this class on Relu and Add, as few or as many dtypes as it claims."""

    def run(kind, types_=ALL, **asked):
        module = types.ModuleType(MODULE)
        module.open = kind
        monkeypatch.setitem(sys.modules, MODULE, module)
        rows = (rlx.Row(("Add", "Relu"), (("T", types_),)),)
        one = testing.registration(
            "fake",
            factory=f"{MODULE}:open",
            options=(),
            capabilities=("dynamic_shapes",),
            coverage=rlx.Coverage(rows),
        )
        return check_backend(one, registry=Registry.load(only=True), **{"vary": False, **asked})

    return run
