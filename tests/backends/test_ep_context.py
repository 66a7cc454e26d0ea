"""QNN's contexts: built for any Hexagon without one, and run in emulation in another process."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest

import rlx
from rlx import testing
from rlx.artifact.checking import check
from rlx.backends.ep_context import CHIPS, CONTEXT, EmulatedMaterializer
from rlx.backends.payload import Payload
from rlx.device import DeviceSpec
from rlx.errors import (
    CorruptArtifact,
    ExecutionError,
    PrecisionError,
    SettingError,
    UnsupportedFeature,
)
from rlx.session.default import default_registry

pytestmark = [
    pytest.mark.needs("onnxruntime_qnn"),
    pytest.mark.skipif(sys.platform != "linux", reason="QNN emulates on Linux"),
]
EMULATED = "onnxruntime-qnn-emulated"
TEXT = """<ir_version: 8, opset_import: ["" : 18]>
product (float[4, 256] a, float[256, 64] b) => (float[4, 64] y)
{ p = MatMul (a, b)  y = Add (p, p) }"""
BUILD = f"import sys, rlx; rlx.build(rlx.load(sys.argv[1]), '{EMULATED}').write(sys.argv[2])"
RUN = (
    "import sys, numpy as np, rlx\n"
    "with rlx.load_artifact(sys.argv[1]) as model:\n"
    "    outputs = model.run(dict(np.load(sys.argv[2])))\n"
    "np.savez(sys.argv[3], *outputs)"
)


@pytest.fixture(scope="module")
def product():
    return rlx.load(onnx.parser.parse_model(TEXT))


@pytest.fixture
def artifact(product):
    return rlx.build(product, EMULATED)


@pytest.fixture
def feeds():
    generator = np.random.default_rng(0)
    return {
        name: generator.random(shape, dtype=np.float32) - np.float32(0.5)
        for name, shape in (("a", (4, 256)), ("b", (256, 64)))
    }


def elsewhere(code, *arguments, seed="0"):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})


def hexagon(backend=EMULATED, *, claims=None, **options):
    """The default registry, where a backend has these options, and these claims."""
    registry = default_registry()
    one = replace(registry.get(backend), options=tuple(options.items()))
    if claims is not None:
        one = replace(one, coverage=claims, compiles=claims)
    return registry.with_backend(one, replace=True)


def test_built_in_one_process_and_run_in_another(product, feeds, tmp_path):
    """As the emulation computes it directly, to the last bit; and the same bytes."""
    onnx.save(product.to_onnx(), tmp_path / "product.onnx")
    elsewhere(BUILD, tmp_path / "product.onnx", tmp_path / "a.rlx", seed="7")
    np.savez(tmp_path / "in.npz", **feeds)
    elsewhere(RUN, tmp_path / "a.rlx", tmp_path / "in.npz", tmp_path / "out.npz")
    (found,) = np.load(tmp_path / "out.npz").values()
    with rlx.Session(backend=EMULATED) as session:
        (wanted,) = session.compile(product).run(feeds)
    np.testing.assert_array_equal(found, wanted)
    again = rlx.build(rlx.load(tmp_path / "product.onnx"), EMULATED)
    assert again.parts == rlx.read_artifact(tmp_path / "a.rlx").parts


def test_what_is_in_it(artifact):
    held = onnx.ModelProto()
    held.ParseFromString(artifact.payload.part(CONTEXT))
    assert {(node.domain, node.op_type) for node in held.graph.node} == {
        ("com.microsoft", "EPContext")
    }
    assert not held.graph.initializer
    assert artifact.header.operations == (("Add", 1), ("MatMul", 1))


def test_each_hexagon_has_a_context_of_its_own(product, feeds):
    """In float16, which has to be asked for; the first lacks it, and is emulated in float32."""
    seen = set()
    exact = feeds["a"].astype(np.float64) @ feeds["b"].astype(np.float64)
    exact *= 2
    for version in CHIPS:
        registry = hexagon(htp_arch=int(version))
        precision = None if version == "68" else "f16"
        made = rlx.build(product, EMULATED, precision=precision, registry=registry)
        seen.add(made.payload.part(CONTEXT))
        if version not in ("68", "75"):
            continue
        with rlx.load_artifact(made, registry=registry) as model:
            (y,) = model.run(feeds)
        assert np.abs(y - exact).max() < np.abs(exact).max() * (1e-6 if version == "68" else 2e-3)
    assert len(seen) == len(CHIPS)


def test_float16_is_never_used_for_float32_unasked(product):
    asked = ((EMULATED, hexagon(htp_arch=75)), ("onnxruntime-qnn", default_registry()))
    for backend, registry in asked:
        with pytest.raises(PrecisionError) as caught:
            rlx.build(product, backend, registry=registry)
        assert caught.value.message == (f"{backend} computes product in float16, it states float32")


def test_for_an_npu_that_is_not_here(product):
    registry = hexagon("onnxruntime-qnn", htp_arch=79)
    made = rlx.build(product, "onnxruntime-qnn", precision="f16", registry=registry)
    assert (made.header.device, made.header.precision) == ("hexagon", "f16")
    assert check(made.header, registry).word == "compatible"
    assert check(made.header, hexagon("onnxruntime-qnn", htp_arch=75)).word == "stale"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"htp_arch": 74}, "htp_arch must be one of 68, 69, 73, 75, 79, 81, got 74"),
        (
            {"htp_arch": 68, "soc_model": 57},
            "htp_arch 68 is not that of soc_model 57, for which QNN would compile",
        ),
        ({"htp_arhc": 75}, f"{EMULATED} has no option 'htp_arhc'"),
    ],
)
def test_options_that_qnn_would_ignore(product, options, said):
    with pytest.raises(SettingError) as caught:
        rlx.build(product, EMULATED, registry=hexagon(**options))
    assert caught.value.message == said


def test_another_plugin_is_stale(artifact):
    made, _, engine = artifact.header.toolchain.partition(" with ")
    other = replace(artifact.header, toolchain=f"onnxruntime-qnn 1.0 with {engine}")
    found = check(other, default_registry())
    assert found.word == "stale"
    assert found.reasons == (f"it was made by onnxruntime-qnn 1.0, and {made} is here",)


def test_contexts_that_are_none(artifact):
    """Refused with what is wrong, by the process of the emulation; this one goes on."""
    ports = artifact.payload.part("ports.json")
    for parts in ((), ((CONTEXT, b"x"),)):
        with pytest.raises(
            CorruptArtifact, match="the payload is no ep-context: it lacks the part "
        ):
            EmulatedMaterializer().materialize(
                Payload("ep-context", "", parts), DeviceSpec("hexagon")
            )
    damaged = bytearray(artifact.payload.part(CONTEXT))
    damaged[300:900] = bytes(600)
    for data in (b"nothing", bytes(damaged)):
        payload = Payload("ep-context", "", ((CONTEXT, data), ("ports.json", ports)))
        with pytest.raises(ExecutionError):
            EmulatedMaterializer().materialize(payload, DeviceSpec("hexagon"))


def test_a_node_that_qnn_does_not_take_is_named():
    text = (
        '<ir_version: 8, opset_import: ["" : 18]> erf (double[4] x) => (double[4] y) {y = Erf(x)}'
    )
    with pytest.raises(UnsupportedFeature, match=r"does not take this program: node 'Erf_0' Erf"):
        rlx.build(rlx.load(onnx.parser.parse_model(text)), EMULATED)


@pytest.mark.needs("models")
@pytest.mark.parametrize("name", ["ocr-orientation"])
def test_a_real_model_in_float16(name):
    """As the emulation computes it directly, to the last bit, whatever is claimed of it."""
    from tests.backends.coreml.packages import fixed
    from tests.models.catalogue import MODELS

    model = MODELS[name]
    program = fixed(model.path, model.feeds())
    claims = testing.covering(program)
    registry = hexagon(htp_arch=75, claims=claims)
    artifact = rlx.build(program, EMULATED, precision="f16", registry=registry)
    with rlx.load_artifact(artifact, registry=registry) as loaded:
        found = loaded.run(model.feeds())
    chip = hexagon(soc_model=int(CHIPS["75"]), claims=claims)
    with rlx.Session(backend=EMULATED, precision="f16", registry=chip) as session:
        directly = session.compile(program).run(model.feeds())
    for mine, wanted in zip(found, directly, strict=True):
        np.testing.assert_array_equal(mine, wanted)
