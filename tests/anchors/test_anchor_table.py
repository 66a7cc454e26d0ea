"""The table of other tools' cases: every test that it names exists, every case has an answer."""

import ast
import re

import pytest

from tests.tour import PROJECT

TABLE = (PROJECT / "tests" / "ANCHORS.md").read_text("utf-8")
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows(section):
    (text,) = re.findall(rf"^## Section {section}:.*?(?=^## |\Z)", TABLE, re.MULTILINE | re.DOTALL)
    return [row for row in ROW.findall(text) if row[0] not in ("case", "---")]


def named():
    return sorted(set(TEST.findall(TABLE)))


@pytest.mark.parametrize(("path", "name"), named(), ids=lambda part: part)
def test_a_test_that_is_named_exists(path, name):
    tree = ast.parse((PROJECT / path).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("section", ["4", "5"])
def test_every_case_has_a_test_or_a_reason(section):
    for case, symptom, answer in rows(section):
        assert symptom.strip()
        assert TEST.search(answer) or answer.startswith("Does not apply: "), case


def test_every_case_is_there_once():
    assert [case for case, _, _ in rows("4")] == [str(number) for number in range(1, 21)]
    cases = [case for case, _, _ in rows("5")]
    assert len(cases) == len(set(cases)) == 94


def test_every_test_of_this_folder_is_in_the_table():
    folder = PROJECT / "tests" / "anchors"
    for path in (folder / "test_choosing.py", folder / "test_configuration.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                assert f"{path.name}::{node.name}`" in TABLE or "enough" in node.name
