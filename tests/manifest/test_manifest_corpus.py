"""The example manifests: the valid ones mean what stands beside them, the others say why not."""

import json
from pathlib import Path

import pytest

from rlx.errors import ConfigError
from rlx.manifest import read_file
from rlx.manifest.faults import MEANINGS

MANIFESTS = Path(__file__).parent.parent / "manifests"
VALID = sorted(MANIFESTS.glob("valid/*.yaml"))
INVALID = sorted(MANIFESTS.glob("invalid/s*/*.yaml"))


def refusal(path: Path) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read_file(path, shown=path.name)
    return caught.value


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_a_valid_manifest_has_the_values_that_stand_beside_it(path):
    manifest = read_file(path)
    tree = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(manifest.document.root.plain())) == tree


@pytest.mark.parametrize("path", INVALID, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_invalid_manifest_is_refused_with_the_message_that_stands_beside_it(path):
    expected = path.with_suffix(".txt").read_text(encoding="utf-8")
    assert f"{refusal(path)}\n" == expected


@pytest.mark.parametrize("path", INVALID, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_fault_has_a_known_code_a_fix_and_no_word_of_pydantic(path):
    for fault in refusal(path).faults:
        assert fault.code in MEANINGS
        assert fault.fix.endswith((".", "?"))
        assert fault.origin.path == path.name
        lowered = str(fault).lower()
        assert not any(word in lowered for word in ("pydantic", "input should", "field required"))


def test_there_are_enough_examples_and_each_has_its_expectation():
    assert len(INVALID) >= 180
    for path in MANIFESTS.glob("invalid/s*/*.txt"):
        assert path.with_suffix(".yaml").exists(), f"{path.name} belongs to no manifest"
    for path in MANIFESTS.glob("valid/*.json"):
        assert path.with_suffix(".yaml").exists(), f"{path.name} belongs to no manifest"


def test_every_code_that_text_can_have_occurs_among_the_examples():
    seen = {fault.code for path in INVALID for fault in refusal(path).faults}
    elsewhere = {  # needs the file system, or a file too large to store: see the other tests
        "coverage-chain",
        "coverage-kind",
        "coverage-path",
        "file-missing",
        "file-not-regular",
        "file-too-large",
        "file-unreadable",
        "more-faults",
        "plugin-entry",
        "plugin-file",
        "plugin-place",
        "yaml-too-deep",
        "yaml-too-many-values",
    }
    assert seen == set(MEANINGS) - elsewhere
