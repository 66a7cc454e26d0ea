"""numpy against onnx's reference evaluator and onnxruntime: the light networks and real models."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

import rlx
from benchmarks.models import image, randomized
from benchmarks.results import Figure
from benchmarks.timing import side_by_side
from rlx.cli.demo import NETWORKS
from rlx.program import CANONICAL_OPSET
from tests.models.catalogue import MODELS
from tests.models.packages import missing

Feeds = dict[str, Any]
Row = dict[str, float]
WORST = "the slowest beside onnxruntime"


def measure() -> tuple[list[Figure], dict[str, Any]]:
    """Every network and model in three engines in turn."""
    rows: dict[str, Row] = {}
    unread: dict[str, str] = {}
    for name, (model, feeds) in programs().items():
        print(f"  {name}", file=sys.stderr)
        rows[name], why = one(model, feeds)
        if why is not None:
            unread[name] = why
    speedups = [row["reference"] / row["numpy"] for row in rows.values() if "reference" in row]
    ratios = {name: row["numpy"] / row["onnxruntime"] for name, row in rows.items()}
    worst = max(ratios, key=lambda name: ratios[name])
    return [
        Figure(
            f"numpy backend against onnx's reference, {len(speedups)} networks, geometric mean",
            mean(speedups),
            "x faster",
            20,
            "more",
            f"from {min(speedups):.1f}x to {max(speedups):.0f}x",
        ),
        Figure(
            f"numpy backend against onnxruntime, {len(ratios)} networks, geometric mean",
            mean(list(ratios.values())),
            "x the time",
            3,
            "less",
            f"from {min(ratios.values()):.2f}x to {max(ratios.values()):.2f}x",
        ),
        Figure(
            f"{WORST}: {worst}",
            ratios[worst],
            "x the time",
            3,
            "less",
            f"{rows[worst]['numpy'] * 1e3:.2f} ms, "
            f"onnxruntime {rows[worst]['onnxruntime'] * 1e3:.2f} ms",
        ),
    ], {"seconds_by_network": rows, "without_reference": unread}


def mean(values: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def programs() -> dict[str, tuple[onnx.ModelProto, Feeds]]:
    """Models and inputs by name; the real models where `make models` has put them."""
    found: dict[str, tuple[onnx.ModelProto, Feeds]] = {}
    for network in NETWORKS:
        model = randomized(network)
        found[network] = model, dict([image(model)])
    if missing() is None:
        found |= {name: (onnx.load(one.path), one.feeds()) for name, one in MODELS.items()}
    return found


def one(model: onnx.ModelProto, feeds: Feeds) -> tuple[Row, str | None]:
    """Seconds per run in each engine, after checking that they agree; why one is left out."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    ort = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    wanted = ort.run(None, feeds)
    program = rlx.load(model)
    with rlx.Session(backend="numpy") as session:
        ours = session.compile(program)
        check(ours.run(feeds), wanted)
        fast = side_by_side(
            {"numpy": lambda: ours.run(feeds), "onnxruntime": lambda: ort.run(None, feeds)},
            rounds=10,
            seconds=0.05,
        )
        reference, why = evaluator(program, feeds, wanted)
        if reference is None:
            return fast, why
        slow = side_by_side(
            {"numpy": lambda: ours.run(feeds), "reference": reference}, rounds=3, seconds=0.0
        )
    return {**slow, "onnxruntime": fast["onnxruntime"], "numpy": fast["numpy"]}, None


def evaluator(
    program: rlx.Program, feeds: Feeds, wanted: list[Any]
) -> tuple[Callable[[], Any] | None, str | None]:
    """onnx's evaluator of the program at the canonical opset, if it gives the right answer."""
    names = [value.name for value in program.outputs]
    try:
        reference = ReferenceEvaluator(program.to_onnx(CANONICAL_OPSET))
        check(reference.run(names, feeds), wanted)
    except AssertionError:
        return None, "onnx's reference gives another answer"
    except Exception as error:  # noqa: BLE001 - whatever it raises, it can't be measured
        return None, f"onnx's reference fails: {type(error).__name__}: {error}"[:200]
    return lambda: reference.run(names, feeds), None


def check(found: Any, wanted: list[Any]) -> None:
    """Within a thousandth of the largest value.

    Raises:
        AssertionError: it is not.
    """
    for one, other in zip(found, wanted, strict=True):
        scale = float(np.abs(other).max()) if other.size else 0.0
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=1e-3 * scale)
