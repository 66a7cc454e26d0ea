"""Programs that are exported and run elsewhere, and a process that runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx

import rlx

PROJECT = Path(rlx.__file__).parents[1]
HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
NETWORK = """network (float[1,2,6,6] x) => (float[1,5] y, int64[1] k)
<float[3,2,3,3] c = {KERNEL}, float[48,5] w = {WEIGHTS}, int64[2] s = {1,48}> {
  a = Conv<auto_pad="VALID">(x, c) r = Relu(a) f = Reshape(r, s)
  m = MatMul(f, w) e = Erf(m) y = Softmax(e) k = ArgMax<axis=1, keepdims=0>(m) }"""
NETWORK = NETWORK.replace("KERNEL", ",".join(f"{(i * 7 % 11 - 5) / 9:.4f}" for i in range(54)))
NETWORK = NETWORK.replace("WEIGHTS", ",".join(f"{(i * 5 % 13 - 6) / 9:.4f}" for i in range(240)))
"""A convolution, a product and small arithmetic, with weights."""


def program(text=NETWORK):
    """A program from ONNX's text."""
    return rlx.load(onnx.parser.parse_model(HEAD + text))


def pixels(seed=0):
    """An input of `NETWORK`."""
    return np.random.default_rng(seed).standard_normal((1, 2, 6, 6)).astype(np.float32)


def directly(made, *inputs):
    """The outputs on the numpy backend."""
    with rlx.Session(backend="numpy") as session:
        return session.compile(made)(*inputs)


def agree(found, wanted):
    """Whether floats are within rounding, and all else is equal."""
    assert len(found) == len(wanted)
    for got, right in zip(map(np.asarray, found), wanted, strict=True):
        assert got.dtype == right.dtype
        assert got.shape == right.shape
        if right.dtype.kind == "f":
            np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(got, right)


RUN = """
import json, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if any(name == one or name.startswith(one + ".") for one in BLOCKED):
            raise ModuleNotFoundError(f"{name} is blocked", name=name)
BLOCKED = json.loads(sys.argv[3])
sys.meta_path.insert(0, Blocked())
import numpy as np
import rlx
inputs = np.load(sys.argv[2])
with rlx.load_artifact(sys.argv[1]) as model:
    outputs = model(*(inputs[name] for name in inputs.files))
np.savez(sys.argv[4], *outputs)
assert not set(BLOCKED) & set(sys.modules)
"""


def elsewhere(folder, artifact, inputs, blocked):
    """The outputs of an artifact in a process of its own, where some modules can't be imported."""
    file, feed, out = folder / "model.rlx", folder / "inputs.npz", folder / "outputs.npz"
    artifact.write(file)
    np.savez(feed, *inputs)
    command = [sys.executable, "-c", RUN, file, feed, json.dumps(blocked), out]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with np.load(out) as found:
        return [found[name] for name in found.files]


def in_another_process(code, seed):
    """What the code prints, under another hash seed and in another folder."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd="/", env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
