"""A Vulkan device, which a CPU may emulate; tests that need one are skipped where there is none."""

import os

import pytest


@pytest.fixture(scope="session")
def vulkan():
    """What IREE finds; where RLX_TEST_REQUIRE names vulkan, there must be one."""
    from rlx.backends.iree.devices import probe

    found = probe("vulkan", 0)
    if isinstance(found, str):
        if "vulkan" in os.environ.get("RLX_TEST_REQUIRE", "").replace(" ", "").split(","):
            pytest.fail(f"{found}, and RLX_TEST_REQUIRE requires vulkan here")
        pytest.skip(f"needs a Vulkan device: {found}")
    return found
