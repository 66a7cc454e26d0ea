"""Random barriers put into a program, and the same program without them, rewritten here anew."""

import random

import onnx
from onnx import helper


def with_barriers(model, seed, share=0.4):
    """The model with barriers at random places; nodes and outputs read either side of each."""
    draw = random.Random(seed)
    made = onnx.ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    known = [value.name for value in graph.input] + [one.name for one in graph.initializer]
    nodes, alias, count = [], {}, 0

    def barrier():
        nonlocal count
        if not known:
            return
        chosen = [draw.choice(known) for _ in range(draw.randint(1, min(4, len(known))))]
        given = [read(name) for name in chosen]
        outputs = [f"fence{count}_{place}" for place in range(len(given))]
        nodes.append(
            helper.make_node("Barrier", given, outputs, domain="rlx", name=f"fence{count}")
        )
        for name, new in zip(chosen, outputs, strict=True):
            alias.setdefault(name, [name]).append(new)
        count += 1

    def read(name):
        return draw.choice(alias.get(name, [name]))

    for node in graph.node:
        while draw.random() < share:
            barrier()
        copy = onnx.NodeProto.FromString(node.SerializeToString())
        copy.input[:] = [read(name) for name in node.input]
        nodes.append(copy)
        known += [name for name in node.output if name]
    while draw.random() < share or not count:
        barrier()
    del graph.node[:]
    graph.node.extend(nodes)
    for value in graph.output:
        value.name = read(value.name)
    for value in graph.input:  # an input as it is, and perhaps one that barriers gave on
        if draw.random() < 0.3:
            copy = graph.output.add()
            copy.CopyFrom(value)
            copy.name = read(value.name)
    made.opset_import.add(domain="rlx", version=1)
    return made


def without_barriers(model):
    """The model with Identity nodes in the place of barriers."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.graph.node[:]
    for node in model.graph.node:
        if node.domain != "rlx":
            made.graph.node.append(node)
            continue
        for given, output in zip(node.input, node.output, strict=True):
            made.graph.node.append(helper.make_node("Identity", [given], [output]))
    return made
