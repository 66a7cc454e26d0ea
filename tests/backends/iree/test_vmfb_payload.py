"""Modules of IREE: built here, run without its compiler or jax, or emitted and looked at."""

from hashlib import sha256

import numpy as np
import onnx
import pytest
from onnx import helper

import rlx
from rlx.backends.payload import Payload, Target
from rlx.device import DeviceSpec
from rlx.errors import CorruptArtifact, SettingError, Unavailable, UnsupportedFeature
from tests.backends.portable import (
    agree,
    directly,
    elsewhere,
    in_another_process,
    pixels,
    program,
)

pytestmark = [pytest.mark.needs(name) for name in ("iree", "jax", "flatbuffers")]
COMPILERS = ["iree.compiler", "jax", "jaxlib", "rlx.backends.stablehlo.trace"]
FIX = "Fix: choose another target: run `rlx backends`."


def compiled(made, device="cpu", precision=None, **options):
    from rlx.backends.iree.payload import VmfbCompiler

    target = Target(f"iree-{device}", device, tuple(options.items()), precision)
    return dict(VmfbCompiler().compile(made, target))


def loaded(parts, device="cpu", index=0):
    from rlx.backends.iree.payload import VmfbMaterializer

    payload = Payload("vmfb", "iree", tuple(sorted(parts.items())))
    return VmfbMaterializer().materialize(payload, DeviceSpec(device, index))


@pytest.fixture(scope="module")
def parts():
    return compiled(program())


def test_a_process_without_the_compiler_runs_it(tmp_path):
    """Neither IREE's compiler nor jax can be imported there."""
    found = elsewhere(tmp_path, rlx.build(program(), "iree-cpu"), [pixels()], COMPILERS)
    agree(found, directly(program(), pixels()))


def test_a_process_without_the_compiler_runs_it_on_vulkan(tmp_path, vulkan):
    """On lavapipe too, where results come back through a staging buffer."""
    found = elsewhere(tmp_path, rlx.build(program(), "iree-vulkan"), [pixels()], COMPILERS)
    agree(found, directly(program(), pixels()))


def test_an_emulated_device_says_so(vulkan):
    """Such a device is used only where it is asked for."""
    assert vulkan.detail
    assert vulkan.software == any(word in vulkan.detail for word in ("llvmpipe", "SwiftShader"))


EMITTED = {
    "iree-rocm-gfx942": (b"\x7fELF", b"gfx942"),
    "iree-rocm-gfx1100": (b"\x7fELF", b"gfx1100"),
    "iree-metal": (b"#include <metal_stdlib>", b"kernel void"),
    "iree-cuda": (b".target sm_80", b".visible .entry"),
}


@pytest.mark.parametrize("target", EMITTED)
def test_code_for_hardware_that_is_not_here(target):
    """A module holds what the driver there takes; for NVIDIA's GPUs, no product is TF32's."""
    artifact = rlx.build(program(), target)
    module = artifact.payload.part("module.vmfb")
    for mark in EMITTED[target]:
        assert mark in module
    assert b"tf32" not in module
    if mark.startswith(b"gfx"):
        code = module[module.index(b"\x7fELF") :]
        assert code[4] == 2  # 64 bits
        assert int.from_bytes(code[18:20], "little") == 224  # EM_AMDGPU
    with pytest.raises(Unavailable, match=f"{target} is not available here"):
        rlx.load_artifact(artifact)


CODE = """
from hashlib import sha256
from tests.backends.portable import program
from rlx.backends.payload import Target
from rlx.backends.iree.payload import VmfbCompiler
parts = VmfbCompiler().compile(program(), Target("iree-cpu", "cpu"))
print(sha256(b"".join(parts[name] for name in sorted(parts))).hexdigest())
"""


def test_the_same_bytes_in_every_process(parts):
    own = sha256(b"".join(parts[name] for name in sorted(parts))).hexdigest()
    assert in_another_process(CODE, 7) == own


