"""The workflow for GitHub: valid, and its steps do what they say, in order, in a repository."""

import json
import re
import subprocess
import sys

import pytest
import yaml

from tests.examples.conftest import HEAD, PROJECT

FILE = PROJECT / "examples" / "ci" / "github-workflow.yaml"
WORKFLOW = yaml.safe_load(FILE.read_text("utf-8"))
EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")
STEPS = [step for step in WORKFLOW["jobs"]["rlx"]["steps"] if "run" in step]


@pytest.fixture
def pull_request(repository):
    """A repository whose last commit edits the manifest; `gh` and `pip` only note what they got."""
    repository.write("models/mlp.onnxtxt", (PROJECT / "examples/mlp.onnxtxt").read_text("utf-8"))
    repository.write("backends.yaml", HEAD)
    repository.write("team/backends.yaml", HEAD)
    base = repository.commit()
    noted = repository.folder.parent / "noted"
    repository.program("gh", f'echo "gh $*" >> "{noted}"; cat rlx.md >> "{noted}"')
    repository.program(
        "python", f'test "$1 $2" = "-m pip" && echo "pip $3 $4" >> "{noted}" || exit 9'
    )
    repository.noted = lambda: noted.read_text("utf-8") if noted.exists() else ""
    summary = repository.folder.parent / "summary"
    repository.summary = lambda: summary.read_text("utf-8") if summary.exists() else ""
    repository.github = {
        "github.event.pull_request.base.sha": base,
        "github.event.pull_request.number": "7",
        "github.token": "a-token",
    }
    repository.environment["GITHUB_STEP_SUMMARY"] = str(summary)
    return repository


def run(repository, name):
    """A step as GitHub's runner runs it on Linux: its exit code and what it prints."""
    (step,) = (one for one in STEPS if one["name"] == name)

    def value(text):
        return EXPRESSION.sub(lambda found: repository.github[found[1]], text)

    variables = {**WORKFLOW["env"], **step.get("env", {})}
    assert not EXPRESSION.search(step["run"]), "an expression in a script is an injection"
    shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"])
    return repository.run(*shell, **{key: value(text) for key, text in variables.items()})


def test_the_workflow_is_valid_by_githubs_schema():
    command = (sys.executable, "-m", "check_jsonschema", "--builtin-schema")
    done = subprocess.run(
        [*command, "vendor.github-workflows", str(FILE)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_step_of_the_workflow_is_run_here():
    assert [step["name"] for step in STEPS] == [
        "Install",
        "Validate",
        "Report",
        "Compare",
        "Comment",
    ]


def test_a_good_change_passes_and_the_comment_says_what_moves(pull_request):
    pull_request.write("backends.yaml", f"{HEAD}overrides:\n  - {{id: numpy, rank: 5}}\n")
    pull_request.commit()
    assert run(pull_request, "Install") == (0, "")
    assert run(pull_request, "Validate") == (0, "2 files checked: no faults\n")
    assert run(pull_request, "Report") == (0, "")
    log = json.loads((pull_request.folder / "rlx.sarif").read_text("utf-8"))
    assert log["runs"][0]["results"] == []
    code, out = run(pull_request, "Compare")
    assert (code, out) == (0, "")
    assert run(pull_request, "Comment") == (0, "")
    noted = pull_request.noted()
    assert noted.startswith(
        "pip install rlx\ngh pr comment 7 --edit-last --create-if-none --body-file rlx.md\n"
    )
    assert "numpy" in noted
    assert "models/mlp.onnxtxt" in noted
    assert pull_request.summary() in noted


def test_a_broken_change_is_shown_and_reported(pull_request):
    pull_request.write("team/backends.yaml", f"{HEAD}overrides:\n  - {{id: numpy, rnak: 10}}\n")
    pull_request.commit()
    code, out = run(pull_request, "Validate")
    assert code == 1
    assert out == (
        "::error file=team/backends.yaml,line=4,col=17,endLine=4,endColumn=20,title=unknown-key::"
        "unknown key 'rnak'. Fix: did you mean 'rank'?\n2 files checked: 1 error\n"
    )
    assert run(pull_request, "Report") == (0, "")
    log = json.loads((pull_request.folder / "rlx.sarif").read_text("utf-8"))
    (result,) = log["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "team/backends.yaml", "uriBaseId": "%SRCROOT%"}


def test_a_report_that_could_not_be_made_fails(pull_request):
    (pull_request.folder / "backends.yaml").unlink()
    (pull_request.folder / "team" / "backends.yaml").unlink()
    assert run(pull_request, "Report")[0] == 1
