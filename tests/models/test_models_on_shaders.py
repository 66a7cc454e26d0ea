"""Real models in shaders, on whatever adapters there are: as onnxruntime answers, or refused."""

import pytest

from rlx.errors import NoBackend
from tests.models.agreement import LIMIT, errors, through
from tests.models.catalogue import MODELS

pytestmark = [pytest.mark.needs("models"), pytest.mark.needs("onnxruntime")]
DRIVERS = [
    pytest.param("wgpu-vulkan", marks=pytest.mark.needs("wgpu")),
    pytest.param("opengl", marks=pytest.mark.needs("moderngl")),
]
SMALL = ("silero-vad-ifless", "silero-vad-openvino")
"""Those that a processor that emulates a GPU runs in seconds; `python -m tests.models` runs all."""


@pytest.mark.parametrize("backend", DRIVERS)
@pytest.mark.parametrize("name", SMALL)
def test_a_model_in_shaders_agrees_with_onnxruntime(backend, name):
    """Through the router, within a thousandth of the output's scale."""
    with through(backend, MODELS[name]) as run:
        assert max(errors(run, MODELS[name])) <= LIMIT


@pytest.mark.parametrize("backend", DRIVERS)
def test_a_model_with_float64_is_refused_before_anything_runs(backend):
    """Shaders have none; the node is named."""
    with pytest.raises(NoBackend) as caught, through(backend, MODELS["swift-f0"]):
        pass
    line = next(one for one in str(caught.value).splitlines()[1:] if one.split()[:1] == [backend])
    assert "coverage" in line
    assert "node 'Cast_" in line
