"""`routing:` of several layers: the strongest that sets device or backend replaces both."""

import pytest

from rlx.registries import freeze


def routing(base, manifest, *bodies):
    layers = ["system", "user", "project"]
    files = [
        manifest(f"routing: {body}\n", f"{layer}.yaml", layer)
        for layer, body in zip(layers, bodies, strict=False)
    ]
    made = freeze(files, base=base).routing
    return [
        None if one is None else (one.value, str(one.origin))
        for one in (made.kernel_dispatch, made.device, made.backend)
    ]


def test_nothing_is_asked_for_by_default(base):
    assert (base.routing.kernel_dispatch, base.routing.device, base.routing.backend) == (None,) * 3


def test_the_later_layer_wins(base, manifest):
    assert routing(base, manifest, "{device: cuda}", '{device: "metal,cpu"}') == [
        None,
        ("metal,cpu", "user.yaml:3:19"),
        None,
    ]


def test_a_device_replaces_an_earlier_backend(base, manifest):
    found = routing(base, manifest, "{backend: numpy}", "{device: cuda}")
    assert found == [None, ("cuda", "user.yaml:3:19"), None]


def test_a_backend_replaces_an_earlier_device(base, manifest):
    found = routing(base, manifest, "{device: cuda}", "{backend: NumPy}")
    assert found == [None, None, ("NumPy", "user.yaml:3:20")]


def test_kernel_dispatch_is_a_setting_of_its_own(base, manifest):
    found = routing(base, manifest, "{device: cuda, kernel_dispatch: native}", "{backend: numpy}")
    assert found == [("native", "system.yaml:3:42"), None, ("numpy", "user.yaml:3:20")]


def test_auto_asks_for_nothing(base, manifest):
    assert routing(base, manifest, "{device: cuda}", "{device: auto}") == [None, None, None]


def test_what_a_later_layer_replaces_is_checked_too(manifest, faults):
    one = manifest("routing: {device: quantum, backend: tpu}\n", "user.yaml", "user")
    two = manifest("routing: {device: cpu}\n", "rlx.yaml", "project")
    assert faults(one, two) == [
        "user.yaml:3:19: unknown device 'quantum'."
        " Fix: write one of: cpu, cuda, metal, mtl, nvidia.",
        "user.yaml:3:37: unknown backend 'tpu'."
        " Fix: write one of: numpy, onnxruntime-cpu, reference.",
    ]


@pytest.mark.parametrize("key", ["device", "backend", "kernel_dispatch"])
def test_two_files_of_one_layer_may_not_set_the_same_key(manifest, faults, key):
    value = {"device": "cpu", "backend": "numpy", "kernel_dispatch": "native"}[key]
    body = f"routing:\n  {key}: {value}\n"
    column = len(key) + 5
    assert faults(manifest(body, "a.yaml", "plugin"), manifest(body, "b.yaml", "plugin")) == [
        f"b.yaml:4:{column}: routing.{key} is also set by a file of the same layer,"
        f" at a.yaml:4:{column}. Fix: keep one of them."
    ]


@pytest.mark.parametrize(
    ("devices", "twice", "again"),
    [("cuda,nvidia", "cuda", "nvidia"), ("NVIDIA:1, cpu, cuda:1", "cuda:1", "cuda:1")],
)
def test_one_device_under_two_names_is_a_fault_of_the_file(faults, manifest, devices, twice, again):
    assert faults(manifest(f"routing: {{device: '{devices}'}}")) == [
        f"backends.yaml:3:19: device lists {twice} twice: {again} is the same."
        " Fix: name each device once."
    ]


def test_one_device_by_two_indices_is_two_devices(base, manifest):
    found = routing(base, manifest, "{device: 'cuda:1,nvidia:0,cuda'}")
    assert found == [None, ("cuda:1,nvidia:0,cuda", "system.yaml:3:19"), None]


def test_overrides_and_policy_are_set_apart_and_hold_together(base, manifest):
    """A later layer that sets one of them leaves the other as it is."""
    found = routing(
        base,
        manifest,
        "{kernel_dispatch_overrides: {Add: native}}",
        "{kernel_dispatch: common}",
        "{kernel_dispatch_overrides: {Relu: native}}",
    )
    assert found[0] == ("common,Relu=native", "project.yaml:3:38")
    found = routing(base, manifest, "{kernel_dispatch_overrides: {Add: native}}", "{device: cpu}")
    assert found[0] == ("prefer-native,Add=native", "system.yaml:3:38")
