"""ONNX's own suite, unmodified, on our backends: it passes or is skipped, and nothing is wrong."""

from __future__ import annotations

import re
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx.backend.test import BackendTest

from rlx import onnx_backend
from rlx.conformance.cases import TOTAL, UNJUDGED, load_cases, runner_arguments

BACKENDS = [
    pytest.param("numpy", 2023, id="numpy"),
    pytest.param(
        "onnxruntime-cpu", 1858, id="onnxruntime-cpu", marks=pytest.mark.needs("onnxruntime")
    ),
]


@pytest.fixture(scope="module")
def arguments() -> dict[str, dict[str, float]]:
    """The tolerances that operations declare for themselves, as ONNX's runner takes them."""
    return runner_arguments(load_cases(("node",)))


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The suite writes models below ONNX_HOME, and its generators overflow on purpose."""
    monkeypatch.setenv("ONNX_HOME", str(tmp_path))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("backend", "floor"), BACKENDS)
def test_every_case_passes_or_is_refused_before_it_runs(
    backend: str,
    floor: int,
    arguments: dict[str, dict[str, float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RLX_BACKEND", backend)
    suite = BackendTest(onnx_backend, __name__, test_kwargs=arguments).test_suite
    cases = [case for case in suite if case.id().endswith("_cpu")]
    result = unittest.TestResult()
    result.buffer = True
    for case in cases:
        case.run(result)
    wrong = {
        case.id(): why
        for case, why in (*result.failures, *result.errors)
        if not any(name in case.id() for name in UNJUDGED)
    }
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(map(": ".join, wrong.items()))
    assert len(cases) == TOTAL
    assert TOTAL - len(result.skipped) >= floor
    reason = re.compile(rf"^  {backend} +(coverage|capability) |^Not compatible", re.MULTILINE)
    assert not [why for _, why in result.skipped if not reason.search(why)]
