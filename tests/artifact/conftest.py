"""A small artifact, and the door through which damaged ones are refused."""

import io
from hashlib import sha256

import onnx
import pytest

from rlx.artifact import envelope
from rlx.artifact.artifact import Artifact
from rlx.artifact.build import build
from rlx.program import load
from rlx.session.default import default_registry

TEXT = """<ir_version: 8, opset_import: ["" : 18]>
small (float[2, n] x, float[n] b) => (float[2, n] y) { s = Add (x, b)  y = Relu (s) }"""


@pytest.fixture(scope="session")
def program():
    return load(onnx.parser.parse_model(TEXT))


@pytest.fixture(scope="session")
def artifact(program):
    registry = default_registry()
    return build(program, registry.get("onnxruntime-cpu"), registry)


def read(data):
    """What the bytes are; raises what `rlx.read_artifact` raises."""
    return Artifact(*envelope.read(io.BytesIO(data)))


def sealed(head, *parts):
    """An envelope around any header at all, its own digest right."""
    return b"".join(
        [envelope.MAGIC, len(head).to_bytes(4, "big"), sha256(head).digest(), head, *parts]
    )
