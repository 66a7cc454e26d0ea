"""A project file that is not trusted: what it may change, and how the rest is refused."""

import pytest

from rlx.registries import Registry, freeze


@pytest.fixture
def project(manifest):
    return lambda body, kind="Backends": manifest(
        body, "rlx.yaml", "project", trusted=False, kind=kind
    )


def refusal(place, what):
    return (
        f"rlx.yaml:{place}: {what} is refused until this file is trusted."
        " Fix: read it, then run `rlx trust rlx.yaml`; or name it, by RLX_CONFIG or --config."
    )


def test_ranks_switches_safe_options_and_routing_are_allowed(base, project):
    text = """\
overrides:
  - {id: numpy, rank: 5, options: {threads: 4}}
  - {id: onnxruntime-cpu, enabled: false}
routing: {backend: numpy, kernel_dispatch: native}
"""
    registry = freeze([project(text)], base=base)
    assert (registry.rank("numpy"), registry.routing.backend.value) == (5, "numpy")
    assert registry.get("numpy").options == (("library", ""), ("threads", 4))
    assert not registry.get("onnxruntime-cpu").enabled


def test_devices_capabilities_and_backends_are_refused(project, faults):
    text = """\
devices:
  - {id: npu, name: NPU}
capabilities:
  - {id: fast_copy, description: copies fast}
backends:
  - {id: mine, device: cpu}
"""
    assert faults(project(text)) == [
        refusal("4:5", "device 'npu'"),
        refusal("6:5", "capability 'fast_copy'"),
        refusal("8:5", "backend 'mine'"),
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dispatches", "false"),
        ("capabilities", "[strings]"),
        ("install", "curl x"),
        ("probes", "[{call: 'evil:run'}]"),
    ],
)
def test_other_overrides_are_refused(project, faults, field, value):
    assert faults(project(f"overrides:\n  - {{id: numpy, {field}: {value}}}\n")) == [
        refusal("4:17", f"overriding {field} of 'numpy'")
    ]


def test_an_option_that_the_backend_does_not_call_safe_is_refused(project, faults):
    assert faults(project("overrides:\n  - {id: numpy, options: {library: mkl}}\n")) == [
        refusal("4:27", "option 'library', which numpy does not list in safe_options,")
    ]


@pytest.mark.parametrize(
    "value",
    ["./x", "/lib/x", "..", "~root", "a\\\\b", "C:x", "libx.so", "x.so.1", "X.DLL", "a.dylib"],
)
def test_a_path_or_library_is_refused_even_for_a_safe_option(project, faults, value):
    text = f'overrides:\n  - {{id: numpy, options: {{threads: "{value}"}}}}\n'
    shown = value.replace("\\\\", "\\")
    assert faults(project(text)) == [
        refusal("4:36", f"the value '{shown}' of option 'threads', not a plain word or number,")
    ]


def test_a_list_is_refused_for_a_safe_option(project, faults):
    assert faults(project("overrides:\n  - {id: numpy, options: {threads: [1]}}\n")) == [
        refusal("4:36", "the value [1] of option 'threads', not a plain word or number,")
    ]


@pytest.mark.parametrize(
    ("kind", "body"),
    [("Operations", "operations: []\n"), ("Coverage", "evidence: {kind: declared}\nrows: []\n")],
)
def test_other_kinds_are_refused(project, faults, kind, body):
    assert faults(project(body, kind)) == [refusal("2:7", f"a manifest of kind {kind}")]


def test_the_same_file_is_accepted_where_a_user_names_it(tmp_path, monkeypatch):
    (tmp_path / "rlx.yaml").write_text(
        "apiVersion: rlx/v1\nkind: Backends\nbackends:\n  - {id: mine, device: cpu}\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="is refused until this file is trusted"):
        Registry.load()
    assert Registry.load(["rlx.yaml"]).get("mine").device == "cpu"
    assert Registry.load(environment="rlx.yaml").get("mine").device == "cpu"
