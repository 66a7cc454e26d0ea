"""What a payload says of a program's inputs and outputs."""

import onnx
import pytest

import rlx
from rlx.backends.ports import Ports
from rlx.errors import CorruptArtifact

TEXT = """<ir_version: 8, opset_import: ["" : 18]>
many (float[2, n] x, int64 i, seq(float[1]) s) => (float[2, n] y, seq(float[1]) t)
{ y = Relu (x)  t = Identity (s)  j = Identity (i) }"""


def test_ports_come_back_as_they_were():
    ports = Ports.of(rlx.load(onnx.parser.parse_model(TEXT)))
    assert Ports.from_bytes(ports.to_bytes()) == ports
    assert ports.inputs[1].type.shape == ()
    assert ports.outputs[1].type.kind == "sequence"


@pytest.mark.parametrize("data", [b"", b"[", b"[1]", b'["a", [[1]], []]', b"\xff", b"[" * 10**5])
def test_what_are_no_ports(data):
    with pytest.raises(CorruptArtifact, match="the payload does not say what its values are"):
        Ports.from_bytes(data)
