"""Every way to be refused is a document with `--json`, a line without, and never raw text."""

import json
import os

import pytest

from tests.cli.conftest import MLP

HELP = "see `rlx {} --help`."
ROOM = "check the path, its permissions, and the room that is left."


@pytest.mark.parametrize(
    ("arguments", "message", "fix"),
    [
        (["run"], "Missing argument 'PROGRAM'", HELP.format("run")),
        (["run", MLP, "--seed", "-1"],
         "Invalid value for '--seed': must be an integer of 0 or more, got '-1'",
         HELP.format("run")),
        (["run", MLP, "--repeat", "x"],
         "Invalid value for '--repeat': must be an integer of 1 or more, got 'x'",
         HELP.format("run")),
        (["run", MLP, "--size", "a=1"], "--size is for --random", "add --random, or drop --size."),
        (["explain", MLP, "x\x1b[31m\u2028y\u200b"],
         r"Got unexpected extra argument (x\x1b[31m y\u200b)", HELP.format("explain")),
        (["explain", MLP, "--no-probe", "--facts", ""],
         "--no-probe and --facts exclude each other", "drop one of them."),
        (["explain", MLP, "--format"], "Option '--format' requires an argument",
         "see `rlx --help`."),
        (["backends", "x"], "Got unexpected extra argument (x)", HELP.format("backends")),
        (["validate", ""], "no .yaml file is below .", "name a manifest."),
        (["init", "--nowhere"], "No such option '--nowhere'", HELP.format("init")),
        (["env", "x"], "Got unexpected extra argument (x)", HELP.format("env")),
    ],
)  # fmt: skip
def test_bad_usage_is_said_with_what_to_do(rlx, arguments, message, fix):
    message = message.rstrip(".")  # of a path
    plain = rlx(*arguments)
    assert (plain.code, plain.out) == (2, "")
    assert plain.err.endswith(f"rlx: {message}. Fix: {fix}\n")
    command, *rest = arguments
    done = rlx(command, "--json", *rest)
    assert (done.code, done.err) == (2, "")
    assert done.json["error"] == {"code": "usage", "message": message, "fix": fix, "source": None}


def test_no_command_at_all_is_bad_usage_and_shows_the_help(rlx):
    done = rlx()
    assert (done.code, done.out) == (2, "")
    assert done.err == rlx("--help").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", MLP, "--random", "--output-dir", "file/x"],
         "[Errno 20] Not a directory: 'file/x'"),
        (["init", "file/x.yaml"], "[Errno 20] Not a directory: 'file/x.yaml'"),
        (["schema", "--write", "--folder", "file"], "[Errno 17] File exists: 'file'"),
    ],
)  # fmt: skip
def test_what_the_system_refuses_is_a_no(rlx, tmp_path, arguments, message):
    (tmp_path / "file").touch()
    plain = rlx(*arguments)
    assert (plain.code, plain.out, plain.err) == (1, "", f"rlx: {message}. Fix: {ROOM}\n")
    done = rlx(*arguments, "--json")
    assert (done.code, done.err) == (1, "")
    assert done.json["error"] == {"code": "system", "message": message, "fix": ROOM, "source": None}


def test_too_little_memory_is_a_no(rlx, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("rlx.cli.options.registry", full)
    done = rlx("backends")
    assert (done.code, done.err) == (1, f"rlx: there is not enough memory. Fix: {ROOM}\n")


def test_init_says_as_json_what_it_wrote(rlx, tmp_path):
    assert rlx("init", "--json").json == {"file": "backends.yaml"}
    assert (tmp_path / "backends.yaml").is_file()


FACT = {
    "backend": "numpy",
    "device": "cpu",
    "index": 0,
    "available": True,
    "reason": None,
    "fix": None,
    "software": False,
    "detail": "",
    "source": None,
}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ([], "expected an object, got []"),
        ({"facts": "abc"}, "expected a list of facts, got 'abc'"),
        ({"facts": {"a": 1}}, "expected a list of facts, got {'a': 1}"),
        ({"facts": [None]}, "expected a fact, got None"),
        ({"facts": [{}]}, "'backend' is missing"),
        ({"facts": [FACT, FACT]}, "'numpy' has two facts at index 0"),
        ({"facts": [{**FACT, "index": True}]}, "expected an index, got True"),
        ({"facts": [{**FACT, "index": 1.0}]}, "expected an index, got 1.0"),
        ({"facts": [{**FACT, "index": -1}]}, "expected an index from 0 to 65535, got -1"),
        ({"facts": [{**FACT, "available": 1}]}, "expected true or false, got 1"),
        ({"facts": [{**FACT, "detail": None}]}, "expected text, got None"),
        ({"facts": [{**FACT, "available": False}]}, "expected text, got None"),
    ],
)
def test_a_facts_file_is_judged_to_the_last_fact(rlx, tmp_path, document, why):
    (tmp_path / "f.json").write_text(json.dumps(document), encoding="utf-8")
    done = rlx("explain", MLP, "--facts", "f.json", "--json")
    assert done.code == 2
    assert done.json["error"]["message"] == f"f.json is not a facts file: {why}"


def test_a_folder_that_cannot_be_listed_is_not_passed_over(rlx, tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "c.yml").write_text("apiVersion: rlx/v1\nkind: Backends\n", encoding="utf-8")
    assert rlx("validate", "a").out == "1 file checked: no faults\n"
    listed = os.scandir

    def scandir(folder):
        if str(folder).endswith("b"):
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr("os.scandir", scandir)
    done = rlx("validate", "a")
    assert done.err == f"rlx: [Errno 13] Permission denied: 'a/b'. Fix: {ROOM}\n"
    assert done.code == 1
