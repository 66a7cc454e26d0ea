"""Programs through a session on the shader backends, and what was asked for is what runs."""

import numpy as np
import pytest

import rlx

EACH = [
    pytest.param("wgpu-vulkan", marks=pytest.mark.needs("wgpu")),
    pytest.param("opengl", marks=pytest.mark.needs("moderngl")),
]


def network():
    g = rlx.Graph("hello")
    x = g.input("x", (3, 4), "f32")
    w = g.param("w", (4, 2), "f32")
    g.set_outputs([g.relu(g.matmul(x, w))])
    return g


@pytest.mark.parametrize("backend", EACH)
def test_a_network_runs_on_the_device_that_was_asked_for(backend):
    """Twice, and the first result is not overwritten."""
    draw = np.random.default_rng(0)
    w, first, second = (
        draw.standard_normal(s).astype(np.float32) for s in ((4, 2), (3, 4), (3, 4))
    )
    with rlx.Session(backend=backend) as session:
        model = session.compile(network())
        model.set_param("w", w)
        (one,) = model.run({"x": first})
        (two,) = model.run({"x": second})
    np.testing.assert_allclose(one, np.maximum(first @ w, 0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(two, np.maximum(second @ w, 0), rtol=1e-5, atol=1e-6)
