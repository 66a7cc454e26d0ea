"""The group: help, unknown commands, exit codes, no traceback for a user's mistake."""

import subprocess
import sys

import pytest

from rlx import errors
from rlx.cli import app
from tests.cli.conftest import MLP


def test_help_lists_every_command_with_what_it_does(rlx):
    done = rlx("--help")
    assert done.code == 0
    for name, text in app.COMMANDS.items():
        assert name in done.out
        assert text in done.out


@pytest.mark.parametrize("name", app.COMMANDS)
def test_every_command_has_help_with_an_example(rlx, name):
    done = rlx(name, "--help")
    assert done.code == 0
    assert f"rlx {name}" in done.out


def test_an_unknown_command_names_the_nearest(rlx):
    done = rlx("bakends")
    assert done.code == 2
    assert "no command 'bakends'. Fix: did you mean 'rlx backends'?" in done.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["backends"], 0),
        (["explain", MLP], 0),
        (["validate", "absent.yaml"], 1),
        (["schema", "--check", "--folder", "nowhere"], 1),
        (["explain", "absent.onnx"], 2),
        (["run", MLP], 2),
        (["explain", MLP, "--device", "cuda:01"], 2),
        (["explain", MLP, "--device", "cude"], 2),
        (["explain", MLP, "--backend", "nunpy"], 2),
        (["explain", MLP, "--format", "xml"], 2),
        (["explain", MLP, "--device", "metal"], 3),
        (["run", MLP, "--random", "--device", "metal"], 3),
        (["backends", "--config", "absent.yaml"], 4),
    ],
)
def test_exit_codes(rlx, arguments, code):
    assert rlx(*arguments).code == code


@pytest.mark.parametrize(("name", "value"), [("RLX_DEVICE", "'cuda'"), ("RLX_DEVCE", "cuda")])
def test_a_bad_variable_is_exit_code_2(rlx, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    done = rlx("explain", MLP)
    assert done.code == 2
    assert "Fix: " in done.err


def test_a_broken_configuration_is_exit_code_4_and_never_a_fallback(rlx, manifest):
    manifest("overrides: [{id: numpy, rank: high}]")
    done = rlx("run", MLP, "--random")
    assert done.code == 4
    assert done.out == ""
    assert done.err.startswith("backends.yaml:3:31: rank must be an integer from 0 to 4294967295")


def test_every_error_class_has_an_exit_code():
    kinds = {one for one in vars(errors).values() if isinstance(one, type)}
    for kind in (one for one in kinds if issubclass(one, errors.RlxError)):
        assert any(issubclass(kind, known) for known, _ in app.EXIT_CODES)


@pytest.mark.parametrize("arguments", [["backends"], ["explain", MLP], ["env"]])
def test_an_error_is_a_document_where_json_is_asked_for(rlx, manifest, arguments):
    manifest("overrides: [{id: nunpy, rank: 1}]")
    done = rlx(*arguments, "--json")
    assert done.code == 4
    assert done.json["error"]["code"] == "config"
    assert done.json["error"]["faults"][0]["line"] == 3


@pytest.mark.parametrize(
    "arguments",
    [["bakends"], ["explain"], ["run", "--nope"], ["devices", "--bogus"], ["demo", "vgg"]],
)
def test_a_mistake_in_the_command_line_is_a_document_as_well(rlx, arguments):
    done = rlx(*arguments, "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "usage"
    assert done.json["error"]["fix"]
    text = rlx(*arguments).err
    assert text.startswith("Usage: rlx")
    assert "Fix: " in text


def test_an_interrupt_is_exit_code_130(rlx, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("rlx.cli.options.registry", interrupted)
    done = rlx("backends")
    assert (done.code, done.err.strip()) == (130, "interrupted")


def test_a_console_that_is_not_utf8_gets_ascii(tmp_path):
    name = "модель.onnx"
    done = subprocess.run(
        [sys.executable, "-m", "rlx", "explain", name],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(app.__file__).rsplit("rlx", 2)[0]},
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr.decode("ascii").startswith("\\u043c\\u043e\\u0434")
    assert b"Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error():
    command = f'"{sys.executable}" -m rlx schema backends | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")
