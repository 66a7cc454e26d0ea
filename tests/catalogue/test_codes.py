"""The catalogue holds every code that the source can give, and no other; each has an example."""

import ast
import re
from pathlib import Path

import pytest

import rlx
from rlx.artifact.checking import WORDS
from rlx.catalogue import KINDS, entries
from rlx.catalogue.tables import classes, collect
from rlx.cli import app, output
from rlx.freeze.codes import CODES as RULES
from rlx.manifest.faults import MEANINGS
from rlx.router.verdicts import CODES as REASONS
from rlx.router.verdicts import VERDICTS

ROOT = Path(rlx.__file__).parent
CODE = re.compile(r"[a-z]+(-[a-z0-9]+)*")
GIVERS = {"add", "Fault", "Reason", "Refusal", "refuse", "_refuse", "_broken", "_Misplaced"}
"""Functions that take a code as one of their first two arguments."""
NOT_CODES = {"backends", "conformance", "catalogue"}
"""Parts that give no codes, whatever their functions are called."""


def sources():
    for path in sorted(ROOT.rglob("*.py")):
        if path.relative_to(ROOT).parts[0] not in NOT_CODES:
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def constants(node):
    """The texts that an expression may have."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def given():
    """Every text that stands where a code is given, with its place."""
    for path, tree in sources():
        for node in ast.walk(tree):
            found = []
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                found += node.args[:2] if name in GIVERS else []
                found += [one.value for one in node.keywords if one.arg == "code"]
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
                found.append(node.value)
            for text in (text for one in found for text in constants(one)):
                if CODE.fullmatch(text):
                    yield text, f"{path.name}:{node.lineno}"


def written():
    """Every text in the source but keys of dicts: those are the tables themselves."""
    for _, tree in sources():
        keys = {
            id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys
        }
        for node in ast.walk(tree):
            if id(node) not in keys and isinstance(node, ast.Constant):
                yield node.value


def test_every_code_in_the_source_is_in_the_catalogue():
    known = {one.code for one in entries()}
    assert [f"{code} at {place}" for code, place in given() if code not in known] == []


def test_every_code_of_the_catalogue_is_given_in_the_source():
    known = {one.code for one in entries() if one.kind not in ("exit", "verdict", "error")}
    assert known - set(written()) == set()


def test_the_scan_sees_a_code_that_nobody_listed():
    tree = ast.parse('faults.add("no-such-code" if x else "other-code", origin)')
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert list(constants(call.args[0])) == ["no-such-code", "other-code"]
    assert "no-such-code" not in {one.code for one in entries()}


def test_every_verdict_is_one_of_the_table():
    tree = ast.parse((ROOT / "router" / "checks.py").read_text(encoding="utf-8"))
    texts = {
        text
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and "verdict" in ast.unparse(node.targets[0])
        for part in (node.value, *getattr(node.value, "elts", ()))
        for text in constants(part)
    }
    assert texts == set(VERDICTS)


def test_the_catalogue_is_the_tables_merged():
    merged = [(kind, code, one.meaning, one.fix) for kind, code, one in collect()]
    assert merged == [(one.kind, one.code, one.meaning, one.fix) for one in entries()]


def test_no_table_is_left_out():
    by_kind = {kind: [one.code for one in entries() if one.kind == kind] for kind in KINDS}
    assert by_kind["error"] == [one.code for one in classes()]
    assert by_kind["manifest"] == list(MEANINGS)
    assert by_kind["rule"] == list(RULES)
    assert by_kind["reason"] == list(REASONS)
    assert by_kind["artifact"] == list(WORDS)
    assert by_kind["command"] == list(output.CODES)
    assert by_kind["exit"] == list(map(str, app.EXITS))


def test_a_code_occurs_once_in_its_kind():
    keys = [(one.kind, one.code) for one in entries()]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("one", entries(), ids=lambda one: f"{one.kind}-{one.code}")
def test_every_code_has_a_meaning_a_fix_and_an_example(one):
    for text in (one.meaning, one.fix):
        assert text.endswith((".", "?"))
        assert text.isprintable()
    assert one.example.language in ("yaml", "python", "console")
    assert one.example.printed if one.example.language != "console" else one.example.shown
    assert "Traceback" not in one.example.shown + one.example.printed
    assert "/tmp" not in one.example.shown + one.example.printed


@pytest.mark.parametrize(
    "one", [one for one in entries() if one.kind == "reason"], ids=lambda one: one.code
)
def test_the_example_of_a_reason_shows_it(one):
    assert re.search(rf"^  \S+\s+{one.code} ", one.example.shown, re.MULTILINE)


def test_every_exit_code_of_an_error_is_in_the_table():
    assert {code for _, code in app.EXIT_CODES} < set(app.EXITS)
