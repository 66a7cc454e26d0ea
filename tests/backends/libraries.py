"""Each backend that may be here, opened by its factory whatever the packaged layer says of it."""

import importlib

import numpy as np
import pytest

import rlx
from rlx import testing

FACTORIES = {
    "numpy": ("cpu", "rlx.backends.array.numpy:open_cpu"),
    "onnxruntime": ("cpu", "rlx.backends.onnxruntime:open_cpu"),
    "reference": ("cpu", "rlx.backends.reference:open_cpu"),
    "torch": ("cpu", "rlx.backends.array.torch:open_cpu"),
    "jax": ("cpu", "rlx.backends.array.jax:open_cpu"),
    "mlx": ("mlx", "rlx.backends.array.mlx:open_mlx"),
    "openvino": ("cpu", "rlx.backends.openvino:open_cpu"),
    "tinygrad": ("cpu", "rlx.backends.tinygrad:open_cpu"),
}
"""By the module that it needs: the device, and the factory."""
GPUS = {
    "torch": ("cuda", "rlx.backends.array.torch:open_cuda"),
    "jax": ("cuda", "rlx.backends.array.jax:open_cuda"),
    "cupy": ("cuda", "rlx.backends.array.cupy:open_cuda"),
}
"""The same, on an NVIDIA GPU."""


def cases(*names):
    """The backends' names as parameters, each marked with the module that it needs."""
    free = ("numpy", "reference")
    return [
        pytest.param(name, marks=[] if name in free else pytest.mark.needs(name)) for name in names
    ]


EVERY = cases(*FACTORIES)
OWN = cases("torch", "jax", "mlx")
"""Those that have arrays of their own."""


def session_on(name, *programs, table=FACTORIES):
    """A session whose only backend is this one, covering the programs."""
    device, factory = table[name]
    covered = testing.covering(*(rlx.load(one) for one in programs))
    made = testing.registration(
        name,
        device,
        factory=factory,
        options=(),
        coverage=covered,
        capabilities=("dynamic_shapes",),
    )
    return rlx.Session(registry=testing.registry(made))


def own_type(name):
    """The type of the library's arrays."""
    module, attribute = {
        "torch": ("torch", "Tensor"),
        "jax": ("jax", "Array"),
        "mlx": ("mlx.core", "array"),
    }[name]
    return getattr(importlib.import_module(module), attribute)


def own(name, array):
    """A NumPy array as one of the library's, on the CPU, in memory of its own."""
    if name == "torch":
        import torch

        return torch.from_numpy(np.array(array))
    if name == "jax":
        import jax

        return jax.device_put(np.array(array), jax.devices("cpu")[0])
    import mlx.core as mx

    return mx.array(array)
