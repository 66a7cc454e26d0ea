"""Reading the layers: every fault of every file, foreign files, and referenced coverage."""

from pathlib import Path

import pytest

from rlx import resources
from rlx.errors import ConfigError
from rlx.manifest import discover

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"
COVERAGE = "apiVersion: rlx/v1\nkind: Coverage\nevidence: {kind: declared}\nrows: []\n"


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    """A packaged layer that holds nothing, no site layers, and a fresh working directory."""
    monkeypatch.setattr(resources, "configs", lambda: tmp_path / "configs")
    monkeypatch.setattr("platformdirs.site_config_dir", lambda *a, **k: str(tmp_path / "system"))
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *a, **k: str(tmp_path / "user"))
    write(tmp_path / "configs/backends.yaml", HEAD)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def write(path: str | Path, text: str) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(*args, **kwargs) -> str:
    with pytest.raises(ConfigError) as caught:
        discover(*args, **kwargs)
    return str(caught.value)


def backend(coverage: str) -> str:
    return f"{HEAD}backends:\n  - {{id: a, device: cpu, coverage: {coverage}}}\n"


def test_every_layer_is_read_with_its_name_and_trust(work):
    for path in ("system/backends.yaml", "user/backends.yaml", "work/rlx.yaml", "work/env.yaml"):
        write(work / path, HEAD)
    write("more.yaml", COVERAGE)
    found = discover(("more.yaml",), environment="env.yaml").manifests
    assert [(one.layer, one.kind, one.trusted) for one in found] == [
        ("packaged", "Backends", True),
        ("system", "Backends", True),
        ("user", "Backends", True),
        ("project", "Backends", False),
        ("environment", "Backends", True),
        ("argument", "Coverage", True),
    ]


def test_places_name_the_file_as_its_layer_shows_it(work):
    write(work / "configs/backends.yaml", backend("coverage/a.yaml"))
    write(work / "configs/coverage/a.yaml", COVERAGE)
    write("backends.yaml", f"{HEAD}overrides:\n  - {{id: a, rank: 5}}\n")
    packaged, project = discover().manifests
    assert str(packaged.origin("backends", 0, "device")) == "packaged backends.yaml:4:21"
    assert str(packaged.key_origin("backends", 0, "device")) == "packaged backends.yaml:4:13"
    assert (
        str(packaged.reference("coverage/a.yaml").origin("rows")) == "packaged coverage/a.yaml:4:7"
    )
    assert str(project.origin("overrides", 0, "rank")) == "backends.yaml:4:19"
    assert packaged.reference("other.yaml") is None


def test_the_faults_of_all_files_come_at_once(work):
    write(work / "user/backends.yaml", "a: no\n")
    write("backends.yaml", f"{HEAD}device: []\n")
    assert refusal(("none.yaml",), environment="env.yaml") == (
        f"{work}/user/backends.yaml:1:4: no without quotes is false in YAML 1.1 and text in "
        "YAML 1.2. Fix: quote it: 'no', or write false.\n"
        "backends.yaml:3:1: unknown key 'device'. Fix: did you mean 'devices'?\n"
        "env.yaml: the file is not there. Fix: correct the path.\n"
        "none.yaml: the file is not there. Fix: correct the path."
    )


