"""Proposals of reductions, products, windows, normalizations and recurrences."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.building import FLOATS, Build, Proposal, largest
from tests.fuzz.shaping import signed

WIDE = ("float32", "float64")


def reduced(build: Build) -> Proposal:
    plain = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare")
    sharp = ("ReduceL2", "ReduceLogSum", "ReduceProd")
    operation = build.pick(plain + sharp)
    whole = operation in plain and operation != "ReduceMean"
    numbers = (*FLOATS, "int32", "int64") if whole else FLOATS
    x = build.value(numbers, exact=operation in sharp)
    axes = build.random.sample(range(x.ndim), build.random.randint(0, x.ndim))
    attributes = {"keepdims": build.random.randint(0, 1)}
    if build.chance(0.2):
        attributes["noop_with_empty_axes"] = 1
    operands = [x]
    if axes or build.chance(0.3):
        operands.append(build.ints([signed(build, axis, x.ndim) for axis in axes]))
    return Proposal(operation, operands, attributes, gain=max(2, x.array.size))


def chosen(build: Build) -> Proposal:
    operation = build.pick(("ArgMax", "ArgMin", "TopK"))
    x = build.value((*WIDE, "int32", "int64"), 1, exact=True)
    axis = build.random.randrange(x.ndim)
    if operation == "TopK":
        k = build.ints([build.random.randint(0, x.shape[axis])])
        flags = {"axis": signed(build, axis, x.ndim), "largest": build.random.randint(0, 1)}
        return Proposal(operation, [x, k], flags, 2, exact=True)
    flags = {"axis": signed(build, axis, x.ndim), "keepdims": build.random.randint(0, 1)}
    flags["select_last_index"] = build.random.randint(0, 1)
    return Proposal(operation, [x], flags, exact=True)


def running(build: Build) -> Proposal:
    x = build.value((*WIDE, "int32", "int64"), 1)
    axis = build.ints(signed(build, build.random.randrange(x.ndim), x.ndim))
    flags = {"exclusive": build.random.randint(0, 1), "reverse": build.random.randint(0, 1)}
    return Proposal("CumSum", [x, axis], flags, gain=6)


def softmax(build: Build) -> Proposal:
    operation = build.pick(("Softmax", "LogSoftmax", "Hardmax"))
    x = build.value(FLOATS, 1, exact=operation == "Hardmax")
    if operation == "LogSoftmax" and largest(x.array) > (20 if x.dtype in WIDE else 4):
        operation = "Softmax"  # the oracle's would be the logarithm of 0
    axis = signed(build, build.random.randrange(x.ndim), x.ndim)
    return Proposal(operation, [x], {"axis": axis}, gain=4)


def product(build: Build) -> Proposal:
    x = build.value((*FLOATS, "int32", "int64"), 1, 4)
    inner = x.shape[-1]
    if build.chance(0.15):
        return Proposal("MatMul", [x, build.fresh(x.dtype, (inner,))], gain=20)
    lead = x.shape[:-2] if build.chance(0.5) else ()
    columns = build.random.randint(1, 5)
    y = build.fresh(x.dtype, (*lead, inner, columns))
    return Proposal("MatMul", [x, y], gain=20)


def gemm(build: Build) -> Proposal:
    a = build.value(WIDE, 2, 2)
    flags: dict[str, Any] = {
        "transA": build.random.randint(0, 1),
        "transB": build.random.randint(0, 1),
    }
    rows, inner = a.shape[::-1] if flags["transA"] else a.shape
    columns = build.random.randint(1, 4)
    b = build.fresh(a.dtype, (columns, inner) if flags["transB"] else (inner, columns))
    operands = [a, b]
    if build.chance(0.6):
        shapes = ((), (columns,), (rows, columns), (1, columns), (rows, 1))
        operands.append(build.fresh(a.dtype, build.pick(shapes)))
    if build.chance(0.5):
        flags |= {"alpha": 0.5, "beta": 2.0}
    return Proposal("Gemm", operands, flags, gain=20)


def einsum(build: Build) -> Proposal:
    dtype = build.pick(WIDE)
    a, b = build.fresh(dtype, (2, 3)), build.fresh(dtype, (3, 4))
    return Proposal(
        "Einsum", [a, b], {"equation": build.pick(("ij,jk->ik", "ij,jk", "ij,jk->k"))}, gain=8
    )


def windowed(build: Build) -> dict[str, Any]:
    """Attributes of a window in two dimensions."""
    kernel = [build.random.randint(1, 3) for _ in range(2)]
    attributes: dict[str, Any] = {"kernel_shape": kernel}
    if build.chance(0.6):
        attributes["strides"] = [build.random.randint(1, 3) for _ in range(2)]
    way = build.pick(("pads", "auto", "none"))
    if way == "pads":
        attributes["pads"] = [build.random.randint(0, size - 1) for size in kernel * 2]
    elif way == "auto":
        attributes["auto_pad"] = build.pick(("SAME_UPPER", "SAME_LOWER", "VALID"))
    return attributes


def conv(build: Build) -> Proposal:
    group = build.pick((1, 1, 2, 4))
    dtype = build.pick(WIDE)
    attributes = windowed(build) | {"group": group}
    dilated = build.chance(0.3) and "auto_pad" not in attributes
    # the oracle fills a dilated kernel with zeros, and multiplies infinities with them
    sizes = (build.random.randint(1, 2), 4, build.random.randint(4, 9), 7)
    x = build.fresh(dtype, sizes, special=not dilated)
    if dilated:
        attributes["dilations"] = [build.random.randint(1, 2) for _ in range(2)]
    maps = group * build.random.randint(1, 2)
    operands = [x, build.fresh(dtype, (maps, 4 // group, *attributes["kernel_shape"]))]
    if build.chance(0.5):
        operands.append(build.fresh(dtype, (maps,)))
    return Proposal("Conv", operands, attributes, gain=30)


def pool(build: Build) -> Proposal:
    operation = build.pick(("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"))
    # ONNX says nothing of NaN in a window, and the oracle and engines part there.
    x = build.fresh(build.pick(WIDE), (1, 2, build.random.randint(4, 7), 6), special=False)
    if operation.startswith("Global"):
        return Proposal(operation, [x], gain=4)
    attributes = windowed(build)
    if operation == "MaxPool" and attributes.get("auto_pad", "").startswith("SAME"):
        attributes["auto_pad"] = "VALID"  # where one side gets more, the oracle errs
    if operation == "AveragePool":
        attributes["count_include_pad"] = build.random.randint(0, 1)
    return Proposal(operation, [x], attributes, gain=4)


def normalized(build: Build) -> Proposal:
    kinds = (
        "LayerNormalization",
        "BatchNormalization",
        "InstanceNormalization",
        "RMSNormalization",
    )
    operation = build.pick(kinds if build.opset >= 23 else kinds[:3])
    dtype = build.pick(WIDE)
    x = build.fresh(dtype, (2, 4, 5))
    if operation == "BatchNormalization":
        spread = build.leaf(np.abs(build.array(dtype, (4,), special=False)) + 1, constant=0.9)
        rest = [build.fresh(dtype, (4,), constant=0.9, special=False) for _ in range(3)]
        return Proposal(operation, [x, *rest, spread], gain=8)
    if operation == "InstanceNormalization":
        return Proposal(operation, [x, *(build.fresh(dtype, (4,)) for _ in range(2))], gain=8)
    scale = [build.fresh(dtype, (5,)) for _ in range(1 + (operation[0] == "L"))]
    return Proposal(operation, [x, *scale], {"axis": -1}, gain=8)


def recurrent(build: Build) -> Proposal:
    operation, gates = build.pick((("RNN", 1), ("GRU", 3), ("LSTM", 4)))
    direction = build.pick(("forward", "reverse", "bidirectional"))
    ways, hidden, size, steps = 1 + (direction == "bidirectional"), 3, 2, build.random.randint(1, 4)
    x = build.fresh("float32", (steps, 2, size))
    shapes = (
        (ways, gates * hidden, size),
        (ways, gates * hidden, hidden),
        (ways, 2 * gates * hidden),
    )
    operands = [
        x,
        *(build.fresh("float32", shape) for shape in shapes[: build.random.randint(2, 3)]),
    ]
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if operation == "GRU" and build.chance(0.5):
        attributes["linear_before_reset"] = 1
    return Proposal(operation, operands, attributes, 2 if operation != "LSTM" else 3, gain=30)


def quantized(build: Build) -> Proposal:
    kind = build.pick(
        ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger")
    )
    if kind == "MatMulInteger":
        x, y = build.fresh("uint8", (3, 4)), build.fresh("int8", (4, 2))
        zero = [build.leaf(np.array(3, np.uint8))] if build.chance(0.5) else []
        return Proposal(kind, [x, y, *zero], exact=True)
    if kind == "DynamicQuantizeLinear":
        return Proposal(kind, [build.fresh("float32", build.shape(1, 3))], {}, 3)
    scale = build.leaf(np.array(build.pick((0.25, 0.5, 2.0)), np.float32))
    if kind == "QuantizeLinear":
        # ONNX saturates infinities, and the oracle does not
        x = build.fresh("float32", build.shape(), special=False)
        zero = build.leaf(np.array(build.random.randint(0, 9), build.pick(("uint8", "int8"))))
        return Proposal(kind, [x, scale, zero], {}, exact=True)
    x = build.value(("uint8", "int8"))
    zero = [build.fresh(x.dtype, ())] if build.chance(0.6) else []
    return Proposal(kind, [x, scale, *zero], {})


NUMERIC = (
    *(reduced, reduced, chosen, running, softmax, product, product, gemm, einsum, conv, pool),
    *(normalized, recurrent, quantized),
)
