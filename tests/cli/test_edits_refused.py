"""`rlx rank`, `enable`, `disable`: what they refuse, with nothing written."""

import pytest

from tests.cli.conftest import SHORT

ROOM = "check the path, its permissions, and the room that is left."


def test_without_a_free_rank_it_says_what_has_to_move(rlx, file):
    before = file("overrides:\n  - {id: numpy, rank: 101}\n")
    done = rlx("rank", "reference", "--after", "onnxruntime-cpu")
    assert (done.code, done.err) == (
        1,
        "no rank is free for reference between onnxruntime-cpu (100) and numpy (101). "
        "Fix: make room first: `rlx rank numpy --to 102`.\n",
    )
    assert file() == before
    assert rlx("rank", "numpy", "--to", "102").code == 0
    assert rlx("rank", "reference", "--after", "onnxruntime-cpu").code == 0
    file("overrides:\n  - {id: onnxruntime-cpu, rank: 0}\n")
    assert rlx("rank", "numpy", "--before", "onnxruntime-cpu").err == (
        "no rank is free for numpy before onnxruntime-cpu (0). "
        "Fix: make room first: `rlx rank onnxruntime-cpu --to 1`.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rank", "numpy"), "one of --before, --after and --to is needed. Fix: give just one."),
        (
            ("rank", "numpy", "--to", "1", "--before", "reference"),
            "--before and --to exclude each other. Fix: give just one.",
        ),
        (
            ("rank", "numpy", "--to", "1", "--after", "numpy", "--before", "reference"),
            "--before, --after and --to exclude each other. Fix: give just one.",
        ),
        (
            ("rank", "numpy", "--to", "x"),
            "Invalid value for '--to': must be an integer from 0 to 4294967295, got 'x'. "
            "Fix: see `rlx rank --help`.",
        ),
        (
            ("rank", "numpy", "--to", "-1"),
            "Invalid value for '--to': must be an integer from 0 to 4294967295, got '-1'. "
            "Fix: see `rlx rank --help`.",
        ),
        (
            ("rank", "numpy", "--to", "4294967296"),
            "Invalid value for '--to': must be an integer from 0 to 4294967295, "
            "got '4294967296'. "
            "Fix: see `rlx rank --help`.",
        ),
        (
            ("rank", "numpy", "--after", "numpy"),
            "numpy can't stand after itself. Fix: name another backend.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(rlx, arguments, message):
    done = rlx(*arguments)
    assert (done.code, done.err.splitlines()[-1]) == (2, f"rlx: {message}")


@pytest.mark.parametrize(
    "arguments",
    [
        ("rank", "nunpy", "--to", "1"),
        ("rank", "numpy", "--before", "nunpy"),
        ("enable", "nunpy"),
        ("disable", "nunpy"),
    ],
)
def test_an_unknown_backend_is_refused_with_the_nearest(rlx, tmp_path, arguments):
    done = rlx(*arguments)
    assert (done.code, done.err) == (
        2,
        "no backend 'nunpy' is registered. Fix: did you mean numpy?\n",
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (
            "overrides: [{id: numpy, rank: high}]\n",
            "backends.yaml:3:31: rank must be an integer from 0 to 4294967295, got 'high'. "
            "Fix: write a number, such as 5.",
        ),
        (
            "overrides: [{id: nunpy, rank: 3}]\n",
            "backends.yaml:3:18: override of unknown backend 'nunpy'. Fix: did you mean 'numpy'? "
            "If a plugin shipped it, install the plugin again, or delete the override.",
        ),
        (
            "overrides: [\n",
            "backends.yaml:4:1: a value is missing here, got the end of the line. "
            "Fix: write the value, or quote it.",
        ),
    ],
)
def test_a_broken_file_is_left_alone_with_the_faults_of_validate(rlx, file, body, fault):
    before = file(body)
    done = rlx("rank", "numpy", "--to", "1")
    assert (done.code, done.out, done.err) == (4, "", f"{fault}\n")
    assert fault.removesuffix("\n") in rlx("validate", "backends.yaml").out
    assert file() == before


def test_an_edit_that_would_break_the_file_is_refused(rlx, file, tmp_path, monkeypatch):
    (tmp_path / "top.yaml").write_text(
        f"{SHORT}backends: [{{id: late, device: cpu, rank: 3}}]\n", encoding="utf-8"
    )
    monkeypatch.setenv("RLX_CONFIG", "top.yaml")
    before = file("overrides: []\n")
    done = rlx("disable", "late", "--file", "backends.yaml")
    assert (done.code, done.err) == (
        4,
        "backends.yaml:3:18: override of unknown backend 'late'. "
        "Fix: write one of: numpy, onnxruntime-cpu, reference. "
        "If a plugin shipped it, install the plugin again, or delete the override.\n",
    )
    assert file() == before


def test_a_file_that_changed_meanwhile_is_left_alone(rlx, file, tmp_path, monkeypatch):
    from rlx.cli import targets

    registry = targets.Target.registry

    def slow(self, data):
        file("# another hand\n")
        return registry(self, data)

    file("overrides: []\n")
    monkeypatch.setattr(targets.Target, "registry", slow)
    done = rlx("disable", "numpy")
    assert (done.code, done.err) == (
        1,
        "backends.yaml was changed by somebody else meanwhile, and is left as it is. "
        "Fix: run the command again.\n",
    )
    assert file() == f"{SHORT}# another hand\n"
    (tmp_path / "backends.yaml").unlink()
    assert rlx("disable", "numpy").err == done.err


def test_what_can_not_be_written_is_as_it_was(rlx, file, tmp_path, monkeypatch):
    before = file("overrides: []\n")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = rlx("disable", "numpy")
    place = tmp_path / "backends.yaml"
    message = f"[Errno 28] No space left on device: '{place}'"
    assert (done.code, done.err) == (1, f"rlx: {message}. Fix: {ROOM}\n")
    assert file() == before
    assert [path.name for path in tmp_path.iterdir()] == ["backends.yaml"]


@pytest.mark.parametrize(
    ("name", "text", "code", "message"),
    [
        (
            "backends.yml",
            SHORT,
            1,
            "backends.yml is not read: rlx reads names that end in .yaml. "
            "Fix: rename it, or name another file.",
        ),
        (
            "backends.yaml",
            "services: []\n",
            4,
            "backends.yaml:1:1: 'apiVersion' is missing from this manifest. "
            "Fix: add it, such as 'apiVersion: rlx/v1'.\n"
            "backends.yaml:1:1: 'kind' is missing from this manifest. "
            "Fix: add it, such as 'kind: Backends'.",
        ),
        (
            "rlx.yaml",
            "apiVersion: rlx/v1\nkind: Coverage\nevidence: {kind: declared}\nrows: []\n",
            1,
            "rlx.yaml is a manifest of kind Coverage: it sets nothing of a backend. "
            "Fix: name a manifest of kind Backends.",
        ),
    ],
)
def test_a_file_that_is_no_manifest_of_backends_is_left_alone(
    rlx, tmp_path, name, text, code, message
):
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = rlx("disable", "numpy")
    assert (done.code, done.err) == (code, f"{message}\n")
    assert (tmp_path / name).read_text(encoding="utf-8") == text
