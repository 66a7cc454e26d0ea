"""Live probes: what an engine really does with a tiny program, whatever it does."""

import json
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

import rlx
from rlx.freeze.digest import registration_digest
from rlx.probe.process import Answer
from rlx.session import live, live_child
from rlx.session.default import load_registry

ENGINE = """
import ctypes, os, sys, time
from rlx.backends.array.numpy import open_cpu as works

def opened(spec, options, **changed):
    backend = works(spec, options)
    compile = backend.compile
    class Odd:
        device, version, close = "cpu", "1.0", backend.close
        def compile(self, program, options):
            made = compile(program, options)
            class Executable:
                device, close = "cpu", made.close
                run = changed.get("run", made.run)
            Executable.device = changed.get("device", "cpu")
            return Executable()
    return Odd()

def wrong(spec, options):
    import numpy
    return opened(spec, options, run=staticmethod(lambda inputs: [numpy.ones((2, 2), "f4")]))
def elsewhere(spec, options):
    return opened(spec, options, device="cuda")
def fails(spec, options):
    def run(inputs): raise RuntimeError("no kernel image is available")
    return opened(spec, options, run=staticmethod(run))
def raises(spec, options): raise RuntimeError("driver too old")
def leaves(spec, options): sys.exit(3)
def quits(spec, options): os._exit(3)
def hangs(spec, options): time.sleep(60)
def crashes(spec, options): ctypes.string_at(0)
def noisy(spec, options):
    print('{"program": "noise"}', flush=True)
    return works(spec, options)
"""
BODY = """
  - id: {0}
    device: cpu
    rank: 1
    dispatches: true
    factory: "odd_live_engine:{0}"
    coverage: {{rows: [{{operations: [{1}], types: {{T: [float32]}}}}]}}
"""
NAMES = ("works", "noisy", "wrong", "elsewhere", "fails", "raises", "leaves", "quits", "crashes")
ALL = "MatMul, Add, Relu"


@pytest.fixture(scope="module")
def went(tmp_path_factory):
    """How it went on each of the odd backends: `went[name]`; `again()` tries them once more."""
    folder = tmp_path_factory.mktemp("live")
    (folder / "odd_live_engine.py").write_text(ENGINE)
    text = "apiVersion: rlx/v1\nkind: Backends\nbackends:" + "".join(
        BODY.format(name, ALL) for name in (*NAMES, "hangs")
    )
    (folder / "odd.yaml").write_text(
        text + BODY.format("uncovered", "Sin").replace(":uncovered", ":works")
    )
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(folder))
    patch.setenv("RLX_CACHE_DIR", str(folder / "cache"))
    config = [folder / "odd.yaml"]
    registry = load_registry(config)

    def again(*names, timeout=60.0, **more):
        for name in ("RLX_CACHE_DIR", "XDG_CACHE_HOME"):  # the latter is any engine's to read
            patch.setenv(name, str(folder / "cache"))
        chosen = [registry.get(name) for name in names]
        return live.run(registry, chosen, config, timeout=timeout, **more)

    found = again(*NAMES, "uncovered") | again("hangs", timeout=0.5)
    found.update(again=again, folder=folder / "cache" / "probes")
    yield found
    patch.undo()


@pytest.mark.parametrize("name", ["works", "noisy"])
def test_what_runs_says_where_it_ran(went, name):
    one = went[name]
    assert (one.program, one.device, one.reason) == ("matmul", "cpu", None)
    assert one.version == np.__version__ if name == "works" else one.version
    assert one.seconds > 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("wrong", "matmul gave [[1.0, 1.0], [1.0, 1.0]], [[6, 1], [0, 2]] is right"),
        ("elsewhere", "elsewhere compiled tiny for 'cuda', cpu was asked for"),
        ("raises", "opening raises on cpu:0 failed: RuntimeError: driver too old"),
        ("leaves", "opening leaves on cpu:0 failed: SystemExit: 3"),
        ("quits", "a tiny program on quits ended its process with exit code 3"),
        ("hangs", "a tiny program on hangs did not answer within 0.5 s"),
        (
            "fails",
            "fails failed to run tiny: RuntimeError: no kernel image is available",
        ),
    ],
)
def test_what_fails_says_why(went, name, reason):
    assert went[name].program is None
    assert went[name].reason == reason