DTYPES = ("float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
DTYPES += ("uint64", "float16", "bfloat16", "bool")
NAMES = {dtype: dtype.upper() for dtype in DTYPES} | {"float32": "FLOAT", "float64": "DOUBLE"}


def test_every_dtype_goes_in_and_comes_out():
    """Scalars, arrays without elements and transposed arrays as well."""
    from rlx.backends.array.dtypes import numpy_dtype

    kinds = [*((dtype, (2, 3)) for dtype in DTYPES), ("float32", ()), ("float32", (0, 3))]
    makers = {dtype: getattr(onnx.TensorProto, name) for dtype, name in NAMES.items()}
    sides = [
        [
            helper.make_tensor_value_info(f"{side}{at}", makers[dtype], shape)
            for at, (dtype, shape) in enumerate(kinds)
        ]
        for side in "xy"
    ]
    nodes = [helper.make_node("Identity", [f"x{at}"], [f"y{at}"]) for at in range(len(kinds))]
    model = helper.make_model(helper.make_graph(nodes, "types", *sides))
    values = [np.arange(6).reshape(3, 2).T.astype(numpy_dtype(dtype)) for dtype in DTYPES]
    values += [np.float32(3).reshape(()), np.zeros((0, 3), np.float32)]
    executable = loaded(compiled(rlx.load(model)))
    outputs = executable.run(values)
    for got, x in zip(outputs, values, strict=True):
        assert (got.dtype, got.shape, got.tobytes()) == (x.dtype, x.shape, x.tobytes())
        assert not np.shares_memory(got, x)
    executable.close()
    executable.close()
    with pytest.raises(rlx.errors.SessionClosed, match="the executable is closed"):
        executable.run(values)


REFUSED = {
    "a (float8e4m3fn[4] x) => (float8e4m3fn[4] y) { y = Identity(x) }": (
        f"IREE takes and gives no float8e4m3fn. {FIX}"
    ),
    "a (float[N,4] x) => (float[N,4] y) { y = Relu(x) }": (
        "a leaves sizes of its inputs open (x ['N', 4]), and can't be exported so: this target has "
        "static sizes only. Fix: give its inputs fixed sizes, such as with `rlx build --size "
        "SYMBOL=N`."
    ),
    "a (float[2,3] x) => (float[2,3] y) { r = Relu(x) y = RandomNormalLike(r) }": (
        "a can't be exported: node 'RandomNormalLike_1' RandomNormalLike: it reads the values of "
        f"'r', which the device computes. {FIX}"
    ),
}


@pytest.mark.parametrize(("source", "message"), REFUSED.items())
def test_a_refusal_names_the_input_or_the_node(source, message):
    with pytest.raises(UnsupportedFeature) as refusal:
        compiled(program(source))
    assert str(refusal.value) == message


def test_what_iree_does_not_compile_names_the_node():
    """Its own message names an operation of MLIR; where it came from is asked for."""
    source = "a (double[2,3] x) => (double[2,3] y) { s = Identity(x) n = Neg(s) y = Relu(n) }"
    with pytest.raises(UnsupportedFeature) as refusal:
        compiled(program(source), "vulkan")
    assert str(refusal.value).startswith(
        "IREE does not compile a for vulkan-spirv: node 'Relu_2' Relu: failed to legalize operation"
    )


@pytest.mark.parametrize("device", ["cpu", "opengl"])
@pytest.mark.parametrize("name", ["architecture", "triple", "speed"])
def test_options_are_checked(device, name):
    from rlx.backends.iree.targets import flags

    if device == "opengl":
        with pytest.raises(UnsupportedFeature) as refusal:
            flags(device, {})
        assert refusal.value.message == (
            "IREE compiles for cpu, vulkan, cuda, rocm, metal, not for opengl"
        )
    elif name == "speed":
        with pytest.raises(SettingError) as refusal:
            flags(device, {name: "high"})
        assert str(refusal.value) == (
            "IREE for cpu has no option speed. Fix: remove it: there is architecture and triple."
        )
    else:
        assert flags(device, {name: "x"})[1][-1].endswith("=x")
        with pytest.raises(SettingError) as refusal:
            flags(device, {name: 1})
        assert str(refusal.value) == (
            f"IREE for cpu takes no {name} 1. Fix: remove it, or write a name."
        )


def test_parts_that_do_not_fit_are_refused(parts):
    for change in (
        {"weights.bin": parts["weights.bin"][:-4]},
        {"signature.json": b"{}"},
        {"signature.json": b"[]"},
        {"signature.json": b"\xff"},
        {"module.vmfb": b"\0" * 100},
        {"module.vmfb": parts["module.vmfb"][:-300]},
    ):
        with pytest.raises(CorruptArtifact):
            loaded({**parts, **change})


def test_only_devices_that_are_there(parts):
    with pytest.raises(Unavailable) as refusal:
        loaded(parts, index=1)
    assert str(refusal.value) == (
        "IREE sees 1 cpu devices, cpu:1 was asked for. Fix: ask for cpu:0 or lower."
    )


ANSWERS = {
    "iree 3.13.0 (jax 0.10.2)": None,
    "iree 3.13.5": None,
    "iree 3.12.0": (
        "it was made by iree 3.12.0, and iree 3.13.0 is here: a runtime loads modules of its own "
        "minor version"
    ),
    "jax 0.10.2": "it was made by jax 0.10.2, an iree is needed",
}


@pytest.mark.parametrize(("toolchain", "answer"), ANSWERS.items())
def test_a_module_is_loaded_by_its_own_version(monkeypatch, toolchain, answer):
    from rlx.backends.iree import payload, versions

    monkeypatch.setattr(versions, "runtime", lambda: "3.13.0")
    assert payload.VmfbMaterializer().accepts(toolchain) == answer
