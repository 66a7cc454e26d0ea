"""A backend that takes subnormal numbers as zero is judged by what it says of zeros."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from rlx.backends.protocol import CompileOptions, Executable
from rlx.backends.reference import Reference
from rlx.conformance import measure
from rlx.conformance.cases import Case
from rlx.conformance.compare import Tolerance
from rlx.conformance.subnormals import without
from rlx.conformance.trial import Here, Trial
from rlx.program import Program, load


def flushed(value: Any) -> Any:
    small = (np.abs(value) < np.finfo(value.dtype).smallest_normal) & (value != 0)
    return np.where(small, np.copysign(np.zeros_like(value), value), value)


class Flushing(Reference):
    """The oracle on a processor that was told to take subnormal numbers as zero."""

    def compile(self, program: Program, options: CompileOptions) -> Executable:
        made = super().compile(program, options)
        run = made.run
        object.__setattr__(made, "run", lambda inputs: run([flushed(one) for one in inputs]))
        return made


def trial(body: str, inputs: list[Any], expected: list[Any]) -> Trial:
    text = f'<ir_version: 13, opset_import: ["": 21]> g {body}'
    return Trial("it", load(onnx.parser.parse_model(text)), inputs, expected, Tolerance())


TINY = np.array([1e-40, -1e-40, 1, 0], np.float32)
PRODUCT = "(float[4] x, float[4] y) => (float[4] z) { z = Mul(x, y) }"


def test_subnormal_inputs_become_zeros_of_their_sign_and_the_oracle_answers_anew() -> None:
    inf = np.full(4, np.inf, np.float32)
    with np.errstate(all="ignore"):
        given = trial(PRODUCT, [TINY, inf], [TINY * inf])
        again = without(given, Reference())
    assert again is not None
    np.testing.assert_array_equal(again.inputs[0], np.array([0, 0, 1, 0], np.float32))
    np.testing.assert_array_equal(np.signbit(again.inputs[0]), [False, True, False, False])
    assert again.inputs[1] is inf
    np.testing.assert_array_equal(
        again.expected[0], np.array([np.nan, np.nan, np.inf, np.nan], np.float32)
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_the_smallest_normal_number_stays_and_half_of_it_does_not(dtype: Any) -> None:
    edge: Any = ml_dtypes.finfo
    smallest = edge(dtype).smallest_normal
    name = {"float32": "float", "float64": "double"}.get(np.dtype(dtype).name, np.dtype(dtype).name)
    body = f"({name}[2] x) => ({name}[2] y) {{ y = Identity(x) }}"
    kept = np.array([smallest, 0], dtype)
    assert without(trial(body, [kept], [kept]), Reference()) is None
    halved = np.array([smallest / 2, smallest], dtype)
    again = without(trial(body, [halved], [halved]), Reference())
    assert again is not None
    assert again.inputs[0].dtype == halved.dtype
    np.testing.assert_array_equal(again.inputs[0].astype(float), [0, float(smallest)])


def test_integers_strings_and_missing_arrays_hold_none() -> None:
    whole = np.array([1, 0], np.int32)
    body = "(int32[2] x) => (int32[2] y) { y = Identity(x) }"
    assert without(trial(body, [whole], [whole]), Reference()) is None


def findings(flushing: set[str]) -> Any:
    inf = np.full(4, np.inf, np.float32)
    with np.errstate(all="ignore"):
        expected = TINY * inf
    model = onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 21]> g {PRODUCT}')
    case = Case("test_it", "node", lambda: (model, [TINY, inf], [expected]))
    done = measure.measure(
        {"it": Here(Flushing())},
        Reference(),
        [case],
        lambda what, done, total: None,
        vary=False,
        flushing=flushing,
    )
    return done.findings["it"]


def test_only_a_backend_that_does_not_promise_them_is_asked_again() -> None:
    assert findings({"it"}).failed == {}
    assert len(findings({"it"}).passed) == 1
    assert len(findings(set()).failed) == 1
