"""Other readers of the same files: check-jsonschema, PyYAML (YAML 1.1), ruamel.yaml (YAML 1.2)."""

import json
import re
import string
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from rlx import resources
from rlx.errors import ConfigError
from rlx.manifest import parse, read_file
from rlx.manifest.models import KINDS

MANIFESTS = Path(__file__).parents[1] / "manifests"
CORPUS = sorted(MANIFESTS.rglob("*.yaml"))
KIND = re.compile(rb"(?m)^kind: *(\w+)\s*$")

THEY_CRASH = {"alias-recursive", "escape-beyond-unicode"}
"""check-jsonschema ends with a traceback."""
THEY_REFUSE = {"tab-after-colon"}
"""A tab may follow a colon, in both versions of YAML; libyaml knows it, readers in Python don't."""
JSON_SCHEMA_CANNOT = {
    "the text that a value was written as: 50.0 is an integer to JSON Schema": {"rank-float"},
    "plain scalars that YAML 1.1 reads as something else": {
        "ambiguous-binary",
        "ambiguous-date",
        "ambiguous-exponent",
        "ambiguous-exponent-unsigned",
        "ambiguous-key-on",
        "ambiguous-leading-zeros",
        "ambiguous-loose",
        "ambiguous-negative-point",
        "ambiguous-no",
        "ambiguous-octal",
        "ambiguous-octal-new",
        "ambiguous-octal-not",
        "ambiguous-sexagesimal-long",
        "ambiguous-timestamp",
        "ambiguous-underscore",
        "ambiguous-underscore-float",
        "ambiguous-y-n",
    },
    "anchors, aliases, merge keys, tags and directives: a reader has resolved them": {
        "anchor",
        "directive-tag",
        "directive-unknown",
        "directive-yaml",
        "merge-key",
        "merge-key-alias",
        "tag-not-specific",
    },
    "keys that are not text: check-jsonschema makes them text": {
        "key-boolean",
        "key-empty",
        "key-integer",
        "key-list",
        "key-null",
    },
    "characters that a value holds by an escape": {
        "control-escape-c1",
        "control-escape-esc",
        "control-escape-key",
        "control-escape-nel",
        "control-escape-nul",
        "escape-surrogate",
    },
    "numbers that are not finite: JSON has none": {
        "not-finite-inf",
        "not-finite-nan",
        "not-finite-overflow",
        "not-finite-plus-inf",
    },
    "the file's encoding": {"utf16-be", "utf16-le"},
}
"""Files that rlx refuses and a schema can't, by the reason. Rules between keys, files and the
vocabulary (`tests/manifests/rules`) are rlx's alone as well."""


def refused_by_check_jsonschema(files):
    """The files that it finds fault with, each judged by the schema of its kind."""
    groups = {kind: [] for kind in KINDS}
    for path in files:
        found = KIND.search(path.read_bytes())
        kind = found[1].decode() if found else "Backends"
        groups[kind if kind in KINDS else "Backends"].append(str(path))
    refused = set()
    for kind, paths in groups.items():
        if not paths:
            continue
        schema = resources.schemas() / f"{kind.lower()}.schema.json"
        command = (sys.executable, "-m", "check_jsonschema", "-o", "json", "--schemafile")
        done = subprocess.run([*command, str(schema), *paths], capture_output=True, text=True)
        found = json.loads(done.stdout)
        refused |= {one["filename"] for one in (*found["errors"], *found.get("parse_errors", ()))}
    return {Path(one) for one in refused}


def accepted_by_rlx(path):
    try:
        read_file(path)
    except ConfigError:
        return False
    return True


def test_check_jsonschema_and_rlx_agree_but_for_what_a_schema_cannot_say():
    files = [path for path in CORPUS if path.stem not in THEY_CRASH]
    refused = refused_by_check_jsonschema(files)
    accepted = {path for path in files if accepted_by_rlx(path)}
    cannot = {stem for stems in JSON_SCHEMA_CANNOT.values() for stem in stems}
    assert {path.stem for path in files if path not in accepted | refused} == cannot
    assert {path.stem for path in accepted & refused} == THEY_REFUSE


