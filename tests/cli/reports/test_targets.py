"""Files, folders, patterns and standard input: what `rlx validate` checks."""

import io
import os

import pytest

GOOD = "apiVersion: rlx/v1\nkind: Backends\n"
BAD = f"{GOOD}overrides: [{{id: numpy, rank: high}}]\n"


@pytest.fixture
def tree(tmp_path):
    """A repository with two teams, a hidden folder and a file that is no manifest."""
    for name in ("a/backends.yaml", "a/b/backends.yaml", "a/other.yaml", ".h/backends.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GOOD, encoding="utf-8")
    (tmp_path / "a" / "notes.txt").write_text("", encoding="utf-8")


@pytest.fixture
def stdin(monkeypatch):
    """Gives standard input this content."""

    def give(content):
        stream = io.TextIOWrapper(io.BytesIO(content))
        monkeypatch.setattr("sys.stdin", stream)

    return give


def checked(rlx, *paths):
    found = rlx("validate", *paths, "--json").json["checked"]
    return [path.replace(os.sep, "/") for path in found]


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        (["a/backends.yaml"], ["a/backends.yaml"]),
        (["**/backends.yaml"], ["a/b/backends.yaml", "a/backends.yaml"]),
        (["a/*.yaml"], ["a/backends.yaml", "a/other.yaml"]),
        (["[a]"], ["a/b/backends.yaml", "a/backends.yaml", "a/other.yaml"]),
        (["a", "a/other.yaml", "a/*"], ["a/b/backends.yaml", "a/backends.yaml", "a/other.yaml"]),
        (["."], ["a/b/backends.yaml", "a/backends.yaml", "a/other.yaml"]),
        ([".h"], [".h/backends.yaml"]),
        (["?h/*"], None),
        ([".h/*"], [".h/backends.yaml"]),
    ],
)
def test_patterns_are_expanded_where_the_shell_left_them(rlx, tree, paths, files):
    if files is None:
        assert rlx("validate", *paths).code == 2
    elif "a/*" in paths:  # a file that is no manifest was asked for
        assert set(checked(rlx, *paths)) == {*files, "a/notes.txt"}
    else:
        assert checked(rlx, *paths) == files


def test_no_match_is_an_error(rlx, tree):
    done = rlx("validate", "**/nope.yaml", "--format", "sarif")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(
        "rlx: no file matches '**/nope.yaml'. Fix: correct the pattern; `**` stands for any "
        "folders, except those whose name begins with a dot.\n"
    )


def test_a_file_whose_name_looks_like_a_pattern_is_itself(rlx, tmp_path):
    (tmp_path / "a[1].yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "a1.yaml").write_text(GOOD, encoding="utf-8")
    assert checked(rlx, "a[1].yaml") == ["a[1].yaml"]


def test_standard_input_is_a_file_of_that_name(rlx, stdin):
    stdin(BAD.encode())
    done = rlx("validate", "-")
    assert done.code == 1
    assert done.out == (
        "<stdin>:3:31: rank must be an integer from 0 to 4294967295, got 'high'. "
        "Fix: write a number, such as 5.\n"
        "  3 | overrides: [{id: numpy, rank: high}]\n"
        "    |                               ^^^^\n"
        "1 file checked: 1 error\n"
    )
    stdin(BAD.encode())
    out = rlx("validate", "-", "--stdin-name", "team/backends.yaml").out
    assert out.startswith("team/backends.yaml:3:31: rank must be")


def test_coverage_is_looked_for_beside_the_name_of_standard_input(rlx, stdin, tmp_path):
    (tmp_path / "team").mkdir()
    body = f"{GOOD}backends: [{{id: mine, device: cpu, coverage: c.yaml}}]\n"
    stdin(body.encode())
    out = rlx("validate", "-", "--stdin-name", "team/backends.yaml").out
    assert out.startswith("team/backends.yaml:3:46: the coverage file 'c.yaml' is not there.")
    coverage = "apiVersion: rlx/v1\nkind: Coverage\nbackend: mine\nrows: []\n"
    (tmp_path / "team" / "c.yaml").write_text(coverage, encoding="utf-8")
    stdin(body.encode())
    assert "is not there" not in rlx("validate", "-", "--stdin-name", "team/backends.yaml").out


def test_a_warning_of_standard_input_is_shown(rlx, stdin):
    stdin(f"{GOOD}overrides: [{{id: numpy, rank: 100}}]\n".encode())
    assert rlx("validate", "-").out.endswith("1 file checked: 1 warning\n")


def test_a_name_without_standard_input_is_bad_usage(rlx):
    done = rlx("validate", "a.yaml", "--stdin-name", "b.yaml")
    assert done.code == 2
    assert done.err.endswith("rlx: --stdin-name names standard input. Fix: add `-`, or drop it.\n")


def test_a_closed_standard_input_is_bad_usage(rlx, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    done = rlx("validate", "-")
    assert done.code == 2
    assert done.err.endswith("rlx: standard input is closed. Fix: pipe a manifest into it.\n")


def test_standard_input_that_is_too_long_is_refused(rlx, stdin):
    stdin(b"#" * (1 << 20) + b"##")
    out = rlx("validate", "-").out
    assert out.startswith("<stdin>: a manifest may have 1048576 bytes, got more.")


def test_files_are_judged_apart(rlx, manifest):
    """Two files that each register one id are no conflict: each is judged above what ships."""
    manifest("backends: [{id: mine, device: cpu, rank: 7}]", "a.yaml")
    manifest("backends: [{id: mine, device: cpu, rank: 8}]", "b.yaml")
    assert rlx("validate", "a.yaml", "b.yaml").out == "2 files checked: no faults\n"


def test_what_stands_below_is_read_once_for_a_thousand_files(rlx, tmp_path, monkeypatch):
    from rlx.freeze import compiled

    reads = []
    read = compiled.read
    monkeypatch.setattr(compiled, "read", lambda folder: reads.append(folder) or read(folder))
    for number in range(1000):
        body = f"{GOOD}overrides: [{{id: numpy, rank: {number + 1000}}}]\n"
        (tmp_path / f"{number}.yaml").write_text(body, encoding="utf-8")
    assert rlx("validate", ".").out == "1000 files checked: no faults\n"
    assert len(reads) == 1
