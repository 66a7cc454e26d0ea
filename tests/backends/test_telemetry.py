"""No engine that rlx opens tells anybody, or leaves an identifier on the machine."""

import os
import subprocess
import sys

import pytest

CODE = """
import rlx
from onnx import parser
text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }'
model = parser.parse_model(text)
with rlx.Session(backend="onnxruntime-cpu") as session:
    session.compile(model)
"""


@pytest.mark.needs("onnxruntime")
def test_onnxruntime_keeps_no_device_id(tmp_path):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ORT_", "GITHUB_", "CI"))}
    home = {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    subprocess.run([sys.executable, "-c", CODE], check=True, env={**clean, **home})
    assert list(tmp_path.iterdir()) == []


OPENVINO = """
import socket, sys

def refuse(*_):
    raise AssertionError("the network is used")

socket.socket.connect = refuse
socket.getaddrinfo = refuse
import rlx
from onnx import parser
text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }'
from rlx.backends.openvino import import_engine, open_cpu
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
open_cpu(DeviceSpec("cpu", 0), {}).compile(rlx.load(parser.parse_model(text)), CompileOptions())
assert not [name for name in sys.modules if name.startswith("openvino_telemetry")]
assert "Telemetry" in repr(import_engine().tools.ovc.telemetry)
import openvino_telemetry  # who wants it can have it
"""


@pytest.mark.needs("openvino")
def test_openvino_tells_nothing_and_leaves_nothing(tmp_path):
    """OpenVINO tells of its import, under a client id that it keeps in the user's folder."""
    home = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), str(tmp_path))
    clean = {name: value for name, value in os.environ.items() if name != "CI"}
    subprocess.run([sys.executable, "-c", OPENVINO], check=True, env={**clean, **home})
    assert list(tmp_path.iterdir()) == []
