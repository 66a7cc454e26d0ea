"""The pre-commit hook: found by pre-commit, run on what it should, and it stops a broken commit."""

import sys

import pytest
import yaml

from tests import tour
from tests.examples.conftest import HEAD, PROJECT

HOOKS = PROJECT / ".pre-commit-hooks.yaml"
CONFIG = PROJECT / "examples" / "ci" / "pre-commit-config.yaml"
PRE_COMMIT = (sys.executable, "-m", "pre_commit")
BROKEN = f"{HEAD}overrides:\n  - {{id: numpy, rnak: 10}}\n"
GOOD = f"{HEAD}overrides:\n  - {{id: numpy, rank: 5}}\n"
EQUAL = f"{HEAD}overrides:\n  - {{id: numpy, rank: 100}}\n"


@pytest.fixture
def local(repository):
    """The repository with our hook as pre-commit would run it, but with the rlx that is here."""
    (hook,) = yaml.safe_load(HOOKS.read_text("utf-8"))
    hook["language"] = "system"
    repository.write(
        ".pre-commit-config.yaml", yaml.safe_dump({"repos": [{"repo": "local", "hooks": [hook]}]})
    )
    return repository


def run(repository, *arguments):
    repository.git("add", "-A")
    code, out = repository.run(*PRE_COMMIT, "run", "--color=never", *arguments)
    return code, out.splitlines()


def test_pre_commit_takes_the_hooks_file_and_the_example(repository):
    assert repository.run(*PRE_COMMIT, "validate-manifest", str(HOOKS)) == (0, "")
    assert repository.run(*PRE_COMMIT, "validate-config", str(CONFIG)) == (0, "")


def test_the_example_names_a_hook_that_there_is():
    (repo,) = yaml.safe_load(CONFIG.read_text("utf-8"))["repos"]
    known = {hook["id"] for hook in yaml.safe_load(HOOKS.read_text("utf-8"))}
    assert {hook["id"] for hook in repo["hooks"]} <= known


def test_a_broken_manifest_stops_the_commit_and_shows_where(local):
    local.write("team/backends.yaml", BROKEN)
    code, lines = run(local)
    assert code == 1
    assert lines[0].startswith("rlx validate....")
    assert lines[0].endswith("Failed")
    assert lines[-5:-1] == [
        "team/backends.yaml:4:17: unknown key 'rnak'. Fix: did you mean 'rank'?",
        "  4 |   - {id: numpy, rnak: 10}",
        "    |                 ^^^^",
        "1 file checked: 1 error",
    ]


def test_a_good_manifest_passes(local):
    local.write("team/backends.yaml", GOOD)
    code, lines = run(local)
    assert code == 0
    assert lines[0].endswith("Passed")


def test_files_that_are_not_rlxs_are_left_alone(local):
    for name in ("deploy.yaml", "team/my-backends.yaml", "backends.yaml.j2", "backends.yml"):
        local.write(name, "{{ not: yaml")
    code, lines = run(local, "--all-files")
    assert code == 0
    assert lines[0].endswith("(no files to check)Skipped")


def test_arguments_reach_rlx(local):
    local.write("backends.yaml", EQUAL)
    assert run(local)[0] == 0
    config = yaml.safe_load((local.folder / ".pre-commit-config.yaml").read_text("utf-8"))
    config["repos"][0]["hooks"][0]["args"] = ["--strict"]
    local.write(".pre-commit-config.yaml", yaml.safe_dump(config))
    assert run(local)[0] == 1


@pytest.mark.network
def test_pre_commit_installs_rlx_from_its_repository_and_runs_it(repository, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    tour.clone(source)
    (source / ".git").rmdir()
    for name in (".pre-commit-hooks.yaml", "README.md", "LICENSE"):
        (source / name).write_bytes((PROJECT / name).read_bytes())
    in_source = ("-C", str(source))
    repository.git(*in_source, "init", "-q")
    repository.git(*in_source, "add", "-A")
    repository.git(*in_source, "commit", "-q", "-m", "rlx")
    revision = repository.git(*in_source, "rev-parse", "HEAD")
    config = yaml.safe_load(CONFIG.read_text("utf-8"))
    config["repos"][0] |= {"repo": str(source), "rev": revision}
    repository.write(".pre-commit-config.yaml", yaml.safe_dump(config))
    repository.write("backends.yaml", BROKEN)
    del repository.environment["PYTHONPATH"]
    code, lines = run(repository)
    assert code == 1, lines
    assert "backends.yaml:4:17: unknown key 'rnak'. Fix: did you mean 'rank'?" in lines
    repository.write("backends.yaml", GOOD)
    assert run(repository)[0] == 0
