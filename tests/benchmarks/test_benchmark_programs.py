"""What benchmarks compare does the same: programs, and what is written by hand beside them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rlx
from benchmarks import convnet, minilm, transformer

pytestmark = pytest.mark.needs("torch")


def on_numpy(model, *inputs):
    from rlx.backends.array.numpy import open_cpu
    from rlx.backends.protocol import CompileOptions
    from rlx.device import DeviceSpec

    executable = open_cpu(DeviceSpec("cpu"), {}).compile(rlx.load(model), CompileOptions())
    return executable.run(list(inputs))[0]


def test_the_encoder_by_hand_is_the_program():
    import torch

    held, given = minilm.weights(1, 50), minilm.inputs(50, 8)
    hand = minilm.by_hand(held, "cpu", 1)(*map(torch.from_numpy, given.values()))
    found = on_numpy(minilm.program(held, 1, 8), *given.values())
    np.testing.assert_allclose(found, hand.numpy(), rtol=1e-3, atol=1e-4)


def test_the_transformer_by_hand_is_the_program():
    import torch

    held = transformer.weights(1, 48)
    x = np.random.default_rng(0).standard_normal((1, 5, 48)).astype(np.float32)
    hand = transformer.by_hand(held, 1, 4, "cpu")(torch.from_numpy(x))
    found = on_numpy(transformer.program(held, 1, 48, 4, 5), x)
    np.testing.assert_allclose(found, hand.numpy(), rtol=1e-3, atol=1e-4)


def test_the_residual_network_by_hand_is_the_program():
    import torch

    held = convnet.weights()
    x = np.random.default_rng(0).standard_normal(convnet.IMAGE).astype(np.float32)
    found = on_numpy(convnet.program(held), x)
    hand = convnet.in_torch(held)(torch.from_numpy(x))
    np.testing.assert_allclose(found, hand.numpy(), rtol=1e-3, atol=1e-3)


@pytest.mark.needs("jax")
def test_the_networks_by_hand_in_jax_are_the_programs():
    from benchmarks import by_hand

    held = convnet.weights()
    x = np.random.default_rng(0).standard_normal(convnet.IMAGE).astype(np.float32)
    found = on_numpy(convnet.program(held), x)
    np.testing.assert_allclose(found, convnet.in_jax(held)(x), rtol=1e-3, atol=1e-3)
    model, x = by_hand.networks()["transformer"]
    hand = by_hand.in_jax(transformer.weights(by_hand.LAYERS, by_hand.WIDTH))
    np.testing.assert_allclose(on_numpy(model, x), hand(x), rtol=1e-3, atol=1e-3)


def test_the_gpus_benchmark_works_without_one(capsys, tmp_path):
    from benchmarks import gpu

    gpu.main(["--smoke", "--output", str(tmp_path / "out.json")])
    found = json.loads((tmp_path / "out.json").read_text())
    assert json.loads(capsys.readouterr().out) == found
    for network in ("transformer of 1 layers", "encoder like MiniLM-L6"):
        assert found[network]["apart, by scale"] < 1e-4
        assert found[network]["milliseconds"].keys() == {"rlx", "eager torch"}
