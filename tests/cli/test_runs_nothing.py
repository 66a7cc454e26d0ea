"""Validating, listing and explaining without probes run nothing that a manifest names."""

import json
import os
import subprocess
import sys

import pytest

from tests.cli.conftest import MLP, PROJECT

MANIFEST = """\
apiVersion: rlx/v1
kind: Backends
backends:
  - id: numpy
    replace: true
    device: cpu
    rank: 0
    dispatches: true
    factory: "planted:open_it"
    payload_format: planted
    compiler: "planted:compile_it"
    materializer: "planted:materialize"
    probes: [{call: "planted:probe"}, {library: planted.so}, {module: planted, version: ">=1"}]
    options: {path: planted.so}
"""
WATCH = """\
import json, sys
seen = []
RUNS = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
def hook(event, details):
    named = event in ("import", "open", "ctypes.dlopen") and "planted" in str(details[0])
    if (named and "planted.yaml" not in str(details[0])) or event in RUNS:
        seen.append(event)
sys.addaudithook(hook)
from rlx.cli.app import run
code = run(sys.argv[1:])
print(json.dumps([code, seen]))
"""


def watched(tmp_path, arguments):
    """The exit code, and every event in which something that the manifest names takes part."""
    (tmp_path / "planted.yaml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "planted.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    paths = os.pathsep.join([str(PROJECT), str(tmp_path)])
    done = subprocess.run(
        [sys.executable, "-c", WATCH, *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "planted.yaml"],
        ["backends", "--config", "planted.yaml"],
        ["backends", "--config", "planted.yaml", "--why", "numpy"],
        ["env", "--config", "planted.yaml"],
        ["explain", MLP, "--config", "planted.yaml", "--no-probe"],
        ["explain", MLP, "--config", "planted.yaml", "--no-probe", "--all", "--backend", "numpy"],
        ["schema", "backends"],
    ],
)
def test_nothing_that_is_named_runs(tmp_path, arguments):
    assert watched(tmp_path, arguments) == [3 if "--backend" in arguments else 0, []]


def test_the_watch_sees_what_probes_do(tmp_path):
    code, seen = watched(tmp_path, ["devices", "--config", "planted.yaml"])
    assert code == 0
    assert seen
