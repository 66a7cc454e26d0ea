"""What a call through rlx costs beyond the engine called directly."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime

import rlx
from benchmarks.models import add
from benchmarks.results import Figure
from benchmarks.timing import side_by_side


def measure() -> tuple[list[Figure], dict[str, Any]]:
    """One and four inputs, static and symbolic sizes, over onnxruntime; the added time per call."""
    figures, details = [], {}
    for kind, shape, per_tensor in (("static", [4], 0.1), ("symbolic", ["n"], 0.3)):
        for inputs in (1, 4):
            row = one(inputs, shape)
            details[f"{kind}, {inputs} inputs"] = row
            figures.append(
                Figure(
                    f"a call through rlx adds, {inputs} input{'s' * (inputs > 1)}, {kind} sizes",
                    (row["rlx"] - row["direct"]) * 1e6,
                    "µs",
                    0.5 + per_tensor * (inputs + 1),
                    against=f"onnxruntime directly {row['direct'] * 1e6:.2f} µs",
                )
            )
    return figures, details


def one(inputs: int, shape: list[int | str]) -> dict[str, float]:
    """Seconds per call, through rlx and directly, of the same onnxruntime session settings."""
    model = add(inputs, shape)
    arrays = [np.ones(4, np.float32) for _ in range(inputs)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    direct = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in direct.get_inputs()]
    with rlx.Session(backend="onnxruntime-cpu") as session:
        ours = session.compile(model)
        np.testing.assert_array_equal(
            ours(*arrays)[0], direct.run(None, dict(zip(names, arrays, strict=True)))[0]
        )
        return side_by_side(
            {
                "rlx": lambda: ours(*arrays),
                "direct": lambda: direct.run(None, dict(zip(names, arrays, strict=True))),
            },
            rounds=40,
        )