FOREIGN = [
    "services: [a, b]\n",
    "- 1\n",
    "",
    "services:\n  kind: web\n",
    "base: &x {a: 1}\nother: *x\n",
    "{% if a %}\nb: @c\n{% endif %}\n",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_another_tools_file_is_noted_and_not_loaded(text):
    write("backends.yaml", text)
    layers = discover()
    assert [one.layer for one in layers.manifests] == ["packaged"]
    assert layers.notes == (
        "backends.yaml is not loaded: it has neither apiVersion nor kind. If it is meant for rlx, "
        "begin it with `apiVersion: rlx/v1` and `kind: Backends`",
    )


def test_a_file_whose_ending_keeps_it_from_being_read_is_noted():
    write("backends.yml", FOREIGN[0])
    assert discover().notes == (
        "backends.yml is not loaded: rlx reads names that end in .yaml. If it is meant for rlx, "
        "rename it",
    )


def test_the_packaged_layer_of_another_checkout_is_noted():
    write("pyproject.toml", '[project]\nname = "rlx"\n')
    write("configs/backends.yaml", "apiVersion: rlx/v1\nkind: Backends\nbackends: []\n")
    layers = discover()
    assert [one.layer for one in layers.manifests] == ["packaged"]
    assert layers.notes == (
        "configs/backends.yaml is not loaded: it belongs to a checkout of rlx, and the rlx that "
        "runs was not installed from there. To have it in force, run `pip install -e .` in that "
        "checkout",
    )


def test_no_other_tool_has_a_file_of_rlxs_own_name():
    write("rlx.yaml", "overrides: [{id: numpy, rank: 10}]\n")
    with pytest.raises(ConfigError, match=r"rlx\.yaml:1:1: 'apiVersion' is missing"):
        discover()


@pytest.mark.parametrize("text", FOREIGN)
def test_the_same_file_is_a_fault_when_it_is_named(text):
    write("backends.yaml", text)
    assert refusal(("backends.yaml",)).startswith("backends.yaml:")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "kind: Backends\n",
            "backends.yaml:1:1: 'apiVersion' is missing from this manifest. "
            "Fix: add it, such as 'apiVersion: rlx/v1'.",
        ),
        (
            "apiVersion: rlx/v1\nbackends: &x []\n",
            "backends.yaml:2:11: anchors are not allowed, got &x. "
            "Fix: write the value out where it is needed.",
        ),
        (
            '{"kind": "Backends", @\n',
            "backends.yaml:1:22: text without quotes may not start with '@'. Fix: quote it.",
        ),
    ],
)
def test_a_project_file_with_either_key_is_ours_and_must_be_right(text, message):
    write("backends.yaml", text)
    assert refusal() == message


def test_a_broken_coverage_file_is_reported_under_its_own_name(work):
    write("sub/b.yaml", backend("coverage/a.yaml"))
    write("sub/coverage/a.yaml", f"{COVERAGE}row: []\n")
    assert refusal(("sub/b.yaml",)) == (
        "sub/coverage/a.yaml:5:1: unknown key 'row'. "
        "Fix: remove it; known here: apiVersion, kind, evidence, rows, inherits, without, "
        "without_dtypes."
    )


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "none.yaml",
            "the coverage file 'none.yaml' is not there. Fix: correct the path, or write the file.",
        ),
        (
            "b.yaml",
            "coverage must name a manifest of kind Coverage, got Backends. "
            "Fix: name a Coverage manifest.",
        ),
        (
            "link.yaml",
            "coverage must stay below this file's folder, but a link leads 'link.yaml' out. "
            "Fix: put the file itself there.",
        ),
        *(
            (
                path,
                f"coverage must be a path below this file's folder, got '{path}'. "
                "Fix: write it as 'coverage/name.yaml'.",
            )
            for path in (
                "/etc/passwd",
                "../a.yaml",
                "a/../../b.yaml",
                "C:/a.yaml",
                "a\\b.yaml",
                ".",
            )
        ),
    ],
)
def test_a_coverage_path_stays_below_its_file(work, written, message):
    write("b.yaml", backend(f"'{written}'"))
    write(work / "outside.yaml", COVERAGE)
    Path("link.yaml").symlink_to(work / "outside.yaml")
    assert refusal(("b.yaml",)) == f"b.yaml:4:36: {message}"


def test_a_coverage_path_that_is_a_folder_or_a_pipe_is_refused(work):
    write("b.yaml", backend("coverage"))
    Path("coverage").mkdir()
    assert refusal(("b.yaml",)) == (
        "coverage: a manifest must be a plain file, got a folder. Fix: name a plain YAML file."
    )


def test_a_coverage_file_named_twice_is_read_once_and_compiles_counts(work):
    write("b.yaml", backend("c.yaml, compiles: c.yaml, compiler: 'a:b', payload_format: x"))
    write("c.yaml", COVERAGE)
    found = discover(("b.yaml",)).manifests[-1]
    assert [written for written, _ in found.references] == ["c.yaml"]


def test_what_the_project_refers_to_is_no_more_trusted_than_it_is(work):
    write("backends.yaml", backend("c.yaml"))
    write("c.yaml", COVERAGE)
    (_, project) = discover().manifests
    assert project.reference("c.yaml").trusted is False
