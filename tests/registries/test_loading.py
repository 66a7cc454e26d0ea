"""`Registry.load`: which layers there are, which stage reports, and what loading imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from rlx.errors import ConfigError
from rlx.registries import Registry

ROOT = Path(__file__).parents[2]
HEAD = "apiVersion: rlx/v1\nkind: Backends\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A project folder, and no file of the user's own machine."""
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


def write(path, body, head=HEAD):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + body, encoding="utf-8")
    return path


def test_a_projects_file_is_laid_over_the_packaged_layer(tmp_path):
    write("backends.yaml", "overrides:\n  - {id: numpy, rank: 5}\n")
    registry = Registry.load()
    assert registry.registrations[0].id == "numpy"
    first, now = registry.get("numpy").settings("rank")
    assert first.origin.path == "packaged backends.yaml"
    assert str(now.origin) == "backends.yaml:4:23"
    assert registry.sources[-1] == "backends.yaml"


def test_only_leaves_the_projects_file_out(tmp_path):
    write("backends.yaml", "overrides:\n  - {id: numpy, rank: 5}\n")
    assert Registry.load(only=True).digest != Registry.load().digest
    assert Registry.load(only=True).digest == Registry.load(cwd=tmp_path.parent).digest


def test_layers_go_from_system_to_arguments(tmp_path):
    for rank, path in enumerate(
        ["xdg_config_dirs/rlx/backends.yaml", "xdg_config_home/rlx/backends.yaml", "rlx.yaml"]
    ):
        write(path, f"overrides:\n  - {{id: numpy, rank: {rank}}}\n")
    write("named.yaml", "overrides:\n  - {id: numpy, rank: 8}\n")
    write("last.yaml", "overrides:\n  - {id: numpy, rank: 9}\n")
    one = Registry.load(["last.yaml"], environment="named.yaml").get("numpy")
    assert [s.origin.layer for s in one.settings("rank")] == [
        "packaged", "system", "user", "project", "environment", "argument",
    ]  # fmt: skip
    assert [s.value for s in one.settings("rank")][1:] == [0, 1, 2, 8, 9]


def test_a_foreign_file_is_noted_and_not_loaded():
    write("backends.yaml", "services: []\n", head="")
    assert Registry.load().notes == (
        "backends.yaml is not loaded: it has neither apiVersion nor kind. If it is meant for rlx, "
        "begin it with `apiVersion: rlx/v1` and `kind: Backends`",
    )


def test_a_coverage_file_alone_is_checked_and_noted():
    head = "apiVersion: rlx/v1\nkind: Coverage\n"
    body = "evidence: {kind: declared}\nrows:\n  - {operations: [Add], types: {T: [float32]}}\n"
    write("mine.yaml", body, head)
    registry = Registry.load(["mine.yaml"], only=True)
    assert registry.digest == Registry.load(only=True).digest
    assert registry.notes == (
        "mine.yaml is a manifest of kind Coverage: by itself it changes nothing",
    )


def test_faults_of_all_files_come_together():
    write("one.yaml", "overrides:\n  - {id: nobody, rank: 5}\n")
    write("two.yaml", "backends:\n  - {id: mine, device: nowhere}\n")
    with pytest.raises(ConfigError) as caught:
        Registry.load(["one.yaml", "two.yaml"], only=True)
    assert [(f.origin.path, f.code) for f in caught.value.faults] == [
        ("one.yaml", "unknown-override"),
        ("two.yaml", "unknown-device"),
    ]


def test_a_shape_fault_comes_before_the_rules():
    write("one.yaml", "overrides:\n  - {id: nobody, rank: 5}\n")
    write("two.yaml", "backends:\n  - {id: mine}\n")
    with pytest.raises(ConfigError) as caught:
        Registry.load(["one.yaml", "two.yaml"], only=True)
    assert [fault.origin.path for fault in caught.value.faults] == ["two.yaml"]


def test_of_very_many_faults_a_hundred_are_shown():
    write("many.yaml", "overrides:\n" + "".join(f"  - {{id: b{i}, rank: 1}}\n" for i in range(150)))
    with pytest.raises(ConfigError) as caught:
        Registry.load(["many.yaml"], only=True)
    assert len(caught.value.faults) == 101
    assert str(caught.value.faults[-1]) == (
        "many.yaml: … and 50 more. Fix: correct those above, then run `rlx validate` again."
    )


def test_a_projects_coverage_file_is_read_and_checked():
    write(
        "cov/mine.yaml",
        "evidence: {kind: measured, engine: mine 1, platform: linux}\n"
        "rows:\n  - {operations: [Add], types: {T: [float32]}}\n",
        head="apiVersion: rlx/v1\nkind: Coverage\n",
    )
    write("mine.yaml", "backends:\n  - {id: mine, device: cpu, coverage: cov/mine.yaml}\n")
    coverage = Registry.load(["mine.yaml"]).get("mine").coverage
    assert (coverage.evidence, coverage.engine) == ("measured", "mine 1")
    assert str(coverage.rows[0].origin) == "cov/mine.yaml:5:5"


def test_an_operation_of_a_manifest_can_be_covered():
    write(
        "operations.yaml",
        'operations:\n  - name: "acme::Copy"\n    inputs: [{name: X, type: T}]\n'
        "    types: {T: [float32, float16]}\n",
        head="apiVersion: rlx/v1\nkind: Operations\n",
    )
    write(
        "mine.yaml",
        "backends:\n  - id: mine\n    device: cpu\n    coverage:\n      rows:\n"
        '        - {operations: ["acme::Copy"], types: {T: [float32]}}\n',
    )
    registry = Registry.load(["mine.yaml", "operations.yaml"], only=True)
    assert registry.vocabulary.get("acme::Copy").open_variables == ("T",)
    assert registry.get("mine").coverage.rows[0].operations == ("acme::Copy",)


def loaded_by(code):
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_the_packaged_layer_is_loaded_without_a_parser():
    loaded = loaded_by("import rlx; rlx.Registry.load(only=True)")
    assert "rlx.freeze.compiled" in loaded
    assert not loaded & {"yaml", "pydantic", "numpy", "onnx", "packaging", "rlx.freeze.merge"}


def test_a_projects_file_needs_no_onnx():
    write("backends.yaml", "overrides:\n  - {id: numpy, rank: 5}\n")
    loaded = loaded_by("import rlx; rlx.Registry.load()")
    assert "rlx.freeze.merge" in loaded
    assert not loaded & {"numpy", "onnx"}


def test_loading_runs_nothing_that_a_manifest_names():
    write("evil.py", "raise SystemExit('it was imported')\n", head="")
    write(
        "backends.yaml",
        'backends:\n  - {id: mine, device: cpu, factory: "evil:open", dispatches: true,\n'
        '     probes: [{call: "evil:probe"}, {module: evil, version: ">=1"}]}\n',
    )
    assert "evil" not in loaded_by("import rlx; rlx.Registry.load(['backends.yaml'])")