@pytest.mark.skipif(sys.platform == "win32", reason="signals are named on POSIX")
def test_a_crash_is_a_reason(went):
    signal_name = signal.Signals(signal.SIGSEGV).name
    assert went["crashes"].reason.startswith(
        f"a tiny program on crashes crashed with {signal_name}"
    )


def test_what_an_error_says_to_do_is_kept(went):
    assert went["raises"].fix == "see the cause above; `rlx devices --refresh` probes again."
    assert went["quits"].fix is None


def test_what_covers_no_tiny_program_is_not_tried(went):
    one = went["uncovered"]
    assert (one.program, one.reason) == (None, None)
    assert one.untried == "it covers none of: matmul, add in float16, add, relu"


def test_what_has_run_is_kept_and_what_has_failed_is_tried_again(went):
    went["again"]("works", "quits")
    found = went["again"]("works", "quits")
    assert found["works"].kept
    assert not found["quits"].kept
    assert found["quits"].reason == went["quits"].reason


@pytest.mark.parametrize("change", [{"device": "cuda"}, {"program": 3}, {"reason": "no"}, {}])
def test_a_kept_file_that_says_otherwise_is_tried_again(went, change):
    for path in went["folder"].glob("live-*"):
        data = json.loads(path.read_text())
        path.write_text(
            json.dumps({**data, "answer": {**data["answer"], **change} if change else 0})
        )
    one = went["again"]("works")["works"]
    assert (one.program, one.device, one.kept) == ("matmul", "cpu", False)


def test_progress_is_reported(went):
    told = []
    went["again"]("works", "uncovered", report=lambda *one: told.append(one))
    assert told == [("works", 0, 2), ("uncovered", 1, 2)]


@pytest.mark.parametrize(
    "said",
    [b"", b"{", b"[]", b"{}", b'{"program": 3}', b'{"reason": "a", "untried": "b"}', b"[" * 70000],
)
def test_garbage_is_a_reason(went, said, monkeypatch):
    monkeypatch.setattr(live, "converse", lambda *_: said)
    one = went["again"]("quits")["quits"]
    assert one.reason == f"a tiny program on quits answered with garbage: {said[:60]!r}"


def test_a_child_that_ran_elsewhere_is_a_failure(went, monkeypatch):
    said = b'{"program": "matmul", "device": "cpu:evil\\u001b", "version": "1", "seconds": 1}'
    monkeypatch.setattr(live, "converse", lambda *_: said)
    one = went["again"]("quits")["quits"]
    assert one.program is None
    assert one.reason == "it ran on cpu:evil\\x1b, cpu was asked for"


def test_a_child_that_cannot_be_started_is_a_reason(went, monkeypatch):
    monkeypatch.setattr(live, "converse", lambda *_: Answer("no interpreter"))
    assert went["again"]("quits")["quits"].reason == "no interpreter"


@pytest.mark.parametrize("name", live_child.PROGRAMS)
def test_every_tiny_program_has_the_answer_that_it_says(name):
    text = f'<ir_version: 10, opset_import: ["" : 21]> tiny {live_child.PROGRAMS[name]}'
    with rlx.Session(backend="reference") as session:
        assert live_child._wrong(name, session.compile(parser.parse_model(text))) == ""


def test_a_registration_that_was_changed_meanwhile_is_no_fault_of_the_device():
    answer = live_child.answer("numpy", "another digest", [])
    assert answer == {"untried": "its registration was changed meanwhile"}


def test_a_backend_that_a_probe_refuses_says_only_its_own_reason():
    if Path("/dev/nvidiactl").exists():
        pytest.skip("there is an NVIDIA GPU here")
    own = registration_digest(load_registry().get("cupy"))
    answer = live_child.answer("cupy", own, [])
    assert "\n" not in answer["reason"]
    assert "not-requested" not in answer["reason"]
