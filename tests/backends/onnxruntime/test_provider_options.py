"""Each provider's options are known beforehand, and its registration says what its record says."""

from __future__ import annotations

import pytest

import rlx
from rlx.backends.onnxruntime import open_provider, open_qnn_emulated, providers
from rlx.backends.onnxruntime.options import OWN, checked
from rlx.backends.onnxruntime.provider import Provider
from rlx.device import DeviceSpec
from rlx.errors import SettingError
from rlx.references import resolve

EVERY = [one for one in vars(providers).values() if isinstance(one, Provider)]


@pytest.mark.parametrize("provider", EVERY, ids=lambda one: one.id)
def test_a_registration_says_what_the_record_says(provider: Provider) -> None:
    """Its id, its device, the factory and the probe that are this record's own."""
    found = rlx.default_registry().get(provider.id)
    assert found is not None
    assert found.device == provider.device
    if provider.id not in ("onnxruntime-cpu", "onnxruntime-qnn-emulated"):
        assert resolve(str(found.factory)) == provider.open
    if provider.id != "onnxruntime-cpu":
        calls = [one.values[0] for one in found.probes if one.kind == "call"]
        assert [resolve(one) for one in calls] == [provider.probe]


@pytest.mark.parametrize("provider", EVERY, ids=lambda one: one.id)
def test_keys_are_sorted_and_none_is_both_taken_and_refused(provider: Provider) -> None:
    assert list(provider.keys) == sorted(set(provider.keys))
    assert not set(provider.keys) & ({*provider.ours} | set(OWN))
    assert set(provider.fixed) <= {*provider.ours, *provider.keys}


@pytest.mark.parametrize("provider", [one for one in EVERY if one.keys], ids=lambda one: one.id)
def test_a_misspelt_option_is_refused_with_the_nearest(provider: Provider) -> None:
    """Before anything is imported: the engine would ignore it."""
    right = max(provider.keys, key=len)
    wrong = right[:-1]
    with pytest.raises(SettingError) as caught:
        provider.open(DeviceSpec(provider.device, 0), {wrong: 1})
    assert str(caught.value) == (
        f"{provider.id} has no option {wrong!r}. Fix: did you mean {right!r}?"
    )


@pytest.mark.parametrize(
    ("provider", "option", "message"),
    [
        (
            providers.CUDA,
            "use_tf32",
            "onnxruntime-cuda sets use_tf32 by itself. "
            "Fix: a program is computed as it states: export it in another precision.",
        ),
        (
            providers.CUDA,
            "device_id",
            "onnxruntime-cuda sets device_id by itself. "
            "Fix: ask for the device by its index, such as cuda:1.",
        ),
        (
            providers.OPENVINO,
            "device_type",
            "onnxruntime-openvino sets device_type by itself. "
            "Fix: ask for oneapi:0, or another index.",
        ),
        (
            providers.WEBGPU,
            "forceCpuNodeNames",
            "onnxruntime-webgpu sets forceCpuNodeNames by itself. Fix: no node is left to the CPU.",
        ),
    ],
)
def test_what_rlx_promises_is_no_option(provider: Provider, option: str, message: str) -> None:
    with pytest.raises(SettingError) as caught:
        provider.open(DeviceSpec(provider.device, 0), {option: "1"})
    assert str(caught.value) == message


def test_values_become_the_text_that_providers_take() -> None:
    keys = ("a", "b", "c", "d")
    found = checked("x", {"a": True, "b": 0.5, "c": 3, "d": "on", "intra_op_threads": 2}, keys, {})
    assert found == ({"intra_op_threads": 2}, {"a": "1", "b": "0.5", "c": "3", "d": "on"})


def test_a_value_that_is_no_scalar_is_refused() -> None:
    with pytest.raises(SettingError) as caught:
        checked("x", {"a": [1]}, ("a",), {})
    assert str(caught.value) == (
        "a must be text, a number, true or false, got [1]. Fix: write a: 1, for example."
    )


def test_the_emulator_checks_options_before_it_starts_a_process() -> None:
    with pytest.raises(SettingError) as caught:
        open_qnn_emulated(DeviceSpec("hexagon", 0), {"soc_modl": 57})
    assert str(caught.value) == (
        "onnxruntime-qnn-emulated has no option 'soc_modl'. Fix: did you mean 'soc_model'?"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {},
            "provider must be a provider's name, got None. "
            "Fix: write provider: CUDAExecutionProvider, or another.",
        ),
        (
            {"provider": "MineExecutionProvider", "library": 3},
            "library must be a path, got 3. Fix: write it in quotes, or leave it.",
        ),
        (
            {"provider": "MineExecutionProvider", "level": 3},
            "MineExecutionProvider has no option 'level'. "
            "Fix: use one of graph_optimization, inter_op_threads, intra_op_threads.",
        ),
    ],
)
def test_a_provider_of_ones_own_is_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        open_provider(DeviceSpec("cuda", 0), options)
    assert str(caught.value) == message
