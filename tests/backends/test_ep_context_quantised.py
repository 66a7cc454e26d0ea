"""A quantised network as a context: built in one process, run in another, as QNN runs it directly.

QNN takes QuantizeLinear and DequantizeLinear together with the nodes between them, and none of them
alone: so no session claims them, but the compiler does.
"""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import rlx
from rlx.registration import Coverage
from rlx.session.default import default_registry

pytestmark = [
    pytest.mark.needs("onnxruntime_qnn"),
    pytest.mark.skipif(sys.platform != "linux", reason="QNN emulates on Linux"),
]
EMULATED = "onnxruntime-qnn-emulated"
BUILD = f"import sys, rlx; rlx.build(rlx.load(sys.argv[1]), '{EMULATED}').write(sys.argv[2])"
RUN = (
    "import sys, numpy as np, rlx\n"
    "with rlx.load_artifact(sys.argv[1]) as model:\n"
    "    outputs = model.run(dict(np.load(sys.argv[2])))\n"
    "np.savez(sys.argv[3], *outputs)"
)


class Network:
    """A network in the form that quantisers write: a pair of nodes behind each of its own."""

    def __init__(self):
        self.nodes, self.constants = [], []
        self.draw = np.random.default_rng(0)

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, operation, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operation, inputs, [output], output, **attributes))
        return output

    def quantised(self, x, step, zero=0):
        by = [self.constant(f"{x}_step", np.float32(step)), self.constant(f"{x}_zero", zero)]
        small = self.node("QuantizeLinear", [x, *by], f"{x}_quantised")
        return self.node("DequantizeLinear", [small, *by], f"{x}_rounded")

    def weights(self, name, shape, step, dtype=np.int8):
        limits = np.iinfo(np.int8 if dtype == np.int8 else np.int16)
        values = self.draw.integers(-limits.max // 4, limits.max // 4, shape).astype(dtype)
        parts = {"values": values, "step": np.float32(step), "zero": np.zeros((), dtype)}
        names = [self.constant(f"{name}_{key}", value) for key, value in parts.items()]
        return self.node("DequantizeLinear", names, name)

    def convolved(self, name, x, step, channels, to, **attributes):
        w = self.weights(f"{name}_w", (to, channels, 3, 3), 0.01)
        b = self.weights(f"{name}_b", (to,), step * 0.01, np.int32)
        y = self.node("Conv", [x, w, b], name, pads=[1] * 4, **attributes)
        return self.quantised(y, 0.03, np.uint8(128))

    def model(self, shape, output):
        kinds = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
            for name, sizes in (("x", shape), output)
        ]
        graph = helper.make_graph(self.nodes, "network", kinds[:1], kinds[1:], self.constants)
        opset = [helper.make_opsetid("", 18)]
        return helper.make_model(graph, opset_imports=opset, ir_version=8)


@pytest.fixture(scope="module")
def network():
    """Three convolutions, one beside a shortcut, a mean over the image, and a layer of scores."""
    made = Network()
    x = made.quantised("x", 1 / 127, np.uint8(128))
    first = made.convolved("first", x, 1 / 127, 3, 16)
    second = made.convolved("second", first, 0.03, 16, 16)
    both = made.quantised(made.node("Add", [first, second], "both"), 0.05, np.uint8(128))
    third = made.convolved("third", both, 0.05, 16, 32, strides=[2, 2])
    mean = made.quantised(made.node("GlobalAveragePool", [third], "mean"), 0.02, np.uint8(128))
    flat = made.node("Flatten", [mean], "flat")
    flat = made.quantised(flat, 0.02, np.uint8(128))
    w, b = made.weights("w", (32, 10), 0.01), made.weights("b", (10,), 0.0002, np.int32)
    made.quantised(made.node("Gemm", [flat, w, b], "scores"), 0.03, np.uint8(128))
    return made.model((1, 3, 16, 16), ("scores_rounded", (1, 10)))


@pytest.fixture
def image():
    return {"x": np.random.default_rng(1).random((1, 3, 16, 16), np.float32) * 2 - 1}


def directly(model, feeds):
    """By a session that is told that what can be compiled can be run."""
    registry = default_registry()
    one = registry.get(EMULATED)
    claims = Coverage(one.compiles.rows)
    told = registry.with_backend(replace(one, coverage=claims, compiles=claims), replace=True)
    with rlx.Session(backend=EMULATED, registry=told) as session:
        (y,) = session.compile(rlx.load(model)).run(feeds)
    return y


def test_built_in_one_process_and_run_in_another(network, image, tmp_path):
    onnx.save(network, tmp_path / "network.onnx")
    np.savez(tmp_path / "in.npz", **image)
    for code, *names in ((BUILD, "network.onnx", "a.rlx"), (RUN, "a.rlx", "in.npz", "out.npz")):
        command = [sys.executable, "-c", code, *(str(tmp_path / name) for name in names)]
        subprocess.run(command, check=True, env=dict(os.environ))
    (found,) = np.load(tmp_path / "out.npz").values()
    np.testing.assert_array_equal(found, directly(network, image))
    assert len(np.unique(found)) > 5


@pytest.mark.needs("onnxruntime")
def test_its_outputs_are_those_of_the_cpu_within_steps(network, image):
    with rlx.Session(backend="onnxruntime-cpu") as session:
        (wanted,) = session.compile(rlx.load(network)).run(image)
    assert np.abs(directly(network, image) - wanted).max() <= 2.01 * 0.03


def test_no_session_claims_it(network):
    with pytest.raises(rlx.NoBackend, match="node 'x_quantised' QuantizeLinear"):
        rlx.Session(backend=EMULATED).compile(rlx.load(network))
