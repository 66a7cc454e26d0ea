"""Opening adapters: what there is, what there is not, and what is said."""

import pytest

from rlx.backends.protocol import Found
from rlx.backends.shader import devices
from rlx.device import DeviceSpec
from rlx.errors import SettingError, Unavailable

OPENERS = {"vulkan": devices.open_vulkan, "opengl": devices.open_opengl}
PROBES = {"vulkan": devices.probe_vulkan, "opengl": devices.probe_opengl}
EACH = [
    pytest.param("vulkan", marks=pytest.mark.needs("wgpu")),
    pytest.param("opengl", marks=pytest.mark.needs("moderngl")),
]


@pytest.mark.parametrize("device", EACH)
def test_a_probe_says_what_the_adapter_is(device):
    """A CPU that emulates it says so."""
    found = PROBES[device](0)
    assert isinstance(found, Found)
    assert found.software == ("llvmpipe" in found.detail)


@pytest.mark.parametrize("device", EACH)
def test_the_device_is_read_from_the_live_adapter(device):
    """After opening."""
    backend = OPENERS[device](DeviceSpec(device), {})
    assert backend.device == device
    backend.close()
    backend.close()


@pytest.mark.needs("wgpu")
def test_an_adapter_that_there_is_not_is_refused():
    """By its number."""
    with pytest.raises(Unavailable) as caught:
        devices.open_vulkan(DeviceSpec("vulkan", 99), {})
    assert caught.value.message.endswith("vulkan adapter(s), got vulkan:99")


@pytest.mark.needs("wgpu")
def test_a_probe_that_finds_no_adapter_says_what_to_install(monkeypatch):
    """In one line, as `rlx devices` prints it."""
    monkeypatch.setattr("rlx.backends.shader.wgpu_driver.adapters", lambda device: [])
    assert devices.probe_vulkan(0) == (
        "wgpu has 0 vulkan adapter(s), got vulkan:0; install the GPU's driver with Vulkan (for "
        "Mesa's GPUs, Debian's mesa-vulkan-drivers)"
    )


@pytest.mark.parametrize("device", EACH)
def test_an_option_is_refused(device):
    """There are none."""
    name = "opengl" if device == "opengl" else "wgpu-vulkan"
    with pytest.raises(SettingError) as caught:
        OPENERS[device](DeviceSpec(device), {"fast": True})
    assert caught.value.message == f"{name} has no option 'fast'"


@pytest.mark.needs("wgpu")
def test_wgpu_gives_modules_without_checks():
    """Where it no longer does, products lose a third of their speed: look at wgpu_modules."""
    from rlx.backends.shader.wgpu_modules import is_unchecked, shader_module

    driver = devices._wgpu_driver("vulkan", 0)
    assert is_unchecked(shader_module(driver._device, "@compute @workgroup_size(1) fn main() {}"))
    driver.close()
