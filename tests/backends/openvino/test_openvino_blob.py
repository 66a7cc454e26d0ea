"""OpenVINO's blobs: built in one process, run in another, and bound to version and processor."""

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
from rlx.backends.openvino.blob import BLOB, OpenvinoMaterializer
from rlx.backends.payload import Payload
from rlx.device import DeviceSpec
from rlx.errors import (
    CorruptArtifact,
    StaleArtifact,
    Unavailable,
    UnsupportedFeature,
)
from rlx.session.default import default_registry
from tests.models.catalogue import MODELS

pytestmark = pytest.mark.needs("openvino")
BUILD = "import sys, rlx; rlx.build(rlx.load(sys.argv[1]), 'openvino-cpu').write(sys.argv[2])"
RUN = (
    "import sys, numpy as np, rlx\n"
    "with rlx.load_artifact(sys.argv[1]) as model:\n"
    "    outputs = model.run(dict(np.load(sys.argv[2])))\n"
    "np.savez(sys.argv[3], *outputs)"
)


def elsewhere(code, *arguments, seed="0"):
    """Run this in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})


def directly(program, feeds):
    with rlx.Session(backend="openvino-cpu") as session:
        return session.compile(program).run(feeds)


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    """Functions of a product of large matrices, one of them symbolic, as a file."""
    text = """<ir_version: 8, opset_import: ["" : 18]>
    product (float[n, 256] a, float[256, 256] b) => (float[n, 256] y, float[n, 256] k)
    { p = MatMul (a, b)  y = Sigmoid (p)  k = Tanh (p) }"""
    path = tmp_path_factory.mktemp("product") / "product.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return path


@pytest.fixture
def artifact(product):
    return rlx.build(rlx.load(product), "openvino-cpu")


@pytest.fixture
def feeds():
    generator = np.random.default_rng(0)
    shapes = {"a": (5, 256), "b": (256, 256)}
    return {name: generator.random(shape, dtype=np.float32) for name, shape in shapes.items()}


def test_built_in_one_process_and_run_in_another(product, feeds, tmp_path):
    """As OpenVINO computes it directly, to the last bit."""
    elsewhere(BUILD, product, tmp_path / "a.rlx")
    np.savez(tmp_path / "in.npz", **feeds)
    elsewhere(RUN, tmp_path / "a.rlx", tmp_path / "in.npz", tmp_path / "out.npz")
    found = np.load(tmp_path / "out.npz")
    wanted = directly(rlx.load(product), feeds)
    assert len(found.files) == len(wanted) == 2
    for name, value in zip(found.files, wanted, strict=True):
        assert found[name].dtype == value.dtype
        np.testing.assert_array_equal(found[name], value)


def test_the_same_program_gives_the_same_bytes(product, artifact, tmp_path):
    elsewhere(BUILD, product, tmp_path / "b.rlx", seed="7")
    other = rlx.read_artifact(tmp_path / "b.rlx")
    assert other.header == artifact.header
    assert other.to_bytes() == artifact.to_bytes()


def test_an_imported_blob_computes_in_float32(artifact, feeds):
    """By itself OpenVINO imports it in bfloat16 on some processors, whatever it was made in."""
    with rlx.load_artifact(artifact) as model:
        y, _ = model.run(feeds)
    exact = feeds["a"].astype(np.float64) @ feeds["b"].astype(np.float64)
    assert np.abs(y - 1 / (1 + np.exp(-exact))).max() < 2e-5


def test_another_version_or_processor_is_stale(artifact):
    header = artifact.header
    assert header.toolchain.startswith("openvino 20")
    assert check(header, default_registry()).word == "compatible"
    version, _, kind = header.toolchain.partition(" on ")
    for other in (f"{version} on Apple Silicon", f"openvino 1.0.0 on {kind}"):
        found = check(replace(header, toolchain=other), default_registry())
        assert found.word == "stale"
        assert found.reasons == (f"it was made by {other}, and here is {header.toolchain}",)


def altered(artifact, **parts):
    held = {**dict(artifact.payload.parts), **parts}
    kept = tuple((name, data) for name, data in sorted(held.items()) if data is not None)
    return Payload(artifact.payload.format, artifact.payload.toolchain, kept)


def test_openvino_itself_compares_version_and_instruction_set(artifact):
    """Even a payload whose header agrees is refused, with what it needs and what is here."""
    blob = artifact.payload.part(BLOB)
    for needs in (b"isa=", b"ov=20"):
        assert needs in blob
        other = altered(artifact, **{BLOB: blob.replace(needs, needs[:-2] + b"zz", 1)})
        with pytest.raises(StaleArtifact, match=r"can't import product: "):
            OpenvinoMaterializer().materialize(other, DeviceSpec("cpu"))


@pytest.mark.parametrize(
    "parts", [{"precision": b"bf16"}, {"precision": None}, {"more": b""}, {"ports.json": b"[]"}]
)
def test_other_parts_are_corrupt(artifact, parts):
    with pytest.raises(CorruptArtifact):
        OpenvinoMaterializer().materialize(altered(artifact, **parts), DeviceSpec("cpu"))


def test_an_npu_needs_its_compiler(product):
    """It comes with Intel's driver; without it nothing is built, and the error says what to do."""
    from rlx.backends.openvino import import_engine

    if "NPU" in import_engine().Core().available_devices:
        pytest.skip("there is an NPU here")
    with pytest.raises(Unavailable) as caught:
        rlx.build(rlx.load(product), "openvino-npu")
    assert str(caught.value) == (
        "openvino-npu cannot use npu:0: openvino lists CPU and no NPU: its driver is missing, or "
        "there is no such device. Fix: install Intel's NPU driver (linux-npu-driver), which holds "
        "the compiler for NPUs as well, or ask for another device."
    )


def taking(program):
    """The default registry, where openvino-cpu claims what the program needs."""
    registry, claims = default_registry(), testing.covering(program)
    one = replace(registry.get("openvino-cpu"), coverage=claims, compiles=claims)
    return registry.with_backend(one, replace=True)


@pytest.mark.needs("models")
@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize("name", ["magika", "ocr-orientation"])
def test_a_real_model(name):
    """As onnxruntime has it, and as OpenVINO has it directly, to the last bit."""
    from tests.models.agreement import errors

    model = MODELS[name]
    program = rlx.load(model.path)
    registry = taking(program)
    with rlx.load_artifact(
        rlx.build(program, "openvino-cpu", registry=registry), registry=registry
    ) as loaded:
        assert max(errors(loaded.run, model)) < 1e-4
        found = loaded.run(model.feeds())
    with rlx.Session(backend="openvino-cpu", registry=registry) as session:
        wanted = session.compile(program).run(model.feeds())
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.needs("models")
@pytest.mark.parametrize("name", ["silero-vad", "swift-f0"])
def test_a_real_model_that_is_refused_has_its_node_named(name):
    with pytest.raises(UnsupportedFeature, match=r"does not take this program: node '.+' \w+: "):
        rlx.build(rlx.load(MODELS[name].path), "openvino-cpu")
