"""Registries and programs to decide about."""

import onnx.parser
import pytest

import rlx
from rlx.device import Device
from rlx.freeze.content import Capability, Content, Routing
from rlx.operations import Formal, Operation, Vocabulary
from rlx.origin import Origin
from rlx.registration import Coverage, Probe, Registration, Row
from rlx.registries import Registry

MLP = """
<ir_version: 10, opset_import: ["" : 21]>
mlp (bfloat16[N, 4] x, bfloat16[4, 2] w) => (bfloat16[N, 2] y) {
  [mm] h = MatMul (x, w)
  [act] y = Relu (h)
}
"""


@pytest.fixture(scope="session")
def mlp():
    """Two nodes in bfloat16, with a symbolic size."""
    return rlx.load(onnx.parser.parse_model(MLP))


@pytest.fixture
def row():
    def make(*operations, dtypes=("float32",), line=3, **rest):
        place = Origin("configs/coverage/one.yaml", line, 5)
        return Row(operations, (("T", dtypes),), origin=place, **rest)

    return make


@pytest.fixture
def backend(row):
    """A registration that claims MatMul and Relu in bfloat16, unless told otherwise."""

    def make(name, device="cpu", rank=100, *, line=41, module=None, call=None, **rest):
        rest.setdefault(
            "coverage", Coverage((row("MatMul", "Relu", dtypes=("bfloat16",)),), "measured")
        )
        rest.setdefault("dispatches", True)
        rest.setdefault("capabilities", ("dynamic_shapes",))
        probes = [Probe("module", (module,))] if module else []
        probes += [Probe("call", (call,))] if call else []
        place = Origin("backends.yaml", line, 5)
        return Registration(name, device, name, rank, probes=tuple(probes), origin=place, **rest)

    return make


@pytest.fixture
def make_registry():
    def make(*registrations, routing=None):
        names = ("MatMul", "Relu")
        formals = (Formal("A", "T"), Formal("B", "T"))
        return Registry(
            Content(
                registrations=tuple(sorted(registrations, key=lambda one: (one.rank, one.id))),
                devices=(
                    Device("cpu", "CPU"),
                    Device("cuda", "CUDA", ("nvidia",)),
                    Device("metal", "Metal"),
                ),
                capabilities=tuple(
                    Capability(name, name) for name in ("dynamic_shapes", "deterministic")
                ),
                routing=routing or Routing(),
                vocabulary=Vocabulary(
                    tuple(
                        Operation(name, inputs=formals, outputs=(Formal("Y", "T"),))
                        for name in names
                    ),
                    28,
                ),
                digest="0" * 64,
            )
        )

    return make
