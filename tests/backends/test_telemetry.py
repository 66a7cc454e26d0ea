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
