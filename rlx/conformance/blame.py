"""Which nodes of a failed program differ from the oracle, each run alone on its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from rlx.conformance.cases import plain
from rlx.conformance.compare import Tolerance
from rlx.conformance.trial import Runner, Trial
from rlx.errors import ProgramError
from rlx.program import CANONICAL_OPSET, Signature, load

Array = Any
EXACT = Tolerance(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Blame:
    """The nodes of a failed program, by their signatures."""

    guilty: frozenset[Signature]
    """Those that raise or answer wrongly alone."""
    inexact: frozenset[Signature]
    """Those whose answer is right but not the oracle's to the bit: errors that may add up."""


def blame(runner: Runner, trial: Trial) -> Blame:
    """Run each node alone, on the values that the oracle has there."""
    model = trial.program.to_onnx(CANONICAL_OPSET)
    names = (value.name for value in trial.program.inputs)
    feeds = dict(zip(names, trial.inputs, strict=True))
    with np.errstate(all="ignore"):
        values = ReferenceEvaluator(model).run(None, feeds, intermediate=True)
    known = {name: plain(value) for name, value in {**values, **feeds}.items()}
    for tensor in model.graph.initializer:
        known[tensor.name] = onnx.numpy_helper.to_array(tensor)
    guilty, inexact = set(), set()
    for node, proto in zip(trial.program.body.nodes, model.graph.node, strict=True):
        alone = _alone(model, proto, known, Tolerance(trial.tolerance.rtol, scaled=True))
        if alone is None:
            continue
        if not runner.attempt(alone).passed:
            guilty.add(node.signature)
        elif not runner.attempt(replace(alone, tolerance=EXACT)).passed:
            inexact.add(node.signature)
    return Blame(frozenset(guilty), frozenset(inexact))


def _alone(
    model: onnx.ModelProto,
    node: onnx.NodeProto,
    known: Mapping[str, Array],
    tolerance: Tolerance,
) -> Trial | None:
    """A trial of one node; None where a value has no type that can be written down."""
    reads = [name for name in dict.fromkeys((*node.input, *_captured(node))) if name in known]
    writes = [name for name in node.output if name]
    types = {name: _type(known[name]) for name in (*reads, *writes)}
    if None in types.values():
        return None
    values = {name: helper.make_value_info(name, kind) for name, kind in types.items()}
    graph = helper.make_graph(
        [node], "alone", [values[name] for name in reads], [values[name] for name in writes]
    )
    single = helper.make_model(
        graph, opset_imports=list(model.opset_import), ir_version=model.ir_version
    )
    try:
        program = load(single)
    except ProgramError:
        return None
    inputs, expected = ([known[name] for name in names] for names in (reads, writes))
    return Trial(node.op_type, program, inputs, expected, tolerance)


def _captured(node: onnx.NodeProto) -> Iterator[str]:
    """The names that the node's subgraphs read; their own values are among them, harmlessly."""
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from inner.input
            yield from _captured(inner)


def _type(value: Any) -> onnx.TypeProto | None:
    if isinstance(value, list) and value:
        inner = _type(value[0])
        return None if inner is None else helper.make_sequence_type_proto(inner)
    if not isinstance(value, np.ndarray):
        return None
    element = (
        onnx.TensorProto.STRING
        if value.dtype.kind in "OUS"
        else helper.np_dtype_to_tensor_dtype(value.dtype)
    )
    return helper.make_tensor_type_proto(element, value.shape)
