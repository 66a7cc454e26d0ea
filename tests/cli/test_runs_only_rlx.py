"""No command that reads or edits a hostile manifest runs, loads or opens anything it names.

Every audited event is looked at, not only those that a name appears in: whatever is opened lies
in the project, among its layers, or where Python and its packages are.
"""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from rlx.manifest import layers, trust
from rlx.manifest.discovery import LayerPath
from tests.cli.conftest import MLP, PROJECT

MANIFEST = """\
apiVersion: rlx/v1
kind: Backends
devices:
  - {id: planted, name: Planted}
backends:
  - id: mine
    device: cpu
    rank: 1
    dispatches: true
    factory: "planted:open_it"
    payload_format: planted
    compiler: "planted.inner:compile_it"
    materializer: "planted:materialize"
    probes:
      - {call: "planted:probe"}
      - {library: ./planted.so}
      - {library: planted.so}
      - {module: planted, version: ">=1"}
      - {path: /planted/device}
    coverage: coverage/mine.yaml
    options: {library: ./planted.so, path: /planted/secret}
    install: "python -m planted"
overrides:
  - {id: numpy, probes: [{call: "planted:probe"}], options: {planted: /planted/secret}}
"""
COVERAGE = """\
apiVersion: rlx/v1
kind: Coverage
evidence: {kind: declared, engine: planted}
rows: [{operations: [Add, MatMul, Relu, Softmax, Gemm], types: {T: [float32]}}]
"""
WATCH = """\
import json, sys
seen, results = [], []
def hook(event, details):
    if event == "exec":
        seen.append([event, details[0].co_filename])
    elif event in WATCHED:
        seen.append([event, *[repr(one) for one in details[:1]]])
commands, WATCHED = json.loads(sys.argv[1])
sys.addaudithook(hook)
from rlx.cli.app import run
from rlx.session import default
for command in commands:
    default.forget()
    code = run(command)
    results.append([code, seen[:]])
    seen.clear()
with open(sys.argv[2], "w") as file:
    json.dump(results, file)
"""
RUNS = (
    *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn"),
    *("os.spawn", "os.startfile", "pty.spawn", "socket.connect", "webbrowser.open"),
)
LOADS = ("import", "compile", "ctypes.dlopen", "open")
COMMANDS: tuple[tuple[list[str], int, int], ...] = (
    (["validate"], 1, 0),
    (["validate", "--format", "sarif", "backends.yaml"], 0, 0),
    (["backends"], 4, 0),
    (["backends", "--why", "mine"], 4, 0),
    (["env"], 4, 0),
    (["schema", "backends"], 0, 0),
    (["init", "new.yaml"], 0, 0),
    (["explain", MLP, "--no-probe"], 4, 0),
    (["explain", MLP, "--no-probe", "--all"], 4, 0),
    (["rank", "mine", "--before", "numpy", "--dry-run"], 0, 0),
    (["trust", "--list"], 0, 0),
    (["trust"], 0, 0),
    (["trust", "--revoke", "backends.yaml"], 0, 0),
    (["disable", "mine"], 0, 0),
)
"""Each with its exit code in a project that is not trusted, and in one that is."""


def planted(project):
    """A project whose modules and libraries leave a trace when they run or are opened."""
    (project / "coverage").mkdir(parents=True)
    (project / "backends.yaml").write_text(MANIFEST, encoding="utf-8")
    (project / "coverage" / "mine.yaml").write_text(COVERAGE, encoding="utf-8")
    trace = f"open({str(project / 'trace')!r}, 'w').close()\n"
    (project / "planted").mkdir()
    for name in ("__init__", "inner", "__main__"):
        (project / "planted" / f"{name}.py").write_text(trace, encoding="utf-8")
    (project / "planted.so").write_bytes(b"\x7fELF")


def watched(project, state, *commands):
    """Of each command, in one process: the exit code, and every audited event."""
    env = {**os.environ, "XDG_STATE_HOME": str(state), "PYTHONDONTWRITEBYTECODE": "1"}
    env["PYTHONPATH"] = os.pathsep.join([str(PROJECT), str(project)])
    what, results = json.dumps([commands, [*RUNS, *LOADS]]), project.parent / "results.json"
    script = [sys.executable, "-c", WATCH, what, str(results)]
    subprocess.run(script, capture_output=True, cwd=project, env=env, check=True)
    return json.loads(results.read_text(encoding="utf-8"))


def allowed(project, state):
    """Where a command may open files: the layers, Python, its packages, and rlx."""
    places = {Path(one) for one in sysconfig.get_paths().values()}
    places |= {Path(one).resolve() for one in places}
    places |= {Path(sys.prefix), Path(sys.base_prefix), PROJECT, state}
    files = {"backends.yaml", "coverage/mine.yaml", "new.yaml"}
    return places, {project / name for name in files}


def offences(seen, project, state):
    """The events that should not have been."""
    places, files = allowed(project, state)
    for event, *details in seen:
        detail = details[0] if details else ""
        named = event in ("import", "exec", "compile") and "planted" in detail
        loaded = event == "ctypes.dlopen" and detail != "None"  # None: Python itself
        if event in RUNS or named or loaded:
            yield event, detail
        elif event == "open" and detail[:1] in "'\"":
            path = Path(os.path.normpath(project / detail[1:-1]))
            temporary = path.parent == project and path.suffix == ".tmp"
            inside = any(path.is_relative_to(place) for place in places)
            system = path.is_relative_to("/proc") or path.is_relative_to("/sys")
            if not (inside or system or temporary or path in files or path.name == "null"):
                yield event, str(path)


@pytest.mark.parametrize("trusted", [False, True], ids=["untrusted", "trusted"])
def test_nothing_runs_and_nothing_else_is_opened(tmp_path, monkeypatch, trusted):
    project, state = tmp_path / "project", tmp_path / "state"
    planted(project)
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    if trusted:
        file = project / "backends.yaml"
        trust.record(layers.load([LayerPath("argument", file, "backends.yaml")]).manifests[0])
    results = watched(project, state, *(command for command, *_ in COMMANDS))
    for (command, *codes), (code, seen) in zip(COMMANDS, results, strict=True):
        assert (command, list(offences(seen, project, state))) == (command, [])
        assert (command, code) == (command, codes[trusted])
    assert not (project / "trace").exists()


def test_the_watch_sees_what_probes_do(tmp_path):
    project, state = tmp_path / "project", tmp_path / "state"
    planted(project)
    _, (code, seen) = watched(project, state, ["trust"], ["devices"])
    assert code == 0
    assert list(offences(seen, project, state))
    assert (project / "trace").exists()
