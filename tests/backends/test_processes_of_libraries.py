"""Forked and spawned processes, with each backend: they open their own, or say why they can't."""

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rlx
from tests.backends.libraries import EVERY, cases, session_on

PROJECT = Path(rlx.__file__).parents[1]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
COMMON = """
import os, sys
import numpy as np
import rlx
from tests.backends.libraries import session_on

N = 256  # large enough for several threads
X = np.ones((N, N), np.float32)

def graph():
    g = rlx.Graph("p")
    x, w = g.input("x", (N, N), "f32"), g.param("w", (N, N), "f32")
    g.set_outputs([g.softmax(g.matmul(x, w))])
    return g

def used(name, g):
    with session_on(name, g.to_program()) as session, session.compile(g) as model:
        model.set_param("w", X)
        return float(model(X)[0].sum())
"""
FORK = """
name = sys.argv[1]
g = graph()
session = session_on(name, g.to_program())
model = session.compile(g)
model.set_param("w", X)
model(X)
sys.stdout.flush()
child = os.fork()
if child == 0:
    import signal
    signal.alarm(40)
    try:
        for use in (lambda: model(X), lambda: model.set_param("w", X)):
            try:
                use()
            except rlx.SessionClosed as error:
                print(error)
        try:
            print("child:", round(used(name, graph())))
        except rlx.Unavailable as error:
            print("child:", error)
        sys.stdout.flush()
    finally:
        os._exit(0)
print("exit:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print("parent:", round(float(model(X)[0].sum())))
"""
WORKERS = """
import multiprocessing

if __name__ == "__main__":
    name, method = sys.argv[1:]
    if method == "spawn":
        used(name, graph())
    with multiprocessing.get_context(method).Pool(1) as pool:
        print([round(one) for one in pool.starmap(used, [(name, graph())])])
"""


def run(folder, script, *arguments):
    path = folder / "script.py"
    path.write_text(COMMON + script, "utf-8")
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        [sys.executable, str(path), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **threads},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@forks
@pytest.mark.parametrize("name", EVERY)
def test_a_forked_child_opens_its_own_or_says_why_it_cannot(tmp_path, name):
    lines = run(tmp_path, FORK, name).splitlines()
    place = "mlx:0" if name == "mlx" else "cpu:0"
    closed = f"p on {place} ({name}) was compiled before this process forked. "
    assert lines[:2] == [closed + "Fix: compile it in this process."] * 2
    if name == "jax":
        assert lines[2] == "child: no backend can run p (2 nodes)"
        assert "jax was used before this process was forked, and cannot be used in it" in lines[3]
        assert "Fix: start it with multiprocessing.get_context('spawn')" in lines[3]
    else:
        assert lines[2] == "child: 256"
    assert lines[-2:] == ["exit: 0", "parent: 256"]


@pytest.mark.parametrize("name", EVERY)
def test_spawned_workers_take_graphs(tmp_path, name):
    assert run(tmp_path, WORKERS, name, "spawn") == "[256]\n"


@forks
@pytest.mark.parametrize("name", cases("numpy", "onnxruntime", "torch", "jax", "mlx"))
def test_workers_that_are_forked_before_anything_is_opened_open_their_own(tmp_path, name):
    assert run(tmp_path, WORKERS, name, "fork") == "[256]\n"


def test_sessions_and_compiled_programs_say_that_they_cannot_be_sent():
    g = rlx.Graph("p")
    g.set_outputs([g.relu(g.input("x", (1,), "f32"))])
    program = g.to_program()
    assert pickle.loads(pickle.dumps(program)) == program
    with session_on("numpy", program) as session, session.compile(program) as model:
        wanted = {
            session: "<Session on any device, precision of the program> can't be pickled or "
            "copied. Fix: make a session in the process that uses it.",
            model: "<CompiledProgram p on cpu:0 (numpy)> can't be pickled or copied. "
            "Fix: send its program, and compile that in the process that runs it.",
        }
        for one, message in wanted.items():
            for send in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError) as caught:
                    send(one)
                assert str(caught.value) == message
        np.testing.assert_array_equal(model(np.ones(1, "float32"))[0], [1])
