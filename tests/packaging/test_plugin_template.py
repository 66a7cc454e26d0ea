"""The plugin template: from `pip install` of its wheel to rlx choosing it, rlx as it was."""

import json
import zipfile

import pytest

from tests.packaging import tutorial
from tests.packaging.conftest import PROJECT, Environment, wheel_of
from tests.tour import CONSOLE, steps, unmoved

TEMPLATE = PROJECT / "examples" / "plugin"
MLP = PROJECT / "examples" / "mlp.onnxtxt"


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    made = Environment(tmp_path_factory.mktemp("template") / "venv", borrow=True)
    made.pip("--no-deps", wheel)
    return made


@pytest.fixture(scope="module")
def plugin_wheel(tmp_path_factory):
    return wheel_of(TEMPLATE, tmp_path_factory.mktemp("plugin"))


@pytest.fixture
def environment(installed):
    """One environment with rlx in it; the plugin is taken out after each test."""
    yield installed
    if any(installed.site.glob("acme_backend-*.dist-info")):
        installed.output("-m", "pip", "uninstall", "-q", "-y", "acme-backend")


def rlx(environment, *arguments, **options):
    return environment.output("-m", "rlx", *arguments, **options)


def digests(environment):
    """Every file of the installed rlx, by its RECORD."""
    (record,) = environment.site.glob("rlx-*.dist-info/RECORD")
    return record.read_text("utf-8")


def test_the_wheel_of_the_template_holds_its_manifest_and_coverage(plugin_wheel):
    names = zipfile.ZipFile(plugin_wheel).namelist()
    assert {"acme_backend/backends.yaml", "acme_backend/coverage/acme.yaml"} <= set(names)


def test_installing_its_wheel_is_all_that_it_takes(environment, plugin_wheel):
    before = digests(environment)
    chosen = json.loads(rlx(environment, "explain", MLP, "--json"))["backend"]
    assert chosen != "acme"
    environment.pip("--no-deps", plugin_wheel)
    assert rlx(environment, "explain", MLP).splitlines()[:3] == [
        "mlp (4 nodes) runs on acme (cpu:0)",
        "  rank 60 (plugin acme-backend 1.0 backends.yaml:8:11)",
        "  coverage declared, not measured here",
    ]
    ran = json.loads(rlx(environment, "run", MLP, "--random", "--size", "batch=2", "--json"))
    assert (ran["route"]["backend"], ran["outputs"][0]["shape"]) == ("acme", [2, 1])
    listed = json.loads(rlx(environment, "backends", "--json"))
    assert listed["plugins"] == [
        {
            "name": "acme-backend",
            "version": "1.0",
            "active": True,
            "reason": None,
            "files": ["plugin acme-backend 1.0 backends.yaml"],
            "faults": [],
        }
    ]
    assert digests(environment) == before
    environment.output("-m", "pip", "uninstall", "-q", "-y", "acme-backend")
    after = json.loads(rlx(environment, "explain", MLP, "--json"))
    assert (after["backend"], "acme" in str(after)) == (chosen, False)


def test_an_editable_install_shows_an_edit_at_once(environment, tmp_path):
    import shutil

    copy = shutil.copytree(TEMPLATE, tmp_path / "acme")
    environment.pip("--no-deps", "--no-build-isolation", "-e", copy)
    manifest = copy / "src" / "acme_backend" / "backends.yaml"
    manifest.write_text(manifest.read_text("utf-8").replace("rank: 60", "rank: 61"), "utf-8")
    listed = json.loads(rlx(environment, "backends", "--why", "acme", "--json"))
    assert listed["backends"][0]["rank"] == 61


def test_a_broken_one_is_told_and_rlx_config_only_leaves_it_out(environment, plugin_wheel):
    environment.pip("--no-deps", plugin_wheel)
    alone = rlx(environment, "backends", RLX_CONFIG_ONLY="1").splitlines()
    assert alone[-1] == (
        "plugin acme-backend 1.0 takes no part: RLX_CONFIG_ONLY leaves plugins out"
    )
    manifest = environment.site / "acme_backend" / "backends.yaml"
    manifest.write_text(manifest.read_text("utf-8").replace("rank:", "rnak:"), "utf-8")
    lines = rlx(environment, "backends").splitlines()
    assert lines[-2:] == [
        "plugin acme-backend 1.0 takes no part: 1 fault, shown as warnings",
        "warning: plugin acme-backend 1.0 backends.yaml:8:5: unknown key 'rnak'. "
        "Fix: did you mean 'rank'?",
    ]


def test_its_own_test_passes(environment, plugin_wheel):
    environment.pip("--no-deps", plugin_wheel)
    environment.output("-m", "pytest", "-q", "-p", "no:cacheprovider", TEMPLATE / "tests")


def test_the_tutorial_prints_what_it_shows(environment, tmp_path):
    folder = tutorial.prepare(tmp_path / "work")
    blocks = CONSOLE.findall(tutorial.DOCUMENT.read_text("utf-8"))
    for command, expected in [step for block in blocks for step in steps(block)]:
        printed = unmoved(tutorial.shell(command, environment, folder))
        assert printed == unmoved(expected), f"after: $ {command}"


def test_the_tutorial_shows_every_file_of_the_template():
    shown = tutorial.DOCUMENT.read_text("utf-8")
    files = [one for one in TEMPLATE.rglob("*") if one.is_file() and "__pycache__" not in one.parts]
    for file in files:
        if file.name not in ("README.md", "__init__.py"):
            assert file.read_text("utf-8") in shown, file.name
