"""Which nodes of a failed program differ from the oracle, each run alone on its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from rlx.backends.protocol import Backend
from rlx.conformance.cases import plain
from rlx.conformance.compare import Tolerance
from rlx.conformance.trial import Trial, attempt
from rlx.errors import ProgramError
from rlx.program import CANONICAL_OPSET, Signature, load

Array = Any


def guilty(backend: Backend, trial: Trial) -> Iterator[Signature]:
    """The signatures of the nodes that raise or answer wrongly alone; none where all do well."""
    model = trial.program.to_onnx(CANONICAL_OPSET)
    names = (value.name for value in trial.program.inputs)
    feeds = dict(zip(names, trial.inputs, strict=True))
    with np.errstate(all="ignore"):
        values = ReferenceEvaluator(model).run(None, feeds, intermediate=True)
    known = {name: plain(value) for name, value in {**values, **feeds}.items()}
    for tensor in model.graph.initializer:
        known[tensor.name] = onnx.numpy_helper.to_array(tensor)
    for node, proto in zip(trial.program.body.nodes, model.graph.node, strict=True):
        alone = _alone(model, proto, known, trial.tolerance)
        if alone is not None and not attempt(backend, alone).passed:
            yield node.signature


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
    return Trial(node.op_type, program, inputs, expected, Tolerance(tolerance.rtol, scaled=True))


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
