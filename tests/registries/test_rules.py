"""Every rule of freezing: each manifest of tests/manifests/rules gives its whole message."""

from pathlib import Path

import pytest

from rlx.errors import ConfigError
from rlx.freeze.codes import CODES
from rlx.manifest.loader import read_file
from rlx.registries import freeze

RULES = Path(__file__).parents[1] / "manifests" / "rules"
CASES = sorted(RULES.glob("*.yaml"))
IN_CODE_ONLY = {"rank-range", "probe-timeout", "field-type", "mutable-value"}
"""The parser and the models refuse these in YAML; `test_late` has their messages."""
OTHER_TESTS = {"routing-conflict", "untrusted"}


def found(path, base):
    """All faults of one manifest over the base, one a line, each with its code."""
    manifest = read_file(path, "argument", shown=path.name)
    try:
        faults = freeze([manifest], base=base).warnings
    except ConfigError as error:
        faults = error.faults
    return "".join(
        f"{fault.code}{'' if fault.severity == 'error' else ' (warning)'}: {fault}\n"
        for fault in faults
    )


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_broken_rule_gives_its_whole_message(path, base):
    assert found(path, base) == path.with_suffix(".txt").read_text(encoding="utf-8")


def test_every_code_has_a_manifest():
    texts = [path.with_suffix(".txt").read_text(encoding="utf-8") for path in CASES]
    shown = {line.split(":")[0].split(" ")[0] for text in texts for line in text.splitlines()}
    assert shown | IN_CODE_ONLY | OTHER_TESTS == set(CODES)


def test_no_expected_message_is_left_over():
    assert {path.stem for path in RULES.glob("*.txt")} == {path.stem for path in CASES}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_message_has_a_place_in_the_file_and_a_fix(path):
    for line in path.with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        place, _, fix = line.partition(". Fix: ")
        assert f"{path.name}:" in place
        assert fix.endswith((".", "?"))
