"""Loading: results as those of a direct run, in another process too, or a refusal."""

import numpy as np
import pytest

import rlx
from rlx.backends.payload import Payload, Target
from rlx.device import DeviceSpec
from rlx.errors import CorruptArtifact, ForeignArtifact, Unavailable
from tests.backends.portable import agree, directly, elsewhere, pixels, program

pytestmark = [pytest.mark.needs("jax"), pytest.mark.needs("flatbuffers")]
CPU = DeviceSpec("cpu", 0)


@pytest.fixture(scope="module")
def parts():
    from rlx.backends.stablehlo.payload import StablehloCompiler

    return dict(StablehloCompiler().compile(program(), Target("jax-cpu", "cpu")))


def loaded(parts, spec=CPU):
    from rlx.backends.stablehlo.payload import StablehloMaterializer

    payload = Payload("stablehlo", "jax", tuple(sorted(parts.items())))
    return StablehloMaterializer().materialize(payload, spec)


def test_results_are_those_of_a_direct_run(tmp_path):
    """Through a file, and through `rlx.load_artifact`."""
    rlx.build(program(), "jax-cpu").write(tmp_path / "model.rlx")
    with rlx.load_artifact(tmp_path / "model.rlx") as model:
        for seed in range(3):
            agree(model(pixels(seed)), directly(program(), pixels(seed)))


def test_a_process_without_the_exporter_runs_it(tmp_path):
    """Neither the planner nor the export is imported where a module is run."""
    blocked = ["rlx.backends.stablehlo.trace", "rlx.backends.stablehlo.export", "onnxruntime"]
    found = elsewhere(tmp_path, rlx.build(program(), "jax-cpu"), [pixels()], blocked)
    agree(found, directly(program(), pixels()))


def test_one_module_runs_at_several_sizes():
    """Sizes that a program leaves open are symbols of its module."""
    source = "a (float[N,4] x, float[N,4] z) => (float[N,2] y) <float[4,2] w = {1,2,3,4,5,6,7,8}> "
    source += "{ s = Add(x, z) m = MatMul(s, w) y = Relu(m) }"
    with rlx.load_artifact(rlx.build(program(source), "jax-cpu")) as model:
        for size in (1, 5, 3):
            x = np.arange(size * 4, dtype=np.float32).reshape(size, 4)
            agree(model(x, -x / 2), directly(program(source), x, -x / 2))


def test_arrays_of_jax_go_in_and_come_out(parts):
    """The executable takes and gives arrays as that of any jax backend does."""
    executable = loaded(parts)
    inside = executable.adopt(executable.to_device(pixels()))
    assert executable.describe(inside) == ("float32", (1, 2, 6, 6))
    outputs = executable.run([inside])
    agree([executable.to_host(one) for one in outputs], directly(program(), pixels()))
    executable.close()
    executable.close()
    with pytest.raises(rlx.errors.SessionClosed, match="the executable is closed"):
        executable.run([pixels()])


def test_a_module_for_another_platform_is_not_run_here():
    """Never compiled for the CPU instead."""
    from rlx.backends.stablehlo.payload import StablehloCompiler

    parts = StablehloCompiler().compile(program(), Target("jax-tpu", "tpu"))
    with pytest.raises(ForeignArtifact) as refusal:
        loaded(parts)
    assert refusal.value.message == "its module is for tpu, not for cpu"
    with pytest.raises(Unavailable, match="jax"):
        loaded(parts, DeviceSpec("tpu", 0))


def test_only_one_cpu(parts):
    with pytest.raises(Unavailable) as refusal:
        loaded(parts, DeviceSpec("cpu", 1))
    assert str(refusal.value) == "jax has only cpu:0, got cpu:1. Fix: ask for cpu."


@pytest.mark.parametrize("change", [-1, 1, -64])
def test_weights_of_another_length_are_refused(parts, change):
    data = parts["weights.bin"]
    data = data[:change] if change < 0 else data + bytes(change)
    with pytest.raises(CorruptArtifact) as refusal:
        loaded({**parts, "weights.bin": data})
    assert refusal.value.message == (
        f"the weights take another length than the {len(data)} bytes there are"
    )


def test_what_is_no_module_is_refused(parts):
    with pytest.raises(CorruptArtifact, match="its module can't be read by jax"):
        loaded({**parts, "module.stablehlo": b"\0" * 64})


HERE = (
    "it was made by {}, and jax 0.10.2 is here: a jax runs what itself, or one of the minor "
    "version before it, exported"
)
ANSWERS = {
    "jax 0.10.2": None,
    "jax 0.10.0": None,
    "jax 0.9.2": None,
    "jax 0.8.1": HERE,
    "jax 0.10.3": HERE,
    "jax 0.11.0": HERE,
    "jax 1.9.0": HERE,
    "jax 0.10.2.dev1": None,
    "jax": HERE,
    "onnx 1.2": "it was made by {}, jax is needed",
}


@pytest.mark.parametrize(("toolchain", "answer"), ANSWERS.items())
def test_versions_follow_what_jax_promises(monkeypatch, toolchain, answer):
    """Six months back, which is at least one minor version, and not ahead."""
    import jax

    from rlx.backends.stablehlo.payload import StablehloMaterializer

    monkeypatch.setattr(jax, "__version__", "0.10.2")
    expected = None if answer is None else answer.format(toolchain)
    assert StablehloMaterializer().accepts(toolchain) == expected
