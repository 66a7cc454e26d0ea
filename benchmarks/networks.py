"""numpy against onnx's reference evaluator and against onnxruntime, on the light networks."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import onnxruntime
from onnx.reference import ReferenceEvaluator

import rlx
from benchmarks.models import image, randomized
from benchmarks.results import Figure
from benchmarks.timing import side_by_side
from rlx.cli.demo import NETWORKS


def measure() -> tuple[list[Figure], dict[str, Any]]:
    """Every network in three engines in turn."""
    rows: dict[str, dict[str, float]] = {}
    for network in NETWORKS:
        print(f"  {network}", file=sys.stderr)
        rows[network] = one(network)
    speedups = [row["reference"] / row["numpy"] for row in rows.values()]
    mean = math.exp(sum(map(math.log, speedups)) / len(speedups))
    resnet = rows["resnet50"]
    return [
        Figure(
            "numpy backend against onnx's reference, nine networks, geometric mean",
            mean,
            "x faster",
            10,
            "more",
            f"from {min(speedups):.1f}x to {max(speedups):.0f}x",
        ),
        Figure(
            "numpy backend against onnxruntime, ResNet-50",
            resnet["numpy"] / resnet["onnxruntime"],
            "x the time",
            3,
            "less",
            f"{resnet['numpy'] * 1e3:.1f} ms, onnxruntime {resnet['onnxruntime'] * 1e3:.1f} ms",
        ),
    ], {"seconds_by_network": rows}


def one(network: str) -> dict[str, float]:
    """Seconds per run in each engine, after checking that they agree."""
    model = randomized(network)
    name, data = image(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    ort = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    reference = ReferenceEvaluator(model)
    with rlx.Session(backend="numpy") as session:
        ours = session.compile(model)
        (want,) = ort.run(None, {name: data})
        (got,) = ours(data)
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=1e-3 * float(np.abs(want).max()))
        fast = side_by_side(
            {"numpy": lambda: ours(data), "onnxruntime": lambda: ort.run(None, {name: data})},
            rounds=10,
            seconds=0.05,
        )
        slow = side_by_side(
            {"numpy": lambda: ours(data), "reference": lambda: reference.run(None, {name: data})},
            rounds=3,
            seconds=0.0,
        )
    return {**slow, **fast}
