"""Each driver that may be here, opened once, as an array library of the engine."""

import pytest

from rlx.backends.shader import devices
from rlx.backends.shader.backend import library_of

OPENED = {}
DRIVERS = [
    pytest.param("wgpu", marks=pytest.mark.needs("wgpu")),
    pytest.param("moderngl", marks=pytest.mark.needs("moderngl")),
]


def opened(name):
    if name not in OPENED:
        driver = devices._gl_driver(0) if name == "moderngl" else devices._wgpu_driver("vulkan", 0)
        OPENED[name] = driver
    return OPENED[name]


@pytest.fixture(params=DRIVERS)
def driver(request):
    return opened(request.param)


@pytest.fixture
def library(driver):
    return library_of(driver, "shaders")


@pytest.fixture
def run(library):
    """Computes a function of arrays on the device, and reads the result."""

    def call(function, *arrays):
        held = [library.to_native(array) for array in arrays]
        (made,) = library.guard(lambda: [function(*held)])
        return library.to_host(made)

    return call
