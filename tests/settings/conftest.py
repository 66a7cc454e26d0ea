"""A small registry to ask for things in."""

import pytest

from rlx.device import Device
from rlx.freeze.content import Capability, Content, Routing
from rlx.registration import Registration
from rlx.registries import Registry


@pytest.fixture
def make_registry():
    def make(**routing):
        return Registry(
            Content(
                registrations=(
                    Registration("torch-cuda", "cuda", "torch-cuda", 10, dispatches=True),
                    Registration("numpy", "cpu", "numpy", 200, dispatches=True),
                ),
                devices=(Device("cpu", "CPU"), Device("cuda", "CUDA", ("nvidia",))),
                capabilities=(Capability("deterministic", "same bits"), Capability("strings", "s")),
                routing=Routing(**routing),
            )
        )

    return make


@pytest.fixture
def registry(make_registry):
    return make_registry()
