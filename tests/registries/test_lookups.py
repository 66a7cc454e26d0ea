"""Looking things up in a registry: any case, aliases, unknown names; and nothing can change."""

import dataclasses

import pytest

from rlx.device import DeviceSpec
from rlx.errors import InvalidDevice, UnknownDevice
from rlx.registries import Registry, freeze

DEVICES = {
    "cpu": (),
    "metal": ("mtl",),
    "mlx": (),
    "ane": ("neural-engine",),
    "cuda": ("nvidia",),
    "rocm": ("amd", "hip"),
    "tpu": (),
    "gpu": ("wgpu",),
    "vulkan": ("vk",),
    "opengl": ("gl",),
    "directx": ("dx12", "d3d12"),
    "webgpu": (),
    "oneapi": (),
    "hexagon": ("qnn",),
    "xdna": (),
    "egpu": (),
    "npu": ("intel-npu",),
}


@pytest.fixture(scope="module")
def shipped():
    return Registry.load(only=True)


def test_the_shipped_devices_and_aliases_are_these(shipped):
    assert {one.id: one.aliases for one in shipped.devices} == DEVICES
    assert [one.id for one in shipped.devices] == list(DEVICES)


@pytest.mark.parametrize(("device", "aliases"), DEVICES.items())
def test_a_device_answers_to_its_id_and_aliases_in_any_case(shipped, device, aliases):
    found = shipped.device(device)
    for name in (device, *aliases):
        assert shipped.device(name) is found
        assert shipped.device(f"  {name.upper()} ") is found
        assert shipped.resolve(DeviceSpec(name, 1)) == DeviceSpec(device, 1)
        assert shipped.resolve(f"{name}:2") == DeviceSpec(device, 2)


def test_an_unknown_device_lists_the_known_ones_and_the_nearest(base):
    with pytest.raises(UnknownDevice) as caught:
        base.device("cudda")
    assert str(caught.value) == (
        "no device is named 'cudda'; known: cpu, cuda (nvidia), metal (mtl)."
        " Fix: did you mean cuda?"
    )


def test_an_unknown_device_near_to_nothing_says_where_to_look(base):
    with pytest.raises(UnknownDevice) as caught:
        base.resolve("quantum:1")
    assert str(caught.value) == (
        "no device is named 'quantum'; known: cpu, cuda (nvidia), metal (mtl)."
        " Fix: name one of these, or declare the device in a manifest."
    )


def test_text_that_is_no_device_spec_is_refused(base):
    with pytest.raises(InvalidDevice):
        base.resolve("cuda:01")


def test_a_thousand_queries_give_the_same_objects(shipped):
    first = (shipped.get("numpy"), shipped.device("nvidia"), shipped.registrations)
    again = {
        (id(shipped.get(" NumPy ")), id(shipped.device("CUDA")), id(shipped.registrations))
        for _ in range(1000)
    }
    assert again == {tuple(map(id, first))}
    assert shipped.coverage is shipped.coverage
    assert shipped.vocabulary is shipped.vocabulary


def test_registered_devices_are_sorted_and_have_an_enabled_backend(base, manifest):
    text = """\
backends:
  - {id: one, device: metal}
  - {id: two, device: cuda, enabled: false}
"""
    assert freeze([manifest(text)], base=base).registered_devices() == ("cpu", "metal")


def test_registrations_are_in_rank_and_id_order(base, manifest):
    text = """\
backends:
  - {id: b, device: cpu, rank: 100}
  - {id: a, device: cpu, rank: 100}
  - {id: z, device: cpu}
"""
    ids = [one.id for one in freeze([manifest(text)], base=base).registrations]
    assert ids == ["a", "b", "onnxruntime-cpu", "numpy", "reference", "z"]


def mutable(value, path="registry", seen=None):
    """The paths below a value to what can change."""
    if isinstance(value, tuple):
        return [
            found for index, one in enumerate(value) for found in mutable(one, f"{path}[{index}]")
        ]
    if dataclasses.is_dataclass(value):
        frozen = [] if value.__dataclass_params__.frozen else [path]
        names = [field.name for field in dataclasses.fields(value)]
        held = [found for n in names for found in mutable(getattr(value, n), f"{path}.{n}")]
        return frozen + held
    return [] if value is None or isinstance(value, str | int | float | bool) else [path]


def test_nothing_reachable_can_change(base, manifest):
    text = "overrides:\n  - {id: numpy, options: {sizes: [1, 2]}}\nrouting: {device: cpu}\n"
    operations = """\
operations:
  - name: "acme::Copy"
    attributes: [{name: axes, type: INTS, default: [0, 1]}]
"""
    layers = [manifest(text), manifest(operations, "ops.yaml", "project", kind="Operations")]
    for registry in (freeze(layers, base=base), Registry.load(only=True)):
        assert mutable(registry) == []
        assert {hash(one) for one in registry.registrations}


def test_the_test_of_mutability_can_fail(base):
    changed = dataclasses.replace(base.content, notes=["a list"])
    assert mutable(Registry(changed)) == ["registry.content.notes"]


@pytest.mark.parametrize("name", ["content", "coverage", "digest", "registrations", "new"])
def test_a_registry_takes_no_assignment(base, name):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(base, name, ())
