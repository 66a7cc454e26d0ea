"""The dispatch report: paths are counted, and every missing node is listed."""

import pytest

from rlx.errors import NoBackend, UnknownBackend
from rlx.registration import Coverage
from rlx.router import decide
from rlx.settings import Request


@pytest.fixture
def registry(make_registry, backend, row):
    half = Coverage((row("MatMul", dtypes=("bfloat16",)),))
    return make_registry(backend("whole", rank=2), backend("half", rank=1, coverage=half))


def test_the_selected_backend_runs_every_node(registry, mlp):
    report = decide(registry, mlp, Request(kernel_dispatch="native"), {}).dispatch_report
    assert (report.backend, report.policy, report.compile_ready) == ("whole", "native", True)
    assert str(report) == "dispatch on whole (native): 2 native\n  native   MatMul 1, Relu 1"


def test_a_node_that_is_not_claimed_is_missing(registry, mlp):
    report = decide(registry, mlp, Request(), {}).report_for("half")
    assert not report.compile_ready
    assert report.nodes == 2
    assert str(report) == (
        "dispatch on half (prefer-native): 1 native, 1 missing\n"
        "  native   MatMul 1\n"
        "  missing  node 'act' Relu: the operation is not claimed   (backends.yaml:41:5)"
    )


def test_the_report_is_plain_data_too(registry, mlp):
    assert decide(registry, mlp, Request(), {}).report_for("half").to_json() == {
        "backend": "half",
        "kernel_dispatch": "prefer-native",
        "compile_ready": False,
        "nodes": 2,
        "paths": {"native": 1, "lowered": 0, "missing": 1},
        "operations": [
            {"operation": "MatMul", "path": "native", "nodes": 1},
            {"operation": "Relu", "path": "missing", "nodes": 1},
        ],
        "lowered": [],
        "executed": [{"operation": "MatMul", "nodes": 1}],
        "stages": 1,
        "missing": [
            {
                "index": 1,
                "node": "act",
                "operation": "Relu",
                "detail": "node 'act' Relu: the operation is not claimed",
                "source": "backends.yaml:41:5",
            }
        ],
    }


def test_requirements_alone_are_counted(registry, mlp):
    report = decide(registry, mlp.requirements, Request(), {}).report_for("half")
    assert dict(report.counts) == {"native": 1, "lowered": 0, "missing": 1}


def test_without_a_selected_backend_one_must_be_named(registry, mlp):
    route = decide(registry, mlp, Request(disabled=("cpu",)), {})
    with pytest.raises(NoBackend):
        _ = route.dispatch_report
    with pytest.raises(UnknownBackend) as caught:
        route.report_for("none")
    assert str(caught.value) == (
        "no backend 'none' is registered. Fix: run `rlx backends` to see the registered ids."
    )
