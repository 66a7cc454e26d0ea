"""What was measured is read as it was kept, whatever the nodes' attributes are."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import parser

from rlx.conformance import measured
from rlx.conformance.claims import Claims
from rlx.conformance.findings import Record
from rlx.conformance.synthesis import Claim
from rlx.conformance.trial import Outcome
from rlx.program import load

HEAD = '<ir_version: 13, opset_import: ["": 21, "ai.onnx.ml": 5]> '


@pytest.mark.parametrize(
    "text",
    [
        "g (float[2] x) => (float[2] y) { y = LeakyRelu <alpha = 0.5> (x) }",
        "g (float[2] x) => (float[2] y) { y = Transpose <perm = [0]> (x) }",
        'g (float[2,2] x) => (float[2,2] y) { y = Einsum <equation = "ij->ji"> (x) }',
        "g () => (optional(float[2]) y) { y = Optional <type = float[2]> () }",
        "g (int64[1] s) => (float[n] y) { y = ConstantOfShape <value = float[1] {2.0}> (s) }",
    ],
)
def test_it_is_read_as_it_was_kept(tmp_path: Path, text: str) -> None:
    (signature,) = load(parser.parse_model(HEAD + text)).requirements.signatures
    records = (Record("a", (signature,), Outcome("wrong", "off by 1")),)
    claims = Claims({signature.operation: (Claim(attributes=signature.attributes),)}, ("a note",))
    one = measured.Measured("1.0", records, {signature: "beside"}, claims, ("a fluke",))
    measured.keep(tmp_path / "new", "it", one)
    assert measured.kept(tmp_path / "new", "it") == one
    assert one.findings.records == list(records)


def test_nothing_is_kept_of_another_backend(tmp_path: Path) -> None:
    assert measured.kept(tmp_path, "it") is None
