"""Real models on every backend: as onnxruntime answers, or refused with the node named."""

from __future__ import annotations

import re

import pytest

from rlx.errors import NoBackend
from tests.models.agreement import LIMIT, candidates, errors, through
from tests.models.catalogue import MODELS

NODE = r"(coverage|capability) +(node '.+' \w+:|lacks \w+, which the program needs)"


def everywhere():
    """One parameter per backend, with what it needs."""
    return [
        pytest.param(name, marks=[pytest.mark.needs(module) for module in modules])
        for name, modules in candidates()
    ]


@pytest.mark.needs("models")
@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize("backend", everywhere())
@pytest.mark.parametrize("name", MODELS)
def test_a_model_agrees_with_onnxruntime_or_is_refused(backend, name):
    """Within a thousandth of the output's scale; a refusal names the node and what it lacks."""
    try:
        with through(backend, MODELS[name]) as run:
            worst = max(errors(run, MODELS[name]))
    except NoBackend as refusal:
        line = next(one for one in str(refusal).splitlines()[1:] if one.split()[0] == backend)
        assert re.search(NODE, line), line
        assert backend != "numpy", f"numpy runs all: {line}"
        return
    assert worst <= LIMIT
