"""ONNX's suite with all lowered that can be: each answer is right, or the case is refused."""

import pytest

import rlx
from rlx.conformance.cases import UNJUDGED, allowed, load_cases
from rlx.conformance.compare import difference
from rlx.errors import NoBackend, ProgramError

STEP = 7
"""Of the cases that have a body, each seventh: `python -m rlx.conformance --suite` runs all."""


def cases():
    """Single-node cases whose operation may be lowered; those that expand it are another check."""
    names = rlx.Registry.load(only=True).vocabulary.lowerable
    for case in load_cases():
        if "_expanded" in case.name:
            continue
        model, inputs, expected = case.read()
        try:
            program = rlx.load(model)
        except ProgramError:
            continue
        if len(program.body.nodes) == 1 and program.body.nodes[0].operation in names:
            yield case, model, program, inputs, expected


@pytest.fixture(scope="module")
def sample():
    return list(cases())[::STEP]


@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_a_lowered_case_is_right_or_refused(sample, backend):
    """Within the case's tolerance, on two engines that share no code."""
    right, refused = 0, []
    with rlx.Session(backend=backend, kernel_dispatch="common") as session:
        for case, model, program, inputs, expected in sample:
            try:
                compiled = session.compile(program)
            except NoBackend:
                refused.append(case.name)
                continue
            with compiled:
                found = difference(expected, list(compiled(*inputs)), allowed(case, model))
            assert found is None or case.name in UNJUDGED, f"{case.name}: {found}"
            right += compiled.route.lowers
    assert right > 0.8 * len(sample), refused
