"""All literals as trials: a node alone at the canonical opset, and what must come out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import onnx
from onnx import helper

from rlx.conformance.compare import Tolerance
from rlx.conformance.literals import (
    arithmetic,
    dtypes,
    elementwise,
    indexing,
    learning,
    maps,
    networks,
    shape,
)
from rlx.conformance.literals.literal import Array, Literal
from rlx.conformance.literals.moved import moved
from rlx.conformance.literals.programs import PROGRAMS
from rlx.conformance.trial import Trial
from rlx.program import CANONICAL_OPSET, load

TABLES = (arithmetic, elementwise, indexing, learning, networks, shape, dtypes)
TOLERANCE = Tolerance(rtol=1e-5, atol=1e-6, scaled=True)
"""A literal is written with few digits, and has no rounding of its own to add."""


UNDEFINED = {
    "Reshape[literal,3]": "beside a size of 0 copied by 0, any size at -1 gives as many elements",
    "ReduceSum[literal,3]": "ONNX does not say what a sum beyond the dtype is: engines differ",
}
"""Literals of our own backends: ONNX leaves to each engine what comes out."""
ORACLE_FAULTS = {
    "Cast[literal,4]": "it has no round_mode",
    "Cast[literal,11]": "it rounds towards zero into float8e8m0 where ONNX rounds up",
    "CumSum[literal,1]": "an axis of one element is refused, and ONNX's own cases have one",
    "GatherElements[literal,1]": "indices may be smaller than the data on other axes",
    "GlobalMaxPool[literal,0]": "it drops an axis of three-dimensional input",
    "OneHot[literal,1]": "it takes no scalar indices",
    "Pad[literal,1]": "negative pads cut, and it refuses them",
    "Pow[literal,3]": "whole numbers to negative powers are refused",
    "ReduceLogSumExp[literal,1]": "the sum of nothing but zeros has the logarithm -inf, not NaN",
    "Slice[literal,2]": "a start beyond the end is clamped to the last element where steps go down",
}
"""Literals that the oracle itself gets wrong, and how: where these lie, it judges nobody."""
_DTYPE = "its scores have the dtype of the input, where ONNX has float32"
FAMILY_FAULTS = {
    "AffineGrid": "its grid is always float32",
    "Det": "it has no half precision",
    "GlobalLpPool": "it has none",
    "LayerNormalization": "mean and deviation have the input's dtype, where ONNX has float32",
    "MaxRoiPool": "it has none",
    "MeanVarianceNormalization": "it takes float32 alone",
    "OneHot": "it takes no booleans and no strings; and no scalar indices",
    "ReduceSumSquare": "sums of 32 bits become 64 bits wide",
    "Identity": "it refuses an optional that holds nothing",
    "Optional": "it puts the value into a list",
    "Scan": "its results may not be strings",
    "ai.onnx.ml::CastMap": "it has none",
    "ai.onnx.ml::CategoryMapper": "it has none",
    "ai.onnx.ml::DictVectorizer": "it gives the dtype that NumPy finds for the map's values",
    "ai.onnx.ml::FeatureVectorizer": _DTYPE,
    "ai.onnx.ml::LinearClassifier": _DTYPE,
    "ai.onnx.ml::LinearRegressor": _DTYPE,
    "ai.onnx.ml::Normalizer": _DTYPE,
    "ai.onnx.ml::SVMClassifier": _DTYPE,
    "ai.onnx.ml::ZipMap": "it has none",
    "ai.onnx.ml::SVMRegressor": _DTYPE,
    "ai.onnx.ml::Scaler": _DTYPE,
    "ai.onnx.preview.training::Adam": "float32 updated at a rate of float64 becomes float64",
    "ai.onnx.preview.training::Momentum": "float32 updated at a rate of float64 becomes float64",
}
"""Operations of which the oracle gets literals wrong at some dtypes or types, and how."""
HEAD = f'<ir_version: {onnx.IR_VERSION}, opset_import: ["": {CANONICAL_OPSET}]>'


def literals() -> Iterator[Literal]:
    """All of them."""
    return chain.from_iterable(table.CASES for table in TABLES)


@cache
def trials() -> dict[str, tuple[Trial, ...]]:
    """The trials by operation."""
    found: dict[str, tuple[Trial, ...]] = {}
    for operation, attributes, inputs, expected in literals():
        before = found.get(operation, ())
        arrays = [None if value is None else np.asarray(value) for value in inputs]
        outputs = list(expected) if isinstance(expected, list) else [expected]
        program = load(model(operation, attributes, arrays, outputs))
        given = [value for value in arrays if value is not None]
        name = f"{operation}[literal,{len(before)}]"
        found[operation] = (*before, Trial(name, program, given, outputs, TOLERANCE))
    for operation, text, inputs, outputs in chain(PROGRAMS, moved()):
        before = found.get(operation, ())
        program = load(onnx.parser.parse_model(f"{HEAD} literal {text}"))
        name = f"{operation}[literal,{len(before)}]"
        found[operation] = (*before, Trial(name, program, inputs, outputs, TOLERANCE))
    for operation, made, inputs, outputs in maps.models():
        before = found.get(operation, ())
        name = f"{operation}[literal,{len(before)}]"
        found[operation] = (*before, Trial(name, load(made), inputs, outputs, TOLERANCE))
    return {
        operation: tuple(one for one in made if one.name not in UNDEFINED)
        for operation, made in found.items()
    }


def model(
    operation: str,
    attributes: dict[str, Any],
    inputs: Sequence[Array | None],
    outputs: Sequence[Array],
) -> onnx.ModelProto:
    """A model of one node; of the outputs it knows the dtypes and how many dimensions there are."""
    names = ["" if value is None else f"x{place}" for place, value in enumerate(inputs)]
    results = [f"y{place}" for place in range(len(outputs))]
    domain, _, name = operation.rpartition("::")
    node = helper.make_node(name, names, results, domain=domain, **attributes)
    given = [
        helper.make_tensor_value_info(name, _element(value), value.shape)
        for name, value in zip(names, inputs, strict=True)
        if value is not None
    ]
    made = [
        helper.make_tensor_value_info(name, _element(value), [None] * value.ndim)
        for name, value in zip(results, outputs, strict=True)
    ]
    graph = helper.make_graph([node], "literal", given, made)
    opsets = [helper.make_opsetid("", CANONICAL_OPSET)]
    if domain:
        opsets.append(helper.make_opsetid(domain, onnx.defs.get_schema(name, domain).since_version))
    return helper.make_model(graph, opset_imports=opsets, ir_version=onnx.IR_VERSION)


def _element(value: Array) -> int:
    if value.dtype.kind in "OUS":
        return int(onnx.TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(value.dtype))
