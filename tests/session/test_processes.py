"""Forks and the end of the process: each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rlx

PROJECT = Path(rlx.__file__).parents[1]
BEGIN = """
import atexit, os, sys
import numpy as np
from onnx import parser
import rlx
from rlx import testing
from rlx.session import leases
from rlx.errors import SessionClosed
from rlx.session import Session

program = rlx.load(parser.parse_model('''<ir_version: 9, opset_import: ["" : 20]>
hello (float[1,4] x) => (float[1,4] y) { y = Relu(x) }'''))
registry = testing.registry(testing.registration(coverage=testing.covering(program)))
watch, x = testing.watch(), np.zeros((1, 4), np.float32)
"""
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def run(script, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BEGIN + script],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=PROJECT,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout, done.stderr


def test_a_session_that_is_open_at_exit_is_closed_before_older_exit_handlers():
    code, out, err = run("""
atexit.register(lambda: print("engine ends:", watch.closed))
session = Session(registry=registry)
model = session.compile(program)
close = testing.NullExecutable.close
testing.NullExecutable.close = lambda self: print("executable ends:", watch.closed)
print("main ends:", watch.closed)
""")
    assert (code, err) == (0, "")
    assert out == "main ends: 0\nexecutable ends: 0\nengine ends: 1\n"


def test_a_failing_close_at_exit_is_logged_and_the_exit_code_stays():
    code, out, err = run("""
watch.close_error = RuntimeError("busy")
session = Session(registry=registry)
session.compile(program)
sys.exit(3)
""")
    assert (code, out) == (3, "")
    assert err == "closing null on cpu:0 failed: RuntimeError: busy. Fix: see the cause above.\n"


@forks
def test_a_forked_child_opens_its_own_and_leaves_the_parent_s_alone():
    code, out, err = run("""
session = Session(registry=registry)
model = session.compile(program)
lease = leases.acquire(registry.registrations[0], model.device)
sys.stdout.flush()
child = os.fork()
if child == 0:
    try:
        for use in (lambda: model(x), lambda: lease.backend):
            try:
                use()
            except SessionClosed as error:
                print(error.message)
        lease.close()
        assert (lease.closed, watch.opened, watch.closed) == (True, 1, 0)
        own = session.compile(program)
        own(x)
        own.close()
        session.close()
        print("child:", watch.opened, watch.closed, leases.opened())
        sys.stdout.flush()
    finally:
        os._exit(0)
os.waitpid(child, 0)
model(x)
print("parent:", watch.opened, watch.closed, leases.opened())
""")
    assert (code, err) == (0, "")
    assert out == (
        "hello on cpu:0 (null) was compiled before this process forked\n"
        "the lease on null on cpu:0 belongs to the process that forked this one\n"
        "child: 2 1 {}\n"
        "parent: 1 0 {('null', 'cpu:0'): 3}\n"
    )


@forks
def test_a_fork_while_another_thread_opens_does_not_block_the_child():
    code, _, err = run("""
import threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
watch.gate = threading.Event()
opening = threading.Thread(target=lambda: Session(registry=registry).compile(program))
opening.start()
while not watch.opened:
    pass
child = os.fork()
if child == 0:
    watch.gate.set()
    Session(registry=registry).compile(program)
    os._exit(7)
watch.gate.set()
opening.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert (code, err) == (7, "")


@forks
def test_a_fork_while_another_thread_loads_the_registry_does_not_block_the_child():
    code, _, err = run("""
import signal, threading, warnings
from rlx.session import default
warnings.simplefilter("ignore", DeprecationWarning)
held, done = threading.Event(), threading.Event()
def hold(lock=default._default.lock):
    with lock:
        held.set()
        done.wait()
holding = threading.Thread(target=hold)
holding.start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(30)
    rlx.register_backend(testing.registration("other"))
    os._exit(7)
done.set()
holding.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert (code, err) == (7, "")


@pytest.mark.parametrize("level", ["info", "off", ""])
def test_rlx_log_shows_what_was_chosen(level):
    code, _, err = run("Session(registry=registry).compile(program)", RLX_LOG=level)
    shown = "INFO rlx: hello runs on null (cpu:0)\n"
    assert (code, err) == (0, shown if level == "info" else "")


def test_a_program_s_own_logging_is_left_alone():
    code, _, err = run(
        """
import logging
logging.basicConfig(format="app %(message)s")
Session(registry=registry).compile(program)
""",
        RLX_LOG="info",
    )
    assert (code, err) == (0, "app hello runs on null (cpu:0)\n")


def test_a_hung_factory_does_not_keep_a_time_limit_from_working():
    code, out, err = run("""
import threading
watch.gate = threading.Event()
asked = threading.Thread(target=Session(registry=registry).compile, args=(program,), daemon=True)
asked.start()
asked.join(0.3)
print(asked.is_alive())
""")
    assert (code, out, err) == (0, "True\n", "")
