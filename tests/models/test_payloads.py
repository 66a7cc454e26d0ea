"""Real models compiled into payloads: run from them as onnxruntime answers, or refused by node."""

import re

import pytest

import rlx
from rlx.backends.payload import Payload, Target
from rlx.device import DeviceSpec
from rlx.errors import UnsupportedFeature
from rlx.program.sizing import with_sizes
from tests.models.agreement import LIMIT, errors
from tests.models.catalogue import MODELS

pytestmark = [pytest.mark.needs(name) for name in ("models", "onnxruntime", "jax", "flatbuffers")]


def sized(name):
    """The program with the sizes of the inputs that are drawn for it."""
    made, feeds = rlx.load(MODELS[name].path), MODELS[name].feeds()
    sizes = {}
    for value in made.inputs:
        for size, got in zip(value.type.shape, feeds[value.name].shape, strict=True):
            if isinstance(size, str):
                sizes[size] = got
    return with_sizes(made, sizes)


def through(name, target, compiler, materializer):
    """The largest error of a model's outputs, compiled as a whole, whatever is claimed."""
    made = sized(name)
    parts = compiler.compile(made, Target(target, "cpu"))
    payload = Payload(compiler.payload_format, compiler.toolchain, tuple(parts.items()))
    executable = materializer.materialize(payload, DeviceSpec("cpu", 0))
    run = executable.run
    names = [value.name for value in made.inputs]
    found = errors(lambda feeds: run([feeds[one] for one in names]), MODELS[name])
    executable.close()
    return max(found)


@pytest.mark.parametrize("name", ["minilm", "silero-vad-half"])
def test_stablehlo(name):
    from rlx.backends.stablehlo.payload import StablehloCompiler, StablehloMaterializer

    assert through(name, "jax-cpu", StablehloCompiler(), StablehloMaterializer()) <= LIMIT


@pytest.mark.needs("iree")
@pytest.mark.parametrize("name", ["minilm", "silero-vad-half"])
def test_vmfb(name):
    from rlx.backends.iree.payload import VmfbCompiler, VmfbMaterializer

    assert through(name, "iree-cpu", VmfbCompiler(), VmfbMaterializer()) <= LIMIT


@pytest.mark.needs("openvino")
@pytest.mark.parametrize("name", ["silero-vad-ifless", "magika"])
def test_openvino_blob(name):
    from rlx.backends.openvino.blob import OpenvinoCompiler, OpenvinoMaterializer

    assert through(name, "openvino-cpu", OpenvinoCompiler(), OpenvinoMaterializer()) <= LIMIT


NODE = r"the compiler of jax-tpu does not take this program: node '.+' \w+: "


def built_or_refused(made):
    """The artifact, or why there is none."""
    try:
        return rlx.build(made, "jax-tpu"), ""
    except UnsupportedFeature as refusal:
        return None, refusal.message


@pytest.mark.parametrize("name", ["minilm", "silero-vad-half", "ocr-detector"])
def test_for_a_device_that_is_not_here(name):
    """By what is claimed: built, or refused with the node named."""
    made = sized(name)
    artifact, refusal = built_or_refused(made)
    if artifact is None:
        assert re.match(NODE, refusal), refusal
    else:
        assert artifact.header.device == "tpu"
        assert sum(count for _, count in artifact.header.operations) == len(list(made.nodes()))


def test_an_input_that_says_how_to_compute_is_named():
    from rlx.backends.stablehlo.payload import StablehloCompiler

    with pytest.raises(UnsupportedFeature, match="the input sr of silero_vad says how to compute"):
        StablehloCompiler().compile(sized("silero-vad"), Target("jax-cpu", "cpu"))
