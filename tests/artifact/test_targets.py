"""Targets that can't be built for: what is wrong, and which can."""

import pytest

import rlx
from rlx.errors import UnsupportedFeature

MLP = b"""<ir_version: 10, opset_import: ["": 21]> m (float[2] x) => (float[2] y) { y = Relu(x) }"""


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("numpy", "numpy registers no compiler"),
        ("nunpy", "no backend provides the target 'nunpy'"),
    ],
)
def test_targets_that_can_be_built_for_are_named(target, what):
    with pytest.raises(UnsupportedFeature) as caught:
        rlx.build(rlx.load(MLP), target)
    assert caught.value.message == what
    assert caught.value.fix.startswith("build for one of: ")
    assert "onnxruntime-cpu" in caught.value.fix
