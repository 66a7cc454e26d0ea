"""Artifacts are built of what is lowered, and run where and as it is asked for, or not at all."""

import numpy as np
import onnx
import pytest

from rlx.artifact.build import build
from rlx.device import DeviceSpec
from rlx.errors import NoBackend, PrecisionError, Unavailable
from rlx.origin import Origin
from rlx.program import load
from rlx.program.precisions import STATED
from rlx.session import Session
from rlx.session.artifacts import load_artifact
from rlx.session.default import default_registry, load_registry
from rlx.settings import Request


@pytest.mark.needs("onnxruntime")
def test_what_the_compiler_does_not_claim_is_lowered(tmp_path):
    (tmp_path / "operations.yaml").write_text(
        """\
apiVersion: rlx/v1
kind: Operations
operations:
  - name: acme::Twice
    inputs: [{name: x, type: T}]
    outputs: [{name: "y", type: T}]
    types: {T: [float32]}
    lowering: |
      y = Add (x, x)
""",
        encoding="utf-8",
    )
    registry = load_registry((str(tmp_path / "operations.yaml"),))
    head = '<ir_version: 8, opset_import: ["" : 18, "acme" : 1]>'
    text = f"{head} o (float[2] x) => (float[2] y) {{ y = acme.Twice (x) }}"
    made = build(load(onnx.parser.parse_model(text)), registry.get("onnxruntime-cpu"), registry)
    assert made.header.operations == (("acme::Twice", 1),)
    with load_artifact(made, registry) as model:
        np.testing.assert_array_equal(model(np.array([1, 2], np.float32))[0], [2, 4])


@pytest.mark.parametrize(
    ("request_", "error", "text"),
    [
        (
            Request(
                devices=(DeviceSpec("cuda"),), source=Origin("RLX_DEVICE", layer="environment")
            ),
            Unavailable,
            "the artifact of small is for onnxruntime-cpu on cpu, cuda was asked for by RLX_DEVICE",
        ),
        (
            Request(backend="numpy", source=Origin("RLX_BACKEND")),
            Unavailable,
            "the artifact of small is for onnxruntime-cpu on cpu, numpy was asked for by "
            "RLX_BACKEND",
        ),
        (
            Request(disabled=("cpu",)),
            Unavailable,
            "the artifact of small is for onnxruntime-cpu on cpu, which RLX_DISABLE=cpu disables",
        ),
        (
            Request(precision="f16"),
            PrecisionError,
            "the artifact of small computes in what its program states, f16 was asked for",
        ),
    ],
)
def test_a_request_is_a_promise_for_artifacts_too(artifact, request_, error, text):
    with pytest.raises(error) as caught:
        load_artifact(artifact, default_registry(), request=request_)
    assert caught.value.message == text


DTYPES = {"float": "float32", "double": "float64", "float16": "float16", "bfloat16": "bfloat16"}


@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize("asked", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_artifact_keeps_a_precision_exactly_where_a_session_does(dtype, asked):
    """One table says which dtypes keep which promise."""
    text = f'<ir_version: 8, opset_import: ["" : 18]> g ({dtype}[2] x) => ({dtype}[2] y)'
    program = load(onnx.parser.parse_model(text + " { y = Identity (x) }"))
    registry = default_registry()
    made = build(program, registry.get("onnxruntime-cpu"), registry)
    kept = []
    with Session(backend="onnxruntime-cpu", precision=asked) as session:
        for run in (
            lambda: session.compile(program),
            lambda: load_artifact(made, registry, request=Request(precision=asked)),
        ):
            try:
                run().close()
                kept.append(True)
            except (PrecisionError, NoBackend):
                kept.append(False)
    assert kept[0] == kept[1] == (DTYPES[dtype] in STATED[asked])
