"""The null backend, registries made in code, and the marker for tests that need an engine."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

import rlx
from rlx import testing
from rlx.backends.protocol import Backend, CompileOptions, Executable
from rlx.device import DeviceSpec
from rlx.errors import ConfigError, PrecisionError
from rlx.session import Session

CONFTEST = Path(__file__).parents[1] / "conftest.py"


def load(body, inputs="float[n,4] x", outputs="float[n,4] y"):
    return rlx.load(
        parser.parse_model(
            f'<ir_version: 9, opset_import: ["" : 20]> g ({inputs}) => ({outputs}) {{{body}}}'
        )
    )


def null(device="cpu"):
    return testing.open_null(DeviceSpec(device, 0), {})


def test_it_keeps_the_protocol():
    backend = null("metal")
    executable = backend.compile(load("y = Relu(x)"), CompileOptions())
    assert isinstance(backend, Backend)
    assert isinstance(executable, Executable)
    assert (backend.device, executable.device) == ("metal", "metal")


def test_outputs_are_new_zeros_of_the_declared_types():
    executable = null().compile(load("y = Relu(x)"), CompileOptions())
    x = np.ones((3, 4), np.float32)
    (first,), (second,) = executable.run([x]), executable.run([x])
    assert (first.shape, first.dtype, first.any()) == ((3, 4), np.float32, False)
    assert not np.shares_memory(first, second)


def test_strings_sequences_and_unknown_sizes_have_a_value_too():
    program = load(
        "y = Identity(x) s = SequenceConstruct(z) u = NonZero(z)",
        inputs="string[2] x, float[4] z",
        outputs="string[2] y, seq(float[4]) s, int64[1,k] u",
    )
    outputs = null().compile(program, CompileOptions()).run([None, np.zeros(4, np.float32)])
    assert outputs[0].tolist() == ["", ""]
    assert outputs[1] == []
    assert outputs[2].shape == (1, 1)


def test_it_runs_through_a_session_on_any_device():
    program = load("y = Relu(x)")
    one = testing.registration("mine", "xdna", coverage=testing.covering(program))
    with Session("xdna", registry=testing.registry(one)) as session:
        if session.route(program).backend is None:  # `dynamic_shapes` is what the program needs
            assert "dynamic_shapes" in str(session.route(program))
    able = testing.registration(
        "mine", "xdna", coverage=testing.covering(program), capabilities=("dynamic_shapes",)
    )
    with Session("xdna", registry=testing.registry(able)) as session:
        (y,) = session.compile(program)(np.ones((2, 4), np.float32))
    assert y.shape == (2, 4)


def test_a_watch_counts_and_is_forgotten():
    watch = testing.watch()
    backend = null()
    backend.compile(load("y = Relu(x)"), CompileOptions()).run([np.zeros((1, 4), np.float32)])
    backend.close()
    backend.close()
    assert (watch.opened, watch.compiled, watch.ran, watch.closed) == (1, 1, 1, 1)
    testing.forget_watches()
    assert testing.watch().opened == 0


def test_it_fails_waits_and_refuses_as_its_watch_says():
    watch = testing.watch()
    watch.open_error = OSError("no driver")
    with pytest.raises(OSError, match="no driver"):
        null()
    watch.open_error, watch.gate = None, threading.Event()
    opening = threading.Thread(target=null)
    opening.start()
    opening.join(0.05)
    assert opening.is_alive()
    watch.gate.set()
    opening.join(10)
    watch.precisions = ("f32",)
    with pytest.raises(PrecisionError):
        null().compile(load("y = Relu(x)"), CompileOptions(precision="f16"))


def test_claims_cover_what_they_are_made_from_and_no_more():
    program, other = load("y = Relu(x)"), load("y = Exp(x)")
    fields = {"coverage": testing.covering(program), "capabilities": ("dynamic_shapes",)}
    registry = testing.registry(testing.registration(**fields))
    assert rlx.route(program, registry=registry).backend == "null"
    assert rlx.route(other, registry=registry).backend is None


def test_a_registry_holds_its_registrations_in_order_beside_the_packaged_devices():
    registry = testing.registry(
        testing.registration("b", rank=2),
        testing.registration("c", rank=1),
        testing.registration("a", rank=2),
    )
    assert [one.id for one in registry.registrations] == ["c", "a", "b"]
    assert registry.resolve("nvidia:1") == DeviceSpec("cuda", 1)
    assert testing.registry(operations=["my_op"]).vocabulary.get("my_op") is not None


def test_what_it_registers_passes_the_rules_of_manifests():
    program = load("y = Relu(x)")
    packaged = rlx.default_registry()
    one = testing.registration("mine", coverage=testing.covering(program))
    assert packaged.with_backend(one).get("mine").rank == 100
    with pytest.raises(ConfigError):
        packaged.with_backend(testing.registration("mine", "no-device"))


def run_marked(tmp_path, required):
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.mark.needs('numpy')\ndef test_present(): pass\n"
        "@pytest.mark.needs('no_such_engine')\ndef test_missing(): pass\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rs",
            "-p",
            "no:cacheprovider",
            "-W",
            "ignore",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "RLX_TEST_REQUIRE": required, "PYTHONPATH": str(CONFTEST.parents[1])},
    )
    return done.stdout


def test_a_test_that_needs_a_missing_engine_is_skipped_with_the_reason(tmp_path):
    out = run_marked(tmp_path, "numpy")
    assert "needs no_such_engine, which is not installed" in out
    assert "1 passed, 1 skipped" in out


def test_a_missing_engine_that_is_required_fails(tmp_path):
    out = run_marked(tmp_path, "numpy, no_such_engine")
    assert "no_such_engine is not installed, and RLX_TEST_REQUIRE requires it here" in out
    assert "1 passed, 1 error" in out


def test_no_variable_of_rlx_reaches_a_test():
    assert not [one for one in os.environ if one.startswith("RLX_") and "_TEST_" not in one]
