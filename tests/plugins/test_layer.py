"""Plugins as a layer: above the packaged one, each as a whole, a broken one left out and said."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import rlx
from rlx.errors import ConfigError, SettingError, UnknownBackend
from rlx.registries import Registry
from tests.plugins.conftest import HEAD, backend
from tests.three_backends import place

ROOT = Path(rlx.__file__).parents[1]
COVERAGE = (
    "apiVersion: rlx/v1\nkind: Coverage\nevidence: {kind: declared}\n"
    "rows:\n  - {operations: [Add], types: {T: [float32]}}\n"
)
UNKNOWN = "        rnak: 1\n"


def ids(registry):
    return [one.id for one in registry.registrations]


def faults_of(registry):
    return {one.name: list(map(str, one.faults)) for one in registry.plugins}


def test_a_plugin_registers_a_backend_with_its_origin(site):
    site.plugin("backends:\n" + backend("acme", ", coverage: cov/acme.yaml"))
    site.write("acme_backend/cov/acme.yaml", COVERAGE)
    registry = Registry.load()
    one = registry.get("acme")
    assert ids(registry)[0] == "acme"
    assert str(one.origin) == "plugin acme-backend 1.0 backends.yaml:4:5"
    assert str(one.source("rank")) == "plugin acme-backend 1.0 backends.yaml:4:35"
    (row,) = one.coverage.rows
    assert str(row.origin) == "plugin acme-backend 1.0 cov/acme.yaml:5:5"
    assert registry.sources[-2:] == (
        "plugin acme-backend 1.0 backends.yaml",
        "plugin acme-backend 1.0 cov/acme.yaml",
    )
    assert (registry.warnings, [one.active for one in registry.plugins]) == ((), [True])


def test_it_stands_between_the_packaged_layer_and_the_users(site):
    site.plugin("overrides:\n  - {id: numpy, rank: 5}\n")
    Path("backends.yaml").write_text(HEAD + "overrides:\n  - {id: numpy, rank: 6}\n", "utf-8")
    settings = Registry.load().get("numpy").settings("rank")
    assert [one.origin.layer for one in settings] == ["packaged", "plugin", "project"]
    assert [one.value for one in settings][1:] == [5, 6]


def test_only_leaves_plugins_out_unless_they_are_asked_for(site, monkeypatch):
    site.plugin("backends:\n" + backend("acme"))
    assert Registry.load(only=True).get("acme") is None
    assert Registry.load(only=True).plugins == ()
    assert Registry.load(only=True, plugins=True).get("acme") is not None
    assert Registry.load(plugins=False).get("acme") is None
    monkeypatch.setenv("RLX_CONFIG_ONLY", "1")
    assert rlx.default_registry().get("acme") is None


def test_a_plugin_is_trusted_and_may_add_capabilities_and_devices(site):
    site.plugin(
        "devices:\n  - {id: acmeon, name: Acmeon}\n"
        "capabilities:\n  - {id: acme/fast_copy, description: copies fast}\n"
        "backends:\n  - {id: acme, device: acmeon, capabilities: [acme/fast_copy], "
        'probes: [{call: "acme_backend:probe"}]}\n'
    )
    one = Registry.load().get("acme")
    assert one.capabilities == ("acme/fast_copy",)
    assert one.probes[0].trusted


def test_a_plugin_may_declare_operations_that_it_covers(site):
    site.metadata(points="a = acme_backend\nb = acme_backend:operations.yaml")
    site.package(
        'backends:\n  - {id: acme, device: cpu, coverage: {rows: [{operations: ["acme::Copy"], '
        "types: {T: [float32]}}]}}\n"
    )
    site.write(
        "acme_backend/operations.yaml",
        'apiVersion: rlx/v1\nkind: Operations\noperations:\n  - {name: "acme::Copy", '
        "inputs: [{name: X, type: T}], types: {T: [float32, float16]}}\n",
    )
    registry = Registry.load()
    assert registry.get("acme").coverage.rows[0].operations == ("acme::Copy",)
    assert registry.vocabulary.get("acme::Copy") is not None


PLACE = "plugin acme-bad 1.0 backends.yaml"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (
            "backends: [\n",
            f"{PLACE}:4:1: a value is missing here, got the end of the line. "
            "Fix: write the value, or quote it.",
        ),
        (
            "overrides:\n  - {id: numpy, rnak: 1}\n",
            f"{PLACE}:4:17: unknown key 'rnak'. Fix: did you mean 'rank'?",
        ),
        (
            "capabilities:\n  - {id: fast, description: is fast}\n",
            f"{PLACE}:4:10: a plugin's capability must be vendor/name, got 'fast'. "
            "Fix: write acme/fast, with your own vendor's name.",
        ),
        (
            "backends:\n" + backend("numpy"),
            f"{PLACE}:4:10: backend 'numpy' is already registered, at NUMPY. "
            "Fix: add replace: true, or choose another id; to change a value, write an override.",
        ),
        (
            "backends:\n" + backend("bad", ", coverage: ../stolen.yaml"),
            f"{PLACE}:4:47: coverage must be a path below this file's folder, got "
            "'../stolen.yaml'. Fix: write it as 'coverage/name.yaml'.",
        ),
    ],
)
def test_a_broken_plugin_takes_no_part_and_the_others_do(site, body, fault):
    site.plugin("backends:\n" + backend("acme-a"), "acme_a")
    site.plugin(body, "acme_bad")
    site.plugin("backends:\n" + backend("acme-c", ", target: t"), "acme_c")
    registry = Registry.load()
    fault = fault.replace("NUMPY", place("numpy", "id"))
    assert ids(registry)[:2] == ["acme-a", "acme-c"]
    assert faults_of(registry) == {"acme-a": [], "acme-bad": [fault], "acme-c": []}
    (warning,) = (one for one in registry.warnings if one.code != "equal-ranks")
    assert (str(warning), warning.severity) == (fault, "warning")
    assert registry.plugins[1].faults[0].severity == "error"


def test_a_broken_plugin_alone_leaves_the_packaged_layer_as_it_is(site):
    site.plugin("backends: 3\n")
    assert Registry.load().digest == Registry.load(only=True).digest


def test_two_plugins_that_ship_one_id_are_both_named_and_the_first_by_name_keeps_it(site):
    site.plugin("backends:\n" + backend("acme", ", target: one"), "acme_one")
    site.plugin("backends:\n" + backend("acme", ", target: two, replace: true"), "acme_two")
    registry = Registry.load()
    assert registry.get("acme").target == "one"
    assert faults_of(registry)["acme-two"] == [
        "plugin acme-two 1.0 backends.yaml:4:10: backend 'acme' is already registered, at plugin "
        "acme-one 1.0 backends.yaml:4:10. Fix: uninstall one of the two plugins, or have its "
        "author choose another id."
    ]


def test_one_plugin_that_ships_an_id_twice_is_told_to_delete_one(site):
    site.plugin("backends:\n" + backend("acme") + backend("acme"))
    assert faults_of(Registry.load())["acme-backend"] == [
        "plugin acme-backend 1.0 backends.yaml:5:10: backend 'acme' is already registered, at "
        "plugin acme-backend 1.0 backends.yaml:4:10. Fix: delete one of them, or choose another id."
    ]


def test_a_plugin_may_not_override_another_plugins_backend(site):
    site.plugin("backends:\n" + backend("acme"), "acme_one")
    site.plugin("overrides:\n  - {id: acme, rank: 1}\n", "acme_two")
    registry = Registry.load()
    assert registry.get("acme").rank == 7
    assert faults_of(registry)["acme-two"] == [
        "plugin acme-two 1.0 backends.yaml:4:10: 'acme' is registered in this same layer, at "
        "plugin acme-one 1.0 backends.yaml:4:10. Fix: write the value there; an override is for a "
        "backend of an earlier layer."
    ]


def test_a_plugin_with_one_bad_entry_point_takes_no_part_at_all(site):
    site.metadata(points="a = acme_backend\nb = acme_backend:absent.yaml")
    site.package("backends:\n" + backend("acme"))
    registry = Registry.load()
    assert registry.get("acme") is None
    assert len(faults_of(registry)["acme-backend"]) == 1


def test_what_a_user_wrote_for_a_broken_plugin_fails_with_the_plugins_faults_too(site):
    site.plugin("backends:\n" + backend("acme") + UNKNOWN)
    Path("backends.yaml").write_text(HEAD + "overrides:\n  - {id: acme, rank: 1}\n", "utf-8")
    with pytest.raises(ConfigError) as caught:
        Registry.load()
    first, second = caught.value.faults
    assert (first.code, first.severity) == ("unknown-override", "error")
    assert (second.origin.path, second.severity) == (
        "plugin acme-backend 1.0 backends.yaml",
        "warning",
    )


def test_a_broken_plugin_is_logged_with_every_place(site, caplog):
    site.plugin("backends:\n  - {id: acme, device: cpu, rnak: 1, targte: x}\n")
    with caplog.at_level(logging.WARNING, "rlx"):
        rlx.reload()
    (record,) = caplog.records
    assert record.getMessage() == (
        "plugin acme-backend 1.0 is installed, but takes no part:\n"
        "plugin acme-backend 1.0 backends.yaml:4:29: unknown key 'rnak'. "
        "Fix: did you mean 'rank'?\n"
        "plugin acme-backend 1.0 backends.yaml:4:38: unknown key 'targte'. "
        "Fix: did you mean 'target'?"
    )


def test_asking_for_its_backend_says_that_the_plugin_takes_no_part(site, monkeypatch):
    site.plugin("backends: 3\n")
    message = (
        "no backend 'acme' is registered; plugin acme-backend 1.0 is installed, but not used: "
        "`rlx backends` says why"
    )
    with pytest.raises(UnknownBackend) as caught:
        rlx.Session(backend="acme")
    assert caught.value.message == message
    monkeypatch.setenv("RLX_BACKEND", "acme")
    with pytest.raises(SettingError) as caught:
        rlx.Session()
    assert caught.value.message == message


def test_code_and_later_layers_keep_what_is_known_of_plugins(site):
    site.plugin("backends: 3\n", "acme_bad")
    site.plugin("backends:\n" + backend("acme"), "acme_good")
    Path("backends.yaml").write_text(HEAD + "overrides:\n  - {id: numpy, rank: 8}\n", "utf-8")
    registry = Registry.load()
    registry = registry.with_backend(rlx.Registration("mine", "cpu", "mine", 3))
    assert [str(one) for one in registry.plugins] == ["plugin acme-bad 1.0", "plugin acme-good 1.0"]
    assert [one.origin.path for one in registry.warnings] == ["plugin acme-bad 1.0 backends.yaml"]


def test_a_plugins_file_that_is_named_or_found_as_the_projects_is_read_once(site):
    file = site.plugin("backends:\n" + backend("acme"))
    assert str(Registry.load([file]).get("acme").origin) == f"{file}:4:5"
    folder = file.parent
    assert str(Registry.load(cwd=folder).get("acme").origin).startswith("plugin ")


def test_a_plugin_that_is_installed_or_removed_shows_after_a_reload(site):
    before = rlx.default_registry()
    site.plugin("backends:\n" + backend("acme"))
    assert rlx.default_registry() is before
    assert rlx.reload().get("acme") is not None
    (site.folder / "acme_backend-1.0.dist-info/entry_points.txt").unlink()
    assert rlx.reload().digest == before.digest


def loaded_by(code, folder):
    script = f"import sys; sys.path.append({str(folder)!r}); {code}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stdout.split())


def test_without_plugins_no_parser_is_loaded(site):
    loaded = loaded_by("import rlx; rlx.Registry.load(plugins=True, only=True)", site.folder)
    assert "rlx.manifest.plugins.distributions" in loaded
    assert not loaded & {"yaml", "pydantic", "numpy", "onnx", "importlib.metadata"}


def test_loading_imports_no_plugin(site):
    site.plugin("backends:\n" + backend("acme"))
    loaded = loaded_by("import rlx; assert rlx.Registry.load().get('acme')", site.folder)
    assert "rlx.freeze.plugins" in loaded
    assert not loaded & {"acme_backend", "numpy", "onnx"}
