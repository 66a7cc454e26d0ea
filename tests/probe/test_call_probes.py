"""`call` probes run in a killable child: whatever happens there is a reason with text."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.probe import checks, process
from rlx.registration import Probe

ENGINE = """
import ctypes, os, signal, subprocess, sys, time
from rlx.backends.protocol import Found

def works(index): return None
def refuses(index): return f"no device {index}\\n  here"
def software(index): return Found(software=True, detail="llvmpipe")
def noisy(index):
    print('{"reason": "noise"}', flush=True)
    os.write(1, b"noise from C\\n")
    return "the answer"
def raises(index): raise RuntimeError("driver too old")
def silent(index): raise RuntimeError
def leaves(index): sys.exit(3)
def quits(index): os._exit(3)
def quits_well(index): os._exit(0)
def crashes(index): ctypes.string_at(0)
def aborts(index):
    print("terminate called: bad_alloc", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGABRT)
def hangs(index): time.sleep(60)
def hangs_with_child(index):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open(os.environ["CHILD_PID_FILE"], "w") as file: file.write(str(child.pid))
    time.sleep(60)
def forks(index):
    if os.fork() == 0: time.sleep(8)
    return "the answer"
def leaves_a_child(index):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open(os.environ["CHILD_PID_FILE"], "w") as file: file.write(str(child.pid))
def odd(index): return 42
def blank(index): return " "
class Nested:
    @staticmethod
    def probe(index): return "nested"
"""


@pytest.fixture
def engine(tmp_path, monkeypatch):
    (tmp_path / "probed_engine.py").write_text(ENGINE)
    (tmp_path / "broken_engine.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(str(tmp_path))


def ask(attribute, *, index=0, timeout=20.0, module="probed_engine"):
    return checks.check(Probe("call", (f"{module}:{attribute}",), timeout=timeout), index)


@pytest.mark.parametrize(
    ("attribute", "reason"),
    [
        ("works", None),
        ("refuses", "no device 2 here"),
        ("noisy", "the answer"),
        ("Nested.probe", "nested"),
        ("raises", "probe probed_engine:raises raised RuntimeError: driver too old"),
        ("silent", "probe probed_engine:silent raised RuntimeError without a message"),
        ("leaves", "probe probed_engine:leaves called sys.exit(3)"),
        ("quits", "probe probed_engine:quits ended its process with exit code 3"),
        ("quits_well", "probe probed_engine:quits_well ended its process with exit code 0"),
        ("odd", "probe probed_engine:odd returned 42, not None, a reason or Found"),
        ("blank", "probe probed_engine:blank returned ' ', not None, a reason or Found"),
        (
            "nope",
            "probe probed_engine:nope could not be imported: "
            "AttributeError: module 'probed_engine' has no attribute 'nope'",
        ),
    ],
)
def test_a_probe_s_answer_or_failure_is_its_reason(engine, attribute, reason):
    answer = ask(attribute, index=2)
    assert answer.reason == reason
    assert not answer.transient


def test_a_module_that_cannot_be_imported_is_a_reason(engine):
    assert ask("x", module="broken_engine").reason == (
        "probe broken_engine:x could not be imported: "
        "ModuleNotFoundError: No module named 'no_such_module'"
    )


def test_a_software_device_says_so(engine):
    answer = ask("software")
    assert (answer.reason, answer.software, answer.detail) == (None, True, "llvmpipe")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are named on POSIX")
def test_a_crash_names_the_signal_and_what_was_printed_last(engine):
    crashed, aborted = ask("crashes"), ask("aborts")
    assert crashed.reason.startswith("probe probed_engine:crashes crashed with SIGSEGV")
    assert aborted.reason == (
        "probe probed_engine:aborts crashed with SIGABRT: terminate called: bad_alloc"
    )
    assert crashed.transient
    assert aborted.transient


def test_a_probe_that_hangs_is_killed_after_its_timeout(engine):
    answer = ask("hangs", timeout=0.5)
    assert answer.reason == "probe probed_engine:hangs did not answer within 0.5 s"
    assert answer.transient


def gone(pid):
    """True once the process has ended, or is only waiting to be reaped."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("attribute", ["hangs_with_child", "leaves_a_child"])
def test_a_probe_takes_its_own_children_with_it(engine, tmp_path, monkeypatch, attribute):
    file = tmp_path / "pid"
    monkeypatch.setenv("CHILD_PID_FILE", str(file))
    assert ask(attribute, timeout=3).transient == (attribute == "hangs_with_child")
    child = int(file.read_text())
    for _ in range(100):
        if gone(child):
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the probe's child lives on")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_grandchild_does_not_delay_the_answer(engine):
    assert ask("forks", timeout=15).reason == "the answer"


def test_without_an_interpreter_there_is_a_reason(engine, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    assert ask("works").reason == (
        "probe probed_engine:works needs a Python interpreter to run in, and there is none here"
    )


def test_a_frozen_application_does_not_start_itself(engine, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert "needs a Python interpreter" in ask("works").reason


def test_an_interpreter_that_is_missing_is_a_reason_that_may_pass(engine, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    answer = ask("works")
    assert answer.reason == (
        "probe probed_engine:works could not be started: "
        "[Errno 2] No such file or directory: '/no/such/python'"
    )
    assert answer.transient


def test_probing_leaves_this_process_as_it_was(engine):
    before = set(sys.modules)
    ask("works")
    assert "probed_engine" not in set(sys.modules) - before


def test_a_probe_of_an_untrusted_file_is_not_run():
    probe = Probe("call", ("os:abort",), trusted=False)
    assert checks.check(probe, 0).reason == (
        "its call probe os:abort was not run: its file is not trusted"
    )


ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["found", "error", "reason", "software"]), inner)
    ),
)


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=40) | ANSWERS.map(lambda data: json.dumps(data).encode()))
def test_an_answer_of_any_bytes_is_judged(line):
    answer = process._judge("probe a:b", line)
    assert answer.reason is None or isinstance(answer.reason, str)


@pytest.mark.parametrize("line", [b"[" * 60_000, b"3", b"\xff", b'{"reason": 3}', b'{"found": []}'])
def test_garbage_is_a_reason(line):
    assert process._judge("probe a:b", line).reason == (
        f"probe a:b answered with garbage: {line[:60]!r}"
    )


@pytest.mark.parametrize("kind", ["call", "library"])
def test_only_the_target_comes_from_the_caller_s_path(engine, tmp_path, monkeypatch, kind):
    """A project may have a file named as a module that the child itself needs."""
    for name in ("importlib", "json", "ctypes", "faulthandler", "resource", "pathlib", "typing"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a decoy was imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    target = "no_engine:works" if kind == "call" else "no-library"
    reason = {
        "call": "probe no_engine:works could not be imported: "
        "ModuleNotFoundError: No module named 'no_engine'",
        "library": "shared library no-library was not found",
    }
    assert process.ask(kind, target, 0, 20.0).reason == reason[kind]


@pytest.mark.parametrize("timeout", [float("inf"), float("nan"), 1e300])
def test_a_timeout_that_no_clock_has_is_a_reason(engine, timeout):
    answer = ask("works", timeout=timeout)
    assert answer.reason.startswith("probe probed_engine:works could not be started: ")
