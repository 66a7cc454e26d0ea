"""Runs the command line in this process, from a folder of its own, and checks every `--json`."""

import json
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import pytest

from rlx import resources
from rlx.cli import app, documents
from rlx.conformance import conform, measure
from rlx.conformance.cases import Case
from rlx.session import default

PROJECT = Path(__file__).parents[2]
PROGRAM = '<ir_version: 10, opset_import: ["" : 21]> '
RELU = PROGRAM + "f (float[2] x) => (float[2] y) { y = Relu(x) }"
SHORT = "apiVersion: rlx/v1\nkind: Backends\n"
SHIPPED = resources.configs
MLP = str(PROJECT / "examples" / "mlp.onnxtxt")


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def rlx(capsys, monkeypatch, tmp_path, three_backends):
    """`rlx("backends", "--json")` runs the command line; JSON is checked against its schema.

    The packaged backends are the three of `tests/three_backends.yaml`.
    """
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["rlx", *arguments])
        default.forget()
        code = app.run(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        done = Done(code, out, err)
        if "--json" in arguments:
            known = documents.documents()
            own = {"explain": "route"}.get(arguments[0], f"{arguments[0]}-output")
            name = "error" if "error" in done.json else own
            jsonschema.validate(done.json, known[name])
        return done

    return run


@pytest.fixture
def shipped(three_backends, monkeypatch):
    """The packaged layer is the one that rlx ships after all; returns its folder."""
    monkeypatch.setattr(resources, "configs", SHIPPED)
    return SHIPPED()


@pytest.fixture
def manifest(tmp_path):
    """Writes a manifest of kind Backends into the folder where commands run."""

    def write(body, name="backends.yaml"):
        path = tmp_path / name
        path.write_text(f"apiVersion: rlx/v1\nkind: Backends\n{body}\n", encoding="utf-8")
        return name

    return write


@pytest.fixture
def sides(manifest, tmp_path):
    """Writes old.yaml and new.yaml, and a program beside them."""

    def write(old, new, program=RELU, name="p.onnxtxt"):
        manifest(old, "old.yaml")
        manifest(new, "new.yaml")
        (tmp_path / name).write_text(program, encoding="utf-8")

    return write


@pytest.fixture
def file(tmp_path):
    """`file(body)` writes a manifest, its first line being line 3; `file()` reads it as it is."""

    def use(body=None, name="backends.yaml"):
        path = tmp_path / name
        if body is not None:
            path.write_bytes(f"{SHORT}{body}".encode())
        return path.read_bytes().decode()

    return use


def case(operation, expected):
    text = f"g (float[2] x) => (float[2] y) {{ y = {operation}(x) }}"
    model = onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 21]> {text}')
    return Case(
        operation.lower(), "node", lambda: (model, [np.array([1.0, 2.0], np.float32)], [expected])
    )


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A suite of three cases, which are not varied; what is kept of them is not the user's."""
    monkeypatch.setenv("RLX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(conform, "literal_trials", dict)
    expected = {"Abs": [1.0, 2.0], "Neg": [-1.0, -2.0], "Sign": [1.0, 1.0]}
    cases = [case(name, np.array(value, np.float32)) for name, value in expected.items()]
    monkeypatch.setattr(conform, "load_cases", lambda: cases)
    for name in ("variants", "cornered", "extreme"):
        monkeypatch.setattr(measure, name, lambda *_: ())
    monkeypatch.setattr(measure, "literal_trials", dict)
