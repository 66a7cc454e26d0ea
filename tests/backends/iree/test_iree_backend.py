"""IREE as a backend: compiled and run in this process, for each set of sizes once."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import rlx
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError, NoBackend, OpenFailed, SettingError, Unavailable
from tests.backends.portable import PROJECT, agree, directly, pixels, program

pytestmark = [pytest.mark.needs(name) for name in ("iree", "jax", "flatbuffers")]


def opened(options=()):
    from rlx.backends.iree.backend import open_cpu

    return open_cpu(DeviceSpec("cpu", 0), dict(options))


def test_a_session_on_iree():
    with rlx.Session(backend="iree-cpu") as session, session.compile(program()) as model:
        agree(model(pixels()), directly(program(), pixels()))
        assert str(model.device) == "cpu:0"


def test_a_session_on_vulkan(vulkan):
    """Asked for by name: a device that a CPU emulates is never chosen otherwise."""
    with rlx.Session(backend="iree-vulkan") as session, session.compile(program()) as model:
        agree(model(pixels()), directly(program(), pixels()))


def test_each_set_of_sizes_is_compiled_once():
    """And each value of an input that says how to compute."""
    made = program("a (float[N,4] x, int64[R] s) => (float[A,B] y) { y = Reshape(x, s) }")
    executable = opened().compile(made, CompileOptions())
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    for shape in ((4, 2), (8, 1), (4, 2), (-1, 8)):
        (y,) = executable.run([x, np.array(shape)])
        np.testing.assert_array_equal(y, x.reshape(shape))
    (y,) = executable.run([x[:1], np.array((4, 1))])
    assert y.shape == (4, 1)
    assert len(executable._plan.forms) == 4
    executable.close()
    with pytest.raises(rlx.errors.SessionClosed, match="the executable is closed"):
        executable.run([x, np.array((8, 1))])


def test_what_can_not_be_compiled_is_refused_and_not_run_step_by_step():
    made = program("a (float[2,3] x) => (int64[2,M] y) { r = Relu(x) y = NonZero(r) }")
    with pytest.raises(NotImplementedError) as refusal:
        opened().compile(made, CompileOptions())
    assert str(refusal.value) == (
        "node 'NonZero_1' NonZero: the size of its result depends on the data"
    )


def test_sequences_are_refused():
    """A module would give their items one by one."""
    made = program("a (float[3] x) => (seq(float[3]) y) { y = SequenceConstruct(x, x) }")
    with pytest.raises(NotImplementedError, match="the output y of a is a sequence"):
        opened().compile(made, CompileOptions())


def test_a_failure_at_new_sizes_names_the_node():
    made = program("a (float[N,4] x, int64[R] s) => (float[A,B] y) { y = Reshape(x, s) }")
    executable = opened().compile(made, CompileOptions())
    with pytest.raises(ExecutionError, match="node 'Reshape_0' Reshape failed"):
        executable.run([np.zeros((1, 4), np.float32), np.array((3, 2))])


def test_runs_in_threads_do_not_disturb_each_other():
    executable = opened().compile(program(), CompileOptions())
    wanted = [directly(program(), pixels(seed)) for seed in range(4)]

    def work(seed):
        for _ in range(20):
            agree(executable.run([pixels(seed)]), wanted[seed])
        done.append(seed)

    done = []
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [0, 1, 2, 3]


def test_options_and_indices_are_checked():
    from rlx.backends.iree.backend import open_cpu

    with pytest.raises(SettingError, match="IREE for cpu has no option speed"):
        opened({"speed": "high"})
    with pytest.raises(Unavailable) as refusal:
        open_cpu(DeviceSpec("cpu", 1), {})
    assert str(refusal.value) == "iree-cpu has only cpu:0, got cpu:1. Fix: ask for cpu."


def test_without_the_compiler_it_is_not_opened(monkeypatch):
    """Artifacts run there all the same."""
    import importlib.util

    from rlx.backends.iree import backend

    there = importlib.util.find_spec
    monkeypatch.setattr(backend, "find_spec", lambda x: None if x == "jax" else there(x))
    with pytest.raises((OpenFailed, NoBackend)) as refusal, rlx.Session(backend="iree-cpu") as one:
        one.compile(program())
    assert (
        "IREE compiles with iree-base-compiler and jax, jax is not installed. Fix: pip install "
        "'rlx[iree]'; artifacts run without it."
    ) in str(refusal.value)


def test_a_process_ends_with_modules_still_loaded():
    """IREE's objects are freed in their order, before Python frees the rest in its own."""
    code = """
import numpy as np, rlx
from tests.backends.portable import pixels, program
from rlx.backends.iree.backend import open_cpu
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
kept = open_cpu(DeviceSpec("cpu", 0), {}).compile(program(), CompileOptions())
kept.run([pixels()])
try:
    kept._only([np.zeros((1, 1), np.float32)])
except ValueError as error:
    failure = error
print("ran")
"""
    command = [sys.executable, "-X", "faulthandler", "-c", code]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")
