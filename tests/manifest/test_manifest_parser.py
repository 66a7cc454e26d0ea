"""The parser: limits, places, and the same answer with and without libyaml."""

from pathlib import Path

import pytest
import yaml

from rlx.errors import ConfigError
from rlx.manifest import parse, parser
from rlx.manifest.builder import MAX_VALUES
from rlx.manifest.syntax import MAX_DEPTH
from rlx.manifest.text import MAX_BYTES

MANIFESTS = Path(__file__).parent.parent / "manifests"
FILES = sorted([*MANIFESTS.glob("valid/*.yaml"), *MANIFESTS.glob("invalid/s*/*.yaml")])


def read(text: str | bytes):
    return parse(text if isinstance(text, bytes) else text.encode(), "f.yaml")


def refusal(text: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        read(text)
    return str(caught.value)


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_64_levels_are_read_and_65_refused():
    assert read(nested(MAX_DEPTH)).root.value
    assert refusal(nested(MAX_DEPTH + 1)) == (
        "f.yaml:1:65: values may be nested 64 levels deep, got more. Fix: write it flatter."
    )


@pytest.mark.parametrize("line", ["\r\n", "# why\r\n", "  \r\n", "\n", "\r", "#\r"])
def test_many_lines_before_the_first_value_are_skipped_in_one_pass(line):
    """A search that tries each of them twice would not end."""
    assert read(line * 10_000 + "a: 1").origin("a").line == 10_001
    assert refusal(line * 10_000 + "%YAML 1.1").startswith("f.yaml:10001:1: directives are not")


@pytest.mark.parametrize("start", ["[", "{a: ", "- ", "? ", "[{"])
def test_a_depth_that_crashed_older_parsers_is_refused(start):
    assert "values may be nested 64 levels deep, got more" in refusal(start * 100_000)


def test_a_depth_made_of_indentation_is_refused():
    text = "".join(f"{' ' * level}a:\n" for level in range(1000))
    assert refusal(text) == (
        "f.yaml:65:65: values may be nested 64 levels deep, got more. Fix: write it flatter."
    )


def test_100_000_values_are_read_and_one_more_refused():
    items = "[" + "1," * (MAX_VALUES - 1) + "]"
    assert len(read(items).root.value) == MAX_VALUES - 1
    assert refusal("[" + "1," * MAX_VALUES + "]") == (
        "f.yaml:1:200002: a manifest may hold 100000 values, got more. "
        "Fix: split it into several files."
    )


def test_1_mib_is_read_and_one_byte_more_refused():
    assert read("a: 1 #" + "x" * (MAX_BYTES - 6)).root.value
    assert refusal("a: 1 #" + "x" * (MAX_BYTES - 5)) == (
        "f.yaml: a manifest may have 1048576 bytes, got more. "
        "Fix: split it: devices, capabilities and backends may come from several layers."
    )


def test_a_mebibyte_of_duplicate_keys_shows_100_faults_and_counts_the_rest():
    lines = refusal("a: 1\n" * 200_000).splitlines()
    assert len(lines) == 101
    assert lines[99] == (
        "f.yaml:101:1: duplicate key 'a', first written at f.yaml:1:1. Fix: keep one of them."
    )
    assert lines[100] == (
        "f.yaml: … and 99901 more. Fix: correct those above, then run `rlx validate` again."
    )


def test_a_mebibyte_of_control_characters_shows_100_faults():
    assert len(refusal(b"\x01" * MAX_BYTES).splitlines()) == 101


@pytest.mark.parametrize(
    "text", ["'" * 500_001, '"\\' * 300_000, "? " * 60, "&a " * 300_000, "%" * 900_000]
)
def test_a_mebibyte_of_nonsense_is_refused_quickly(text):
    assert refusal(text).startswith("f.yaml:1:")


def test_every_value_and_key_knows_its_line_and_column():
    document = read("a:\n  - b: é\n    c: {d: 5}\n  - [x, z]\n")
    assert str(document.origin("a", 0, "b")) == "f.yaml:2:8"
    assert str(document.key_origin("a", 0, "c")) == "f.yaml:3:5"
    assert str(document.origin("a", 0, "c")) == "f.yaml:3:8"
    assert str(document.key_origin("a", 0, "c", "d")) == "f.yaml:3:9"
    assert str(document.origin("a", 1, 1)) == "f.yaml:4:9"
    assert str(document.key_origin("a", 1, 1)) == "f.yaml:4:9"


def test_what_is_not_written_has_the_place_of_its_nearest_parent():
    document = read("a:\n  - b: 1\n")
    assert str(document.origin("a", 0, "rank")) == "f.yaml:2:5"
    assert str(document.key_origin("a", 0, "rank")) == "f.yaml:2:5"
    assert str(document.origin("a", 7, "rank")) == "f.yaml:2:3"
    assert str(document.origin()) == str(document.key_origin()) == "f.yaml:1:1"


def test_the_source_of_a_value_is_its_text_also_after_wide_characters():
    document = read("\ufeffa: '日本😀'\nb: 0x1F\nc:\n")
    sources = [document.source(document.node(key)) for key in "abc"]
    assert sources == ["'日本😀'", "0x1F", ""]
    assert str(document.origin("c")) == "f.yaml:3:1"


def test_columns_do_not_count_a_byte_order_mark():
    assert refusal("\ufeffa: no") == (
        "f.yaml:1:4: no without quotes is false in YAML 1.1 and text in YAML 1.2. "
        "Fix: quote it: 'no', or write false."
    )


def outcome(path: Path, loader, monkeypatch) -> str:
    monkeypatch.setattr(parser, "_LOADER", loader)
    try:
        return repr(parse(path.read_bytes(), path.name))
    except ConfigError as error:
        return str(error)


def test_without_libyaml_the_answers_are_the_same_but_for_three_stricter_ones(monkeypatch):
    """Python's parser refuses tabs as separators, and words two escapes' faults differently."""
    different = {
        path.stem
        for path in FILES
        if outcome(path, yaml.CSafeLoader, monkeypatch)
        != outcome(path, yaml.SafeLoader, monkeypatch)
    }
    assert different == {"escape-surrogate", "escape-beyond-unicode", "tab-after-colon"}
