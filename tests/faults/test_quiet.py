"""Routing is quiet: it imports no engine, starts no driver, and leaves a process that can fork."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rlx

PROJECT = Path(rlx.__file__).parents[1]
BEGIN = """
import json, os, sys
import numpy as np
import onnx.parser
import rlx
from rlx.registries import Registry

program = rlx.load(onnx.parser.parse_model('''<ir_version: 10, opset_import: ["" : 21]>
tiny (float[1,2] x) => (float[1,2] y) { y = Relu(x) }'''))
registry = Registry.load(only=True)
engines = {probe.values[0] for one in registry.registrations for probe in one.probes
           if probe.kind == "module"}
imported, opened = [], []

def heard(event, arguments):
    if event == "import":
        imported.append(arguments[0].partition(".")[0])
    elif event == "ctypes.dlopen":
        opened.append(str(arguments[0]))

sys.addaudithook(heard)
"""
DRIVERS = ("libcuda", "libnvidia", "libamdhip", "libhsa", "libze_", "libOpenCL", "libvulkan")
END = f"""
mapped = open("/proc/self/maps").read() if os.path.exists("/proc/self/maps") else ""
started = [name for name in {DRIVERS} if name in mapped or any(name in one for one in opened)]
print(json.dumps([sorted(engines & set(imported)), started, found]))
"""


def run(script, **environment):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + script + END],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


ROUTE = "found = rlx.route(program).backend\n"
ALL = "found = rlx.route(program, evaluate_all=True).backend\n"
RUN = """
with rlx.Session() as session:
    model = session.compile(program)
    model(np.ones((1, 2), np.float32))
    found = model.backend
"""


@pytest.mark.parametrize("script", [ROUTE, ALL], ids=["route", "evaluate_all"])
def test_routing_imports_no_engine_and_starts_no_driver(script):
    imported, started, chosen = run(script)
    assert (imported, started) == ([], [])
    assert chosen is not None


@pytest.mark.parametrize(
    "backend", ["numpy", pytest.param("onnxruntime-cpu", marks=pytest.mark.needs("onnxruntime"))]
)
def test_running_imports_only_the_engine_that_was_chosen(backend):
    imported, started, chosen = run(RUN, RLX_BACKEND=backend)
    assert chosen == backend
    assert imported == ([] if backend == "numpy" else ["onnxruntime"])
    assert started == []


def test_the_audit_hears_an_import():
    imported, _, _ = run(
        "import importlib\nengines.add('colorsys')\nimport colorsys\nfound = None\n"
    )
    assert imported == ["colorsys"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_routing_a_forked_child_routes_and_runs():
    script = f"""
{ROUTE}
sys.stdout.flush()
child = os.fork()
if child == 0:
    import signal
    signal.alarm(60)
    with rlx.Session(backend="numpy") as session:
        (y,) = session.compile(program)(np.ones((1, 2), np.float32))
    os._exit(7 if rlx.route(program).backend == found and y.tolist() == [[1, 1]] else 1)
found = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""
    imported, started, code = run(script)
    assert (imported, started, code) == ([], [], 7)