def test_of_broken_rules_check_jsonschema_sees_none():
    """So that whoever relies on the schema alone knows what is missing: all of them."""
    rules = sorted((MANIFESTS / "rules").glob("*.yaml"))
    assert len(rules) > 100
    assert refused_by_check_jsonschema(rules) == set()


@pytest.mark.parametrize("stem", sorted(THEY_CRASH))
def test_what_crashes_check_jsonschema_is_refused_here(stem):
    (path,) = (one for one in CORPUS if one.stem == stem)
    assert not accepted_by_rlx(path)


REFUSED = None


def read(reader, data):
    """What a reader makes of a file, with the types of all values; None, where it refuses it."""

    def typed(value):
        if isinstance(value, dict):
            return [(typed(key), typed(one)) for key, one in value.items()]
        if isinstance(value, list | tuple):
            return [typed(one) for one in value]
        return (type(value).__name__, repr(value))

    try:
        return typed(reader(data))
    except Exception:  # noqa: BLE001 - other readers crash in many ways
        return REFUSED


def new(data):
    return YAML(typ="safe", pure=True).load(data)


def ours(data):
    try:
        return parse(data, "a.yaml").root.plain()
    except ConfigError:
        return REFUSED


def agree(data):
    """True when rlx refuses the file, or reads it as each reader does that does not refuse it."""
    found = ours(data)
    if found is REFUSED:
        return True
    read_by = [read(yaml.safe_load, data), read(new, data)]
    return all(one in (REFUSED, read(lambda _: found, data)) for one in read_by)


def test_what_rlx_accepts_of_the_corpus_yaml_11_and_12_read_alike():
    accepted = [path for path in CORPUS if ours(path.read_bytes()) is not REFUSED]
    assert len(accepted) > 200
    for path in accepted:
        data = path.read_bytes()
        assert agree(data), path
        if path.stem not in THEY_REFUSE:
            assert read(yaml.safe_load, data) == read(new, data) != REFUSED, path


def test_files_that_the_two_read_differently_are_refused():
    differ = set()
    for path in CORPUS:
        data = path.read_bytes()
        if read(yaml.safe_load, data) != read(new, data):
            differ.add(path.stem)
            assert ours(data) is REFUSED, path
    assert {one for one in differ if one.startswith("ambiguous-")} >= {
        "ambiguous-loose",
        "ambiguous-no",
        "ambiguous-octal",
        "ambiguous-sexagesimal",
    }


@settings(max_examples=400)
@given(
    st.one_of(
        st.text("0123456789+-._:eExXoObBtTzZ ", min_size=1, max_size=12),
        st.text("012._+-oe", min_size=1, max_size=5),
        st.text("yYeEsSnNoOfFtTrRuUaAlL~=<", min_size=1, max_size=5),
        st.text(string.printable, min_size=1, max_size=8),
        st.dates().map(str),
        st.datetimes().map(str),
        st.integers().map(str),
        st.floats().map(str),
    )
)
@example("012")
@example("0o17")
@example("12:30")
@example("1e3")
@example("1_000")
@example("no")
@example("2001-1-1")
@example("0b1")
@example("-.5")
@example(".inf")
@example("=")
@example("-_1")
@example("._1")
@example("+0o7")
def test_a_scalar_that_rlx_accepts_means_the_same_to_all_three(scalar):
    assert agree(f"key: {scalar}\n".encode())
    assert agree(f"list: [ {scalar} ]\n".encode())
    assert agree(f"{scalar}: 1\n".encode())


def test_a_reader_that_reads_something_else_is_noticed():
    assert not agree_with(b"key: 1", lambda _: {"key": "1"})
    assert agree_with(b"key: 1", yaml.safe_load)


def agree_with(data, reader):
    return read(reader, data) in (REFUSED, read(ours, data))
