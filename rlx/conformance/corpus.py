"""Trials from ONNX's cases of one operation: other dtypes, attributes and corners, and the oracle.

The oracle, ONNX's reference implementation, says what must come out; where it can't, or where its
own answer contradicts what the program declares, there is no trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from rlx.backends.protocol import Backend
from rlx.conformance.compare import Tolerance
from rlx.conformance.corners import corners
from rlx.conformance.extremes import extremes
from rlx.conformance.trial import Trial, evaluate
from rlx.conformance.vary import (
    Variant,
    attribute_values,
    attribute_variants,
    element_name,
    type_variants,
)
from rlx.errors import ProgramError
from rlx.program import CANONICAL_OPSET, Signature, ValueType, load

PER_OPERATION = 800
"""After so many variants of one operation, no further case is varied."""
SMALL = 1000
"""How many input elements a case may have, to be varied beside cases much like it."""
PER_SIGNATURE = 3
"""How many variants with one signature are run: beyond, they tell little more."""


def variants(trials: Sequence[Trial], oracle: Backend) -> Iterator[Trial]:
    """New trials of one operation; the oracle says what must come out, or that nothing can."""
    seen = {trial.program.requirements.signatures[0]: PER_SIGNATURE for trial in trials}
    models = [trial.program.to_onnx(CANONICAL_OPSET) for trial in trials]
    bases = [
        (trial, model)
        for trial, model in zip(trials, models, strict=True)
        if len(model.graph.node) == 1 and len(model.graph.input) == len(trial.inputs)
    ]
    values = attribute_values(model for _, model in bases)
    bases = _diverse(bases)
    made = (
        ((trial, variant) for variant in attribute_variants(model, tuple(trial.inputs), values))
        for trial, model in bases
    )
    yield from _limited(made, oracle, seen)
    made = (
        ((trial, variant) for variant in type_variants(model, tuple(trial.inputs)))
        for trial, model in bases
    )
    yield from _limited(made, oracle, seen)


def cornered(operation: str, oracle: Backend) -> Iterator[Trial]:
    """The corners of one operation that the oracle has an answer to."""
    for variant in corners(operation):
        judged = _judged(f"{operation}[{variant.label}]", variant, oracle, {})
        if judged is not None:
            yield judged


def extreme(operation: str, oracle: Backend) -> Iterator[Trial]:
    """The extreme shapes and values of one operation that the oracle has an answer to."""
    for variant in extremes(operation):
        judged = _judged(f"{operation}[{variant.label}]", variant, oracle, {})
        if judged is not None:
            yield judged


def _diverse(bases: list[tuple[Trial, onnx.ModelProto]]) -> list[tuple[Trial, onnx.ModelProto]]:
    """First those that differ in texts or in operands; then the others, if they are small."""

    def kind(model: onnx.ModelProto) -> tuple[Any, ...]:
        node = model.graph.node[0]
        texts = sorted(a.s for a in node.attribute if a.type == onnx.AttributeProto.STRING)
        return (*texts, *map(bool, node.input), len([name for name in node.output if name]))

    first: dict[tuple[Any, ...], int] = {}
    for place, (_, model) in enumerate(bases):
        first.setdefault(kind(model), place)
    leading = sorted(first.values())
    others = [base for place, base in enumerate(bases) if place not in leading]
    return [bases[place] for place in leading] + [base for base in others if _small(base[0])]


def _small(trial: Trial) -> bool:
    """Whether the oracle, which loops in Python, is quick."""
    return sum(value.size for value in trial.inputs if isinstance(value, np.ndarray)) <= SMALL


def _limited(
    made: Iterable[Iterable[tuple[Trial, Variant]]], oracle: Backend, seen: dict[Signature, int]
) -> Iterator[Trial]:
    """All variants of each base, until there are enough."""
    count = 0
    for group in made:
        if count > PER_OPERATION:
            return
        for trial, variant in group:
            count += 1
            judged = _judged(f"{trial.name}[{variant.label}]", variant, oracle, seen)
            if judged is not None:
                yield judged


def _judged(
    name: str, variant: Variant, oracle: Backend, seen: dict[Signature, int]
) -> Trial | None:
    """The variant with the oracle's answer; None where there is none, or enough alike ran."""
    try:
        program = load(variant.model)
    except ProgramError:
        return None  # the schema or inference refuses this combination: nothing to learn
    (signature,) = program.requirements.signatures
    if not signature.known or seen.get(signature, 0) >= PER_SIGNATURE:
        return None
    seen[signature] = seen.get(signature, 0) + 1
    try:
        expected = evaluate(oracle, program, variant.inputs)
    except Exception:  # noqa: BLE001 - an oracle that can't answer judges nobody
        return None
    types = [value.type for value in program.outputs]
    pairs = list(zip(types, expected, strict=True))
    if any(
        has_other_dtype(kind, output) or has_other_shape(kind, output) for kind, output in pairs
    ):
        return None  # the oracle itself is wrong here
    return Trial(name, program, variant.inputs, expected, Tolerance(scaled=True))


def has_other_dtype(kind: ValueType, output: Any) -> bool:
    """Whether an output's dtype is not what the program declares; sequences by their items."""
    if isinstance(output, list):
        inner = ValueType(kind.dtype.removeprefix("seq(").removesuffix(")"))
        return any(has_other_dtype(inner, item) for item in output)
    if not isinstance(output, np.ndarray):
        return output is not None
    if output.dtype.kind in "OUS":
        return kind.dtype != "string"
    return kind.dtype != element_name(helper.np_dtype_to_tensor_dtype(output.dtype))


def has_other_shape(kind: ValueType, output: Any) -> bool:
    """Whether an array's sizes are not what the program declares, as far as it declares them."""
    if kind.shape is None or not isinstance(output, np.ndarray):
        return False
    if len(kind.shape) != output.ndim:
        return True
    sizes = zip(kind.shape, output.shape, strict=True)
    return any(isinstance(size, int) and size != found for size, found in sizes)
