"""Packages as artifacts: built anywhere, run on a Mac alone, and refused with the reason."""

import sys
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

import rlx
from rlx.artifact.checking import check
from rlx.backends.coreml.boundary import into, out_of
from rlx.backends.coreml.compiler import CoremlMaterializer
from rlx.backends.coreml.live import refuse_elsewhere
from rlx.backends.coreml.package import unpack
from rlx.backends.coreml.table import EMITTERS
from rlx.device import DeviceSpec
from rlx.errors import CorruptArtifact, PrecisionError, Unavailable, UnsupportedFeature
from rlx.program.types import Value, ValueType
from rlx.session.default import default_registry

HEAD = '<ir_version: 8, opset_import: ["" : 18]>'
TEXT = f"{HEAD} small (float[2, 3] x) => (float[2, 3] y) {{ s = Add (x, x)  y = Relu (s) }}"
needs = pytest.mark.needs("coremltools")


def program(text=TEXT):
    return rlx.load(onnx.parser.parse_model(text))


def one(operation, given="float[4] x", made="float[4] y"):
    return program(f"{HEAD} one ({given}) => ({made}) {{ y = {operation} }}")


@needs
def test_an_artifact_says_what_it_holds(tmp_path):
    rlx.build(program(), "coreml-ane").write(tmp_path / "a.rlx")
    artifact = rlx.read_artifact(tmp_path / "a.rlx")
    header = artifact.header
    assert (header.device, header.payload_format) == ("ane", "mlpackage")
    assert header.operations == (("Add", 1), ("Relu", 1))
    assert header.toolchain.startswith("coremltools 9")
    assert check(header, default_registry(), program()).word == "compatible"
    package = unpack(artifact.payload.parts, tmp_path)
    held = sorted(str(path.relative_to(package)) for path in package.rglob("*") if path.is_file())
    assert held == ["Data/com.apple.CoreML/model.mlmodel", "Manifest.json"]


@needs
def test_operations_without_an_emitter_are_lowered():
    artifact = rlx.build(one("HardSwish (x)"), "coreml-ane")
    assert artifact.header.operations == (("HardSwish", 1),)
    assert "HardSwish" not in EMITTERS


@needs
@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac runs it")
def test_elsewhere_it_is_refused():
    artifact = rlx.build(program(), "coreml-ane")
    with pytest.raises(Unavailable) as caught:
        rlx.load_artifact(artifact)
    assert "coreml-ane is not available here" in caught.value.message
    with pytest.raises(Unavailable) as caught:
        CoremlMaterializer().materialize(artifact.payload, DeviceSpec("ane"))
    assert caught.value.message == f"an mlpackage runs on macOS only, this is {sys.platform}"


def test_no_program_is_routed_there():
    route = rlx.route(program(), backend="coreml-ane")
    assert "it can't run programs: it does not dispatch" in str(route.error())


@needs
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            one("Asinh (x)"),
            "the compiler of coreml-ane does not take this program: node 'Asinh_0' Asinh: "
            "the operation is not claimed",
        ),
        (
            one("Relu (x)", "float[n] x", "float[n] y"),
            "the mlpackage compiler needs every size of every input, input 'x' of one has [n]",
        ),
        (
            one("Relu (x)", "float[1, 1, 1, 1, 1, 1] x", "float[1, 1, 1, 1, 1, 1] y"),
            "Core ML has tensors of at most 5 dimensions, input 'x' of one has 6",
        ),
        (
            one("Add (x, x)", "int64[4] x", "int64[4] y"),
            "the mlpackage compiler can't emit node 'Add_0' Add: int64 is not among float16, "
            "float32, int32",
        ),
        (
            one("Reshape (x, s)", "float[4] x, int64[2] s", "float[a, b] y"),
            "the mlpackage compiler can't emit node 'Reshape_0' Reshape: its shape is no constant",
        ),
        (
            one("Shape (x)", made="int64[1] y"),
            "the mlpackage compiler can't emit output 'y': it does not depend on the inputs",
        ),
        (
            one("Range (x, x, x)", "int64 x", "int64[n] y"),
            "the mlpackage compiler can't emit node 'Range_0' Range: it depends on values that "
            "are not known yet",
        ),
    ],
    ids=lambda one: one.name if hasattr(one, "name") else "",
)
def test_what_is_refused_is_named(asked, said):
    with pytest.raises(UnsupportedFeature) as caught:
        rlx.build(asked, "coreml-ane")
    assert caught.value.message == said


@needs
@pytest.mark.parametrize(
    ("precision", "said"),
    [("bf16", "Core ML computes in float32 or float16, bf16 was asked for"), ("f32", "float16")],
)
def test_a_precision_that_it_does_not_have(precision, said):
    half = one("Relu (x)", "float16[4] x", "float16[4] y")
    with pytest.raises(PrecisionError) as caught:
        rlx.build(half, "coreml-ane", precision=precision)
    assert said in caught.value.message


@pytest.mark.parametrize("parts", [{}, {"manifest.json": b""}, {"x": b"", "model.mlmodel": b""}])
def test_parts_that_are_no_package(parts, tmp_path):
    with pytest.raises(CorruptArtifact, match=r"an mlpackage has the parts manifest\.json, "):
        unpack(parts.items(), tmp_path)


def test_values_of_every_dtype_go_in_and_come_out():
    """A package knows neither int64 nor truth values nor scalars."""
    for dtype, held in (("int64", "int32"), ("bool", "int32"), ("float16", "float16")):
        scalar, row = Value("s", ValueType(dtype, ())), Value("r", ValueType(dtype, (2,)))
        given = np.array([1, 0], dtype)
        assert (into(row, given).dtype, into(scalar, given[0]).shape) == (np.dtype(held), (1,))
        np.testing.assert_array_equal(out_of(row, into(row, given)), given)
        assert out_of(scalar, into(scalar, given[0])).shape == ()


def plan(*devices):
    """What Core ML says of operations, each on one of these devices."""

    def usage(operation):
        return operation.usage

    def operation(kind, device):
        made = type(f"ML{device}ComputeDevice", (), {})() if device else None
        used = SimpleNamespace(preferred_compute_device=made) if device else None
        outputs = [SimpleNamespace(name=f"v_{kind}")]
        return SimpleNamespace(operator_name=f"ios17.{kind}", outputs=outputs, usage=used)

    operations = [operation(*one) for one in devices]
    main = SimpleNamespace(block=SimpleNamespace(operations=operations))
    program = SimpleNamespace(functions={"main": main})
    return SimpleNamespace(
        model_structure=SimpleNamespace(program=program),
        get_compute_device_usage_for_mlprogram_operation=usage,
    )


def test_a_plan_that_leaves_the_engine_is_refused():
    engine = "NeuralEngine"
    refuse_elsewhere(plan(("const", None), ("cast", "CPU"), ("conv", engine), ("relu", engine)))
    with pytest.raises(Unavailable) as caught:
        refuse_elsewhere(plan(("conv", engine), ("relu", "CPU")))
    assert caught.value.message == (
        "Core ML would compute relu 'v_relu' on the CPU, the Neural Engine was asked for"
    )
