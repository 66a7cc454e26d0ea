"""Proposals of control flow: If, Loop and Scan with bodies that read values from around them."""

from __future__ import annotations

import onnx
from onnx import helper

from tests.fuzz.building import Build, Proposal, Value, element

STEADY = ("Tanh", "Relu", "Neg", "Identity", "Sigmoid")
PAIRED = ("Add", "Sub", "Max", "Min", "Mul")


def info(name: str, like: Value, lead: int = 0) -> onnx.ValueInfoProto:
    """A value of the same dtype; its sizes are left open."""
    return helper.make_tensor_value_info(name, element(like.array), [None] * (like.ndim + lead))


def chain(build: Build, start: str, other: str, prefix: str) -> tuple[list[onnx.NodeProto], str]:
    """A few operations on one value, at times with another of the same shape."""
    nodes, last = [], start
    for at in range(build.random.randint(1, 3)):
        name = f"{prefix}{at}"
        operation = build.pick(STEADY + PAIRED)
        operands = [last] if operation in STEADY else [last, other]
        nodes.append(helper.make_node(operation, operands, [name], name=f"{name}n"))
        last = name
    return nodes, last


def pair(build: Build) -> tuple[Value, Value]:
    """Two floats of one shape."""
    x = build.value(("float32", "float64"))
    fit = [one for one in build.pool if one.dtype == x.dtype and one.shape == x.shape]
    return x, build.pick(fit) if fit and build.chance(0.5) else build.fresh(x.dtype, x.shape)


def conditional(build: Build) -> Proposal:
    x, y = pair(build)
    prefix = f"b{len(build.nodes)}_"
    branches = {}
    for name in ("then_branch", "else_branch"):
        nodes, last = chain(build, x.name, y.name, prefix + name[0])
        branches[name] = helper.make_graph(nodes, name, [], [info(last, x)])
    condition = build.fresh("bool", ())
    return Proposal("If", [condition], branches, gain=60, captured=(x, y))


def loop(build: Build) -> Proposal:
    x, y = pair(build)
    prefix = f"b{len(build.nodes)}_"
    nodes, last = chain(build, f"{prefix}s", y.name, prefix)
    nodes.append(helper.make_node("Identity", [f"{prefix}c"], [f"{prefix}g"]))
    scanned = [helper.make_node("Identity", [last], [f"{prefix}o"])]
    body = helper.make_graph(
        [*nodes, *scanned],
        "body",
        [
            helper.make_tensor_value_info(f"{prefix}i", onnx.TensorProto.INT64, []),
            helper.make_tensor_value_info(f"{prefix}c", onnx.TensorProto.BOOL, []),
            info(f"{prefix}s", x),
        ],
        [
            helper.make_tensor_value_info(f"{prefix}g", onnx.TensorProto.BOOL, []),
            info(last, x),
            info(f"{prefix}o", x),
        ],
    )
    turns = build.ints(build.random.randint(1, 3))
    return Proposal("Loop", [turns, None, x], {"body": body}, 2, gain=400, captured=(y,))


def scan(build: Build) -> Proposal:
    x = build.value(("float32", "float64"), 1)
    state = build.fresh(x.dtype, x.shape[1:])
    prefix = f"b{len(build.nodes)}_"
    nodes, last = chain(build, f"{prefix}s", f"{prefix}x", prefix)
    nodes.append(helper.make_node("Identity", [last], [f"{prefix}o"]))
    body = helper.make_graph(
        nodes,
        "body",
        [info(f"{prefix}s", state), info(f"{prefix}x", state)],
        [info(last, state), info(f"{prefix}o", state)],
    )
    attributes = {"body": body, "num_scan_inputs": 1}
    if build.chance(0.4):
        attributes["scan_input_directions"] = [1]
    return Proposal("Scan", [state, x], attributes, 2, gain=400)


CONTROL = (conditional, loop, scan)
