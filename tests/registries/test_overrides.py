"""Layers: what overrides and replacements change, and where each value came from."""

import pytest

from rlx.registration import LAST_RANK
from rlx.registries import Registry, freeze

REPLACED = """\
backends:
  - id: numpy
    device: cuda
    replace: true
    options: {threads: 4}
"""


def places(settings):
    return [(one.value, str(one.origin)) for one in settings]


def test_an_override_changes_rank_and_remembers_what_it_was(base, manifest):
    one = freeze([manifest("overrides:\n  - {id: numpy, rank: 5}\n")], base=base).get("numpy")
    assert one.rank == 5
    assert places(one.settings("rank")) == [(200, "base.yaml:22:11"), (5, "backends.yaml:4:23")]
    assert str(one.source("rank")) == "backends.yaml:4:23"


def test_the_latest_of_three_layers_wins(base, manifest):
    layers = [
        manifest("overrides:\n  - {id: numpy, rank: 7}\n", "user.yaml", "user"),
        manifest("overrides:\n  - {id: numpy, rank: 3}\n", "project.yaml", "project"),
    ]
    one = freeze(layers, base=base).get("numpy")
    assert [value for value, _ in places(one.settings("rank"))] == [200, 7, 3]


def test_an_override_may_come_before_another_backend(base, manifest):
    registry = freeze([manifest("overrides:\n  - {id: numpy, rank: 5}\n")], base=base)
    assert [one.id for one in registry.registrations] == ["numpy", "onnxruntime-cpu", "reference"]


def test_options_are_merged_by_key(base, manifest):
    text = "overrides:\n  - {id: numpy, options: {threads: 8, fast: true}}\n"
    one = freeze([manifest(text)], base=base).get("numpy")
    assert one.options == (("fast", True), ("library", ""), ("threads", 8))
    assert places(one.settings("options.threads")) == [
        (1, "base.yaml:25:24"),
        (8, "backends.yaml:4:36"),
    ]
    assert places(one.settings("options.library")) == [("", "base.yaml:25:36")]


def test_every_overridable_field_can_be_overridden(base, manifest):
    text = """\
overrides:
  - id: numpy
    rank: 1
    enabled: false
    dispatches: false
    capabilities: [strings]
    install: "pip install numpy"
    probes:
      - {module: numpy, version: ">=2"}
      - {platform: [linux, macos]}
"""
    one = freeze([manifest(text)], base=base).get("numpy")
    assert (one.rank, one.enabled, one.dispatches) == (1, False, False)
    assert (one.capabilities, one.install) == (("strings",), "pip install numpy")
    assert [probe.kind for probe in one.probes] == ["module", "platform"]
    assert str(one.probes[1].origin) == "backends.yaml:12:9"
    assert places(one.settings("probes")) == [
        (("module numpy >=2", "platform linux, macos"), "backends.yaml:11:7")
    ]


def test_an_empty_list_is_a_value(base, manifest):
    text = "overrides:\n  - {id: numpy, capabilities: [strings]}\n"
    later = "overrides:\n  - {id: numpy, capabilities: []}\n"
    layers = [manifest(text), manifest(later, "rlx.yaml", "project")]
    assert freeze(layers, base=base).get("numpy").capabilities == ()


def test_a_replacement_keeps_nothing_but_the_history_of_what_it_sets(base, manifest):
    one = freeze([manifest(REPLACED)], base=base).get("numpy")
    assert (one.device, one.rank, one.factory, one.dispatches) == ("cuda", LAST_RANK, None, False)
    assert places(one.settings("device")) == [
        ("cpu", "base.yaml:21:13"),
        ("cuda", "backends.yaml:5:13"),
    ]
    assert one.settings("rank") == ()
    assert one.options == (("threads", 4),)
    assert str(one.origin) == "backends.yaml:4:5"


def test_a_later_layer_may_override_a_replacement(base, manifest):
    later = manifest("overrides:\n  - {id: numpy, rank: 2}\n", "rlx.yaml", "project")
    one = freeze([manifest(REPLACED), later], base=base).get("numpy")
    assert (one.device, one.rank) == ("cuda", 2)


def test_replace_without_an_earlier_backend_registers(base, manifest):
    text = "backends:\n  - {id: mine, device: cpu, replace: true}\n"
    assert freeze([manifest(text)], base=base).get("mine").target == "mine"


def test_arguments_are_layers_of_their_own_in_order(base, manifest):
    body = "overrides:\n  - {{id: numpy, rank: {}}}\n"
    first = manifest(body.format(8), "one.yaml", "argument")
    second = manifest(body.format(9), "two.yaml", "argument")
    assert freeze([first, second], base=base).rank("numpy") == 9
    assert freeze([second, first], base=base).rank("numpy") == 8


def test_two_files_of_one_layer_may_not_override_the_same_value(manifest, faults):
    body = "overrides:\n  - {id: numpy, rank: 8}\n"
    assert faults(manifest(body, "a.yaml", "plugin"), manifest(body, "b.yaml", "plugin")) == [
        "b.yaml:4:23: rank of 'numpy' is also overridden by a file of the same layer,"
        " at a.yaml:4:23. Fix: keep one of them."
    ]


def test_two_files_of_one_layer_may_override_different_values(base, manifest):
    one = manifest("overrides:\n  - {id: numpy, rank: 8}\n", "a.yaml", "plugin")
    two = manifest("overrides:\n  - {id: numpy, enabled: false}\n", "b.yaml", "plugin")
    made = freeze([one, two], base=base).get("numpy")
    assert (made.rank, made.enabled) == (8, False)


def test_two_plugins_may_declare_the_very_same_device(base, manifest):
    body = "devices:\n  - {id: npu, name: NPU}\n"
    layers = [manifest(body, "a.yaml", "plugin"), manifest(body, "b.yaml", "plugin")]
    assert [one.id for one in freeze(layers, base=base).devices] == ["cpu", "cuda", "metal", "npu"]


def test_a_plugins_capability_needs_its_vendor(manifest, faults):
    text = "capabilities:\n  - {id: fast_copy, description: copies fast}\n"
    assert faults(manifest(text, "a.yaml", "plugin")) == [
        "a.yaml:4:10: a plugin's capability must be vendor/name, got 'fast_copy'."
        " Fix: write acme/fast_copy, with your own vendor's name."
    ]


def test_freezing_changes_neither_the_manifests_nor_the_base(base, packaged, manifest):
    before = (base.digest, packaged.model.model_dump())
    freeze([manifest(REPLACED)], base=base)
    assert (base.digest, packaged.model.model_dump()) == before
    assert base.get("numpy").device == "cpu"


@pytest.mark.parametrize("rank", [0, 4294967295])
def test_ranks_reach_from_zero_to_the_last(base, manifest, rank):
    registry = freeze([manifest(f"overrides:\n  - {{id: numpy, rank: {rank}}}\n")], base=base)
    assert isinstance(registry, Registry)
    assert registry.rank("numpy") == rank
