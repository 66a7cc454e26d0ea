"""What `rlx backends` says of plugins: which take part, why the others don't, where they belong."""

import json
import sys

import jsonschema
import pytest

from rlx import resources
from rlx.cli import app
from tests.plugins.conftest import backend


def rlx(capsys, *arguments):
    code = app.run(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def listed(capsys):
    code, out, _ = rlx(capsys, "backends", "--json")
    document = json.loads(out)
    schema = json.loads((resources.schemas() / "backends-output.schema.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
    assert code == 0
    return document


def test_a_plugin_is_listed_with_its_files(site, capsys):
    site.plugin("backends:\n" + backend("acme"))
    assert listed(capsys)["plugins"] == [
        {
            "name": "acme-backend",
            "version": "1.0",
            "active": True,
            "reason": None,
            "files": ["plugin acme-backend 1.0 backends.yaml"],
            "faults": [],
        }
    ]


def test_a_broken_one_is_listed_with_every_fault(site, capsys):
    site.plugin("backends:\n  - {id: acme, device: cpu, rnak: 1, targte: x}\n")
    (one,) = listed(capsys)["plugins"]
    assert (one["active"], one["reason"]) == (False, "2 faults, shown as warnings")
    assert [(fault["code"], fault["column"]) for fault in one["faults"]] == [
        ("unknown-key", 29),
        ("unknown-key", 38),
    ]
    _, out, _ = rlx(capsys, "backends")
    assert out.splitlines()[-3:] == [
        "plugin acme-backend 1.0 takes no part: 2 faults, shown as warnings",
        "warning: plugin acme-backend 1.0 backends.yaml:4:29: unknown key 'rnak'. "
        "Fix: did you mean 'rank'?",
        "warning: plugin acme-backend 1.0 backends.yaml:4:38: unknown key 'targte'. "
        "Fix: did you mean 'target'?",
    ]


def test_those_that_a_variable_leaves_out_are_listed_with_it(site, capsys, monkeypatch):
    site.plugin("backends:\n" + backend("acme"))
    monkeypatch.setenv("RLX_CONFIG_ONLY", "1")
    (one,) = listed(capsys)["plugins"]
    assert (one["active"], one["reason"]) == (False, "RLX_CONFIG_ONLY leaves plugins out")


def test_validating_what_is_in_force_shows_a_broken_plugin_as_a_warning(site, capsys):
    site.plugin("backends: 3\n")
    code, out, _ = rlx(capsys, "validate")
    assert code == 0
    assert "plugin acme-backend 1.0 backends.yaml:3:11: backends must be a list, got 3" in out
    assert rlx(capsys, "validate", "--strict")[0] == 1


@pytest.mark.usefixtures("three_backends")
@pytest.mark.parametrize("body", ["backends: 3\n", None])
def test_an_unknown_backend_says_where_its_plugin_belongs(site, capsys, monkeypatch, body):
    monkeypatch.setattr(sys, "path", [*sys.path[:1], "/opt/site-packages", *sys.path[1:]])
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "/opt/" in p or "-pack" not in p])
    inactive = ""
    if body is not None:
        site.plugin(body)
        inactive = "; plugin acme-backend 1.0 is installed, but not used: `rlx backends` says why"
    code, _, err = rlx(capsys, "backends", "--why", "acme")
    assert code == 2
    assert err.splitlines()[-1] == (
        f"no backend 'acme' is registered{inactive}. Fix: choose one of: onnxruntime-cpu, numpy, "
        "reference; or install its plugin into /opt/site-packages."
    )
