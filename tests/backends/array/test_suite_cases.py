"""ONNX's own single-node cases, kernel by kernel: values, dtypes, and whose memory results are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.backend.test.loader import load_model_tests

from rlx.backends.array.draft import Draft
from rlx.backends.array.host import NUMPY
from rlx.backends.array.kernels.table import KERNELS
from rlx.backends.array.site import Fresh, Kernel
from rlx.conformance.claims import RANDOM
from rlx.program import load

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A kernel, and what it should make of its inputs; `wanted` are the outputs asked for."""

    name: str
    kernel: Kernel
    inputs: tuple[Array | None, ...]
    expected: tuple[Array, ...]
    wanted: tuple[bool, ...]

    def results(self) -> list[Array]:
        """The outputs asked for."""
        result = self.kernel(*self.inputs)
        several = result if isinstance(result, tuple) else (result,)
        return [np.asarray(x) for x, wanted in zip(several, self.wanted, strict=False) if wanted]


@cache
def cases() -> tuple[Case, ...]:
    """Each case of one node that takes tensors and has a kernel."""
    return tuple(_cases())


def _cases() -> Iterator[Case]:
    for case in load_model_tests(kind="node"):
        if case.model is None or len(case.model.graph.node) != 1:
            continue
        node = case.model.graph.node[0]
        values = (*case.model.graph.input, *case.model.graph.output)
        tensors = all(value.type.HasField("tensor_type") for value in values)
        if node.op_type not in KERNELS.keys() - RANDOM or node.domain or not tensors:
            continue
        body = load(case.model).body
        draft = Draft.from_block(body, NUMPY)
        if len(draft.ops) != 1:  # the operation changed on its way to the canonical opset
            continue
        (op,) = draft.ops
        inputs, outputs = case.data_sets[0]
        given = dict(zip(draft.inputs, map(_array, inputs), strict=True)) | draft.constants
        yield Case(
            case.name,
            draft.kernel(op),
            tuple(given.get(name) for name in op.inputs),
            tuple(map(_array, outputs)),
            tuple(map(bool, op.outputs)),
        )


def _array(value: Any) -> Array:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return np.asarray(value)


def _agree(found: Array, wanted: Array) -> bool:
    if found.shape != wanted.shape:
        return False
    if wanted.dtype.kind in "OUS":
        return bool(np.array_equal(found, wanted))
    if found.dtype != wanted.dtype:
        return False
    if wanted.dtype.kind in "biu":
        return bool(np.array_equal(found, wanted))
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    one, other = found.astype(wide), wanted.astype(wide)
    return np.allclose(one, other, rtol=1e-3, atol=1e-7, equal_nan=True)


@pytest.fixture(autouse=True)
def quiet():
    """The suite's generators, and some kernels, divide by zero on purpose."""
    with np.errstate(all="ignore"):
        yield


def test_every_case_gives_the_expected_values_and_dtypes():
    wrong = [
        case.name
        for case in cases()
        if not all(map(_agree, case.results(), case.expected))
        or len(case.results()) != len(case.expected)
    ]
    assert wrong == []
    assert len(cases()) > 1200


def test_no_kernel_writes_to_its_inputs():
    wrong = []
    for case in cases():
        before = [None if x is None else x.tobytes() for x in case.inputs]
        case.results()
        if before != [None if x is None else x.tobytes() for x in case.inputs]:
            wrong.append(case.name)
    assert wrong == []


def test_what_is_marked_fresh_shares_no_memory():
    wrong = []
    for case in cases():
        if not isinstance(case.kernel, Fresh):
            continue
        held = [x for x in case.inputs if x is not None]
        for result in case.results():
            if any(np.shares_memory(result, x) for x in held):
                wrong.append(case.name)
            held.append(result)
    assert wrong == []


def test_writing_over_an_input_gives_the_same_result():
    wrong, tried = [], 0
    for case in cases():
        if not isinstance(case.kernel, Fresh) or case.kernel.into is None:
            continue
        (wanted,) = case.results()
        for at, x in enumerate(case.inputs):
            if x is None or x.shape != wanted.shape or x.dtype != wanted.dtype or not x.ndim:
                continue
            tried += 1
            copies = [None if y is None else y.copy() for y in case.inputs]
            result = case.kernel.into(*copies, copies[at])
            if result is not copies[at] or result.tobytes() != wanted.tobytes():
                wrong.append(f"{case.name}, input {at}")
    assert wrong == []
    assert tried > 100
