"""Exporting: any of jax's platforms from here, full precision, the same bytes, clear refusals."""

import re
from hashlib import sha256

import onnx
import pytest

import rlx
from rlx.backends.payload import Target
from rlx.errors import PrecisionError, UnsupportedFeature
from tests.backends.portable import in_another_process, program

pytestmark = [pytest.mark.needs("jax"), pytest.mark.needs("flatbuffers")]
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def compiled(made, device="cpu", precision=None):
    from rlx.backends.stablehlo.payload import StablehloCompiler

    return StablehloCompiler().compile(made, Target(f"jax-{device}", device, (), precision))


@pytest.mark.parametrize("device", PLATFORMS)
def test_a_module_is_for_the_platform_that_was_named(device):
    """No such device is here, and none is needed."""
    from jax import export

    artifact = rlx.build(program(), f"jax-{device}")
    assert artifact.header.payload_format == "stablehlo"
    parts = dict(artifact.payload.parts)
    assert sorted(parts) == ["module.stablehlo", "weights.bin"]
    exported = export.deserialize(bytearray(parts["module.stablehlo"]))
    assert exported.platforms == (device,)
    assert exported.fun_name == "program"


PRODUCTS = """products (float[2,3,8] x, float[2,8,8] z, float[1,2,6,6] i) =>
(float[2,3,8] a, float[2,3,8] b, float[2,8] c, float[1,3,4,4] d, float[1,3,8,8] e, float[2,1,3,5] h)
<float[8,8] w = {64}, float[3,2,3,3] k = {54}, float[2,3,3,3] t = {54}, float[1,20,8] lw = {160},
 float[1,20,5] lr = {100}, int64[1] axis = {1=}> {
  a = MatMul(x, w) b = Einsum<equation="bij,bjk->bik">(x, z) g = ReduceSum<keepdims=0>(x, axis)
  c = Gemm(g, w) d = Conv(i, k) e = ConvTranspose(i, t) h, hn, hc = LSTM<hidden_size=5>(x, lw, lr)
  }"""


def test_every_product_is_in_full_precision():
    """Else XLA takes TF32 on NVIDIA's GPUs, and bfloat16 on TPUs."""
    from rlx.backends.stablehlo.export import export, text

    source = re.sub(r"{(\d+)}", lambda found: "{" + ",".join("1" * int(found[1])) + "}", PRODUCTS)
    made = program(source.replace("{1=}", "{1}"))
    for device in PLATFORMS:
        module = text(export(made, device, device)[0])
        lines = [one for one in module.splitlines() if re.search(r"dot_general|convolution\(", one)]
        assert len(lines) >= 6
        assert [one for one in lines if "HIGHEST" not in one] == []


def test_weights_are_no_constants_of_the_module():
    """A module is small however many weights there are, and says where it was made nowhere."""
    parts = compiled(program())
    assert len(parts["weights.bin"]) >= 4 * (54 + 240)
    assert len(parts["module.stablehlo"]) < 5000
    assert b".py" not in parts["module.stablehlo"]


CODE = """
from hashlib import sha256
from tests.backends.portable import program
from rlx.backends.payload import Target
from rlx.backends.stablehlo.payload import StablehloCompiler
parts = StablehloCompiler().compile(program(), Target("jax-cuda", "cuda"))
print(sha256(b"".join(parts[name] for name in sorted(parts))).hexdigest())
"""


def test_the_same_bytes_in_every_process():
    """Whatever was traced before, under whatever hash seed, and from whatever folder."""
    compiled(program("other (float[2,3] x) => (float[2,3] y) { s = Softmax(x) y = Relu(s) }"))
    parts = compiled(program(), "cuda")
    again = compiled(program(), "cuda")
    assert parts == again
    own = sha256(b"".join(parts[name] for name in sorted(parts))).hexdigest()
    assert in_another_process(CODE, 7) == own


FIX = "Fix: choose another target: run `rlx backends`."
SIZES = "Fix: give its inputs fixed sizes, such as with `rlx build --size SYMBOL=N`."
REFUSED = {
    "a (float[2,3] x, int64[1] s) => (float[M] y) { y = Reshape(x, s) }": (
        "the input s of a says how to compute (a shape, axes, a count, a condition), which is "
        "fixed when it is exported. Fix: make it an initializer of the program, or choose another "
        "target."
    ),
    "a (float[2,3] x) => (int64[2,M] y) { r = Relu(x) y = NonZero(r) }": (
        "a can't be exported: node 'NonZero_1' NonZero: the size of its result depends on the "
        f"data. {FIX}"
    ),
    "a (string[3] x) => (string[3] y) { y = StringConcat(x, x) }": (
        f"the input x of a is a tensor of string: only tensors of numbers can be exported. {FIX}"
    ),
    "a (seq(float[3]) x) => (int64 y) { y = SequenceLength(x) }": (
        f"the input x of a is a sequence: only tensors of numbers can be exported. {FIX}"
    ),
    "a (float[3] x) => (seq(float[3]) y) { y = SequenceConstruct(x, x) }": (
        f"the output y of a is a sequence: only tensors of numbers can be exported. {FIX}"
    ),
    "a (float[N,4] x) => (float[N,4] y) { s = Shape(x) y = Reshape(x, s) }": (
        "a leaves sizes of its inputs open (x ['N', 4]), and can't be exported so: node 'Shape_0' "
        f"Shape failed: Symbolic dimension 's0' used in a context that requires a constant. {SIZES}"
    ),
    "a (uint2[4] x) => (float[4] y) { y = Cast<to=1>(x) }": (
        f"a can't be exported: jax.export has no uint2. {FIX}"
    ),
}


@pytest.mark.parametrize(("source", "message"), REFUSED.items())
def test_a_refusal_names_the_input_or_the_node(source, message):
    with pytest.raises(UnsupportedFeature) as refusal:
        compiled(program(source))
    assert str(refusal.value) == message


def test_a_platform_that_jax_lacks_is_refused():
    """jax.export itself takes any name, and exports for it."""
    from rlx.backends.stablehlo.payload import StablehloCompiler

    with pytest.raises(UnsupportedFeature) as refusal:
        StablehloCompiler().compile(program(), Target("mine", "vulkan"))
    assert str(refusal.value) == (f"jax exports for cpu, cuda, rocm, tpu, mine is on vulkan. {FIX}")
    with pytest.raises(UnsupportedFeature, match="no backend provides the target 'jax-cudda'"):
        rlx.build(program(), "jax-cudda")


def test_another_precision_is_refused():
    with pytest.raises(PrecisionError) as refusal:
        compiled(program(), precision="f16")
    assert str(refusal.value) == (
        "the stablehlo payload computes network as the program says, in float32; f16 was asked "
        "for. Fix: export the program in f16, or leave the precision unset."
    )


def test_what_the_host_would_compute_is_not_built():
    """The compiler's own claims leave it out, so that the node is named."""
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> t (float[2,3] x) => (int64[2,M] y) '
        "{ y = NonZero(x) }"
    )
    with pytest.raises(UnsupportedFeature) as refusal:
        rlx.build(model, "jax-cuda")
    assert "node 'NonZero_0' NonZero: the operation is not claimed" in str(refusal.value)
