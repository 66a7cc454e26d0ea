"""`rlx validate --format github`: workflow commands that GitHub reads as they are meant."""

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.cli.reports import github
from rlx.cli.reports.report import Report
from rlx.cli.reports.sources import Sources
from rlx.errors import Fault
from rlx.origin import Origin

COMMAND = re.compile(r"::(error|warning) ([^\r\n]*?)::([^\r\n]*)")


def parsed(line):
    """A command as GitHub's runner reads it: level, properties, message."""
    level, properties, message = COMMAND.fullmatch(line).groups()
    pairs = (one.split("=", 1) for one in properties.split(","))
    return level, {key: unquote(value) for key, value in pairs}, unquote(message)


def commands(fault, strict=False):
    report = Report((fault.origin.path,), (fault,), strict)
    *lines, summary = github.lines(report, Sources(report.checked, {}))
    assert summary == report.summary
    return lines


def test_each_fault_is_a_command_with_its_place(rlx, manifest):
    manifest("overrides: [{id: numpy, rank: high}]", "a.yaml")
    done = rlx("validate", "a.yaml", "--format", "github")
    assert done.code == 1
    assert done.out == (
        "::error file=a.yaml,line=3,col=31,endLine=3,endColumn=34,title=wrong-type::rank must be "
        "an integer from 0 to 4294967295, got 'high'. Fix: write a number, such as 5.\n"
        "1 file checked: 1 error\n"
    )


def test_a_warning_is_a_warning_unless_strict(rlx, manifest):
    manifest("overrides: [{id: numpy, rank: 100}]", "a.yaml")
    assert rlx("validate", "a.yaml", "--format", "github").out.startswith("::warning file=a.yaml,")
    strict = rlx("validate", "a.yaml", "--format", "github", "--strict").out
    assert strict.startswith("::error file=a.yaml,")


def test_paths_are_from_the_top_of_the_repository(rlx, manifest, tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "team").mkdir()
    manifest("overrides: [{id: numpy, rank: high}]", "team/a.yaml")
    monkeypatch.chdir(tmp_path / "team")
    for path in ("a.yaml", "../team/a.yaml", str(tmp_path / "team" / "a.yaml")):
        out = rlx("validate", path, "--format", "github").out
        assert out.startswith("::error file=team/a.yaml,line=3,")


def test_a_file_outside_the_repository_is_named_in_the_message(
    rlx, manifest, tmp_path, monkeypatch
):
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    manifest("overrides: [{id: numpy, rank: high}]", "a.yaml")
    monkeypatch.chdir(tmp_path / "repository")
    out = rlx("validate", "../a.yaml", "--format", "github").out
    assert out.startswith("::error title=wrong-type::../a.yaml:3:31: rank must be")


def test_what_has_no_line_has_none(rlx):
    assert rlx("validate", "absent.yaml", "--format", "github").out == (
        "::error file=absent.yaml,title=file-missing::the file is not there. "
        "Fix: correct the path.\n1 file checked: 1 error\n"
    )


@pytest.mark.parametrize(
    ("path", "escaped"),
    [
        ("a,b.yaml", "a%2Cb.yaml"),
        ("a:b.yaml", "a%3Ab.yaml"),
        ("100%.yaml", "100%25.yaml"),
        ("a\nb.yaml", "a%0Ab.yaml"),
        ("::error::.yaml", "%3A%3Aerror%3A%3A.yaml"),
    ],
)
def test_a_path_can_hold_nothing_that_a_command_consists_of(rlx, tmp_path, path, escaped):
    (tmp_path / path).write_text("kind: [", encoding="utf-8")
    out = rlx("validate", path, "--format", "github").out
    assert out.startswith(f"::error file={escaped},line=")
    assert len(out.splitlines()) == 2


@given(st.text(), st.text(), st.text(st.characters(exclude_characters="\0", codec="utf-8")))
def test_what_is_written_is_what_is_read(message, fix, path):
    fault = Fault("a-code", message, fix, Origin(path or "a", 2, 3))
    (line,) = commands(fault)
    level, properties, text = parsed(line)
    assert level == "error"
    assert properties["title"] == "a-code"
    assert text.endswith(f"{message}. Fix: {fix}")
    assert "\n" not in line
    assert "\r" not in line
