"""Proposals of further operations: sampling, attention, signals, indices, sequences of steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.building import ALL, UNSIGNED, Build, Proposal
from tests.fuzz.numeric import WIDE
from tests.fuzz.shaping import signed


def resize(build: Build) -> Proposal:
    x = build.fresh("float32", (1, 2, build.random.randint(2, 5), 4), special=False)
    mode = build.pick(("nearest", "linear", "cubic"))
    ways = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
    attributes = {"mode": mode, "coordinate_transformation_mode": build.pick(ways)}
    if mode == "nearest":
        attributes["coordinate_transformation_mode"] = "asymmetric"
        attributes["nearest_mode"] = "floor"
    if build.chance(0.5):
        drawn = [1, 2, build.random.randint(1, 8), build.random.randint(2, 8)]
        sizes = build.leaf(np.array(drawn), constant=1)
        return Proposal("Resize", [x, None, None, sizes], attributes, gain=8)
    scales = build.leaf(np.array([1, 1, 2, build.pick((0.5, 1.5, 2))], np.float32), constant=1)
    return Proposal("Resize", [x, None, scales], attributes, gain=8)


def sampled(build: Build) -> Proposal:
    x = build.fresh("float32", (1, 2, 4, 3), special=False)
    grid = build.leaf(np.round(build.generator.random((1, 2, 3, 2)) * 2.4 - 1.2, 2).astype("f4"))
    attributes = {
        "mode": build.pick(("linear", "cubic")),
        "padding_mode": build.pick(("zeros", "border")),
        "align_corners": build.random.randint(0, 1),
    }
    return Proposal("GridSample", [x, grid], attributes, gain=20)


def transposed(build: Build) -> Proposal:
    dtype = build.pick(WIDE)
    x = build.fresh(dtype, (1, 2, build.random.randint(2, 4), 3))
    w = build.fresh(dtype, (2, build.random.randint(1, 3), 3, 2))
    attributes: dict[str, Any] = {"strides": [build.random.randint(1, 2) for _ in range(2)]}
    if build.chance(0.5):
        attributes["pads"] = [1, 0, 1, 0]
    return Proposal("ConvTranspose", [x, w], attributes, gain=20)


def attention(build: Build) -> Proposal:
    if build.opset < 23:
        return Proposal("Swish" if build.opset >= 24 else "Identity", [build.value(WIDE)])
    q = build.fresh("float32", (1, 2, 3, 4), special=False)
    k, v = (build.fresh("float32", (1, 2, 5, 4), special=False) for _ in range(2))
    flags = {"is_causal": 1} if build.chance(0.4) else {}
    return Proposal("Attention", [q, k, v], flags, gain=10)


def rotated(build: Build) -> Proposal:
    if build.opset < 23:
        return Proposal("Identity", [build.value(WIDE)], exact=True)
    x = build.fresh("float32", (1, 2, 3, 4), special=False)
    tables = [build.fresh("float32", (1, 3, 2), special=False) for _ in range(2)]
    flags = {"interleaved": build.random.randint(0, 1)}
    return Proposal("RotaryEmbedding", [x, *tables], flags, gain=8)


def shifted(build: Build) -> Proposal:
    x = build.value(UNSIGNED)
    by = build.leaf(build.generator.integers(0, 8, x.shape).astype(x.dtype))
    flags = {"direction": build.pick(("LEFT", "RIGHT"))}
    return Proposal("BitShift", [x, by], flags, exact=True)


def reversed_steps(build: Build) -> Proposal:
    x = build.fresh(build.pick(("float32", "int64", "bool")), (4, 3, 2))
    lengths = build.leaf(build.generator.integers(1, 5, 3))
    return Proposal("ReverseSequence", [x, lengths], {"time_axis": 0, "batch_axis": 1}, exact=True)


def filled(build: Build) -> Proposal:
    x = build.value(WIDE, 2, 2)
    return Proposal("EyeLike", [x], {"k": build.random.randint(-2, 2)}, exact=True)


def castlike(build: Build) -> Proposal:
    to = build.pick(("float32", "float64"))
    x = build.value(("float32", "float64", "int32", "bool", "float16"))
    return Proposal("CastLike", [x, build.fresh(to, (1,))])


def windows(build: Build) -> Proposal:
    kind = build.pick(("HannWindow", "HammingWindow", "BlackmanWindow"))
    size = build.ints(build.random.randint(1, 6))
    return Proposal(kind, [size], {"periodic": build.random.randint(0, 1)}, gain=4)


def transformed(build: Build) -> Proposal:
    x = build.fresh("float32", (1, build.random.randint(2, 6), 1), special=False)
    return Proposal("DFT", [x], {"onesided": build.random.randint(0, 1)}, gain=10)


def linear(build: Build) -> Proposal:
    kind = build.pick(
        ("Det", "GlobalLpPool", "LpNormalization", "MeanVarianceNormalization", "LRN")
    )
    if kind == "Det":
        return Proposal(kind, [build.fresh("float32", (2, 3, 3), special=False)], gain=200)
    x = build.fresh("float32", (1, 4, 3, 2), special=False)
    attributes: dict[str, Any] = {}
    if kind == "LpNormalization":
        # for p = 1 the oracle divides by the sum, and not by that of magnitudes
        attributes = {"p": 2, "axis": signed(build, 1, 4)}
    return Proposal(kind, [x], attributes, gain=10)


def joined(build: Build) -> Proposal:
    """A loss, whose log-probabilities are of drawn numbers."""
    x = build.fresh("float32", (3, 4), special=False)
    at = build.leaf(build.generator.integers(0, 4, 3))
    flags = {"reduction": build.pick(("none", "mean", "sum"))}
    return Proposal("SoftmaxCrossEntropyLoss", [x, at], flags, gain=20)


def chosen_boxes(build: Build) -> Proposal:
    corners = build.generator.permutation(24).reshape(1, 6, 4).astype("f4")
    scores = build.generator.permutation(12).reshape(1, 2, 6).astype("f4")
    operands = [build.leaf(corners), build.leaf(scores), build.ints(2)]
    operands.append(build.leaf(np.array(build.pick((0.0, 0.25, 0.5)), np.float32)))
    return Proposal("NonMaxSuppression", operands, exact=True)


def copied(build: Build) -> Proposal:
    return Proposal("Identity", [build.value(ALL)], exact=True)


FURTHER = (
    *(resize, sampled, transposed, attention, rotated, shifted, reversed_steps, filled, castlike),
    *(windows, transformed, linear, joined, chosen_boxes, copied),
)
