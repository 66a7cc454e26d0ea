"""The conformance kit finds what is wrong with a backend, and says which program shows it."""

from dataclasses import replace

import numpy as np
import pytest
from onnx import parser

import rlx
from rlx import testing
from rlx.errors import NoBackend, UnknownBackend
from rlx.registration import Probe
from rlx.registries import Registry
from rlx.testing import case, check_backend
from tests.testing.conftest import Fake


def test_a_good_backend_passes_and_the_report_says_so(check):
    report = check(Fake)
    report.require()
    assert (report.passed, report.broken, report.failed, report.untried) == (True, (), (), ())
    assert str(report).splitlines()[0] == (
        f"fake fake 1: {report.signatures} kinds of nodes ran, all that is claimed holds"
    )


def test_a_claim_that_gives_another_answer_is_named_with_the_program(check):
    class Wrong(Fake):
        def compute(self, operation, inputs):
            return super().compute(operation, inputs) + (operation == "Relu")

    report = check(Wrong)
    assert report.failed == (
        "Relu (T float32): test_relu: output 0: off by 1 (float32)",
        "Relu (T float32): test_single_relu_model: output 0: off by 1 (float32)",
        "test_relu in a session: output 0: off by 1 (float32)",
        "test_single_relu_model in a session: output 0: off by 1 (float32)",
    )
    with pytest.raises(AssertionError) as caught:
        report.require()
    assert str(caught.value) == str(report)
    assert "  claim failed: Relu (T float32): test_relu: output 0: off by 1 (float32)" in str(
        report
    )


def test_a_dtype_that_only_a_variant_shows_is_tried(check):
    class NoDouble(Fake):
        def compute(self, operation, inputs):
            if inputs[0].dtype == np.float64:
                raise TypeError("no doubles")
            return super().compute(operation, inputs)

    assert check(NoDouble).passed
    failed = check(NoDouble, vary=True).failed
    assert any(one.startswith("Relu (T float64): test_relu[") for one in failed)
    assert all("TypeError: no doubles" in one for one in failed)


def test_what_works_and_is_not_claimed_is_told_and_fails_where_everything_is_asked(check):
    report = check(Fake, vary=True)
    assert any(one.startswith("Add (T int8): ") for one in report.unclaimed)
    assert not any("float32" in one for one in report.unclaimed)
    report.require()
    with pytest.raises(AssertionError, match="not claimed: Add"):
        report.require(everything=True)


class Elsewhere(Fake):
    device = "cuda"


def test_a_backend_on_another_device_is_not_opened(check):
    with pytest.raises(rlx.ContractError) as caught:
        check(Elsewhere)
    assert caught.value.message == "fake is registered for cpu, but opened 'cuda'"


def test_a_backend_that_fails_to_close_is_reported_not_raised(check):
    class Stuck(Fake):
        def close(self):
            raise OSError("stuck")

    report = check(Stuck)
    assert "backend.close raised OSError: stuck" in report.broken
    assert any("closing" in one and "OSError: stuck" in one for one in report.broken)


def test_a_backend_that_cannot_be_used_here_says_why():
    one = testing.registration("fake", probes=(Probe("module", ("no_such_engine",)),))
    with pytest.raises(NoBackend, match="no_such_engine is not installed"):
        check_backend(one, registry=Registry.load(only=True))


@pytest.mark.usefixtures("three_backends")
def test_an_unknown_id_lists_those_that_there_are():
    with pytest.raises(UnknownBackend) as caught:
        check_backend("fakee", registry=Registry.load(only=True))
    assert str(caught.value) == (
        "no backend 'fakee' is registered. Fix: choose one of: onnxruntime-cpu, numpy, reference."
    )


def relu(name="float[2] x"):
    text = f'<ir_version: 9, opset_import: ["" : 20]> g ({name}) => (float[2] y) {{ y = Relu(x) }}'
    return parser.parse_model(text)


def test_cases_of_ones_own_are_judged_by_the_oracle_or_by_what_is_expected(check):
    x = np.array([-1, 2], np.float32)
    right = case("right", relu(), [x], [np.array([0, 2], np.float32)])
    wrong = case("wrong", relu(), [x], [np.array([0, 3], np.float32)])
    loose = case("loose", relu(), [x], [np.array([0, 3], np.float32)], atol=2)
    report = check(Fake, cases=[case("judged", relu(), [x]), right, loose])
    assert (report.failed, report.signatures) == ((), 1)
    assert check(Fake, cases=[wrong]).failed == (
        "Relu (T float32): wrong: output 0: off by 1 (float32)",
        "wrong in a session: output 0: off by 1 (float32)",
    )


def test_what_no_case_tries_is_told(check):
    report = check(Fake, cases=[case("one", relu(), [np.zeros(2, np.float32)])])
    assert report.untried == ("Add",)
    assert "  never tried: Add" in str(report).splitlines()


def test_a_long_list_of_findings_is_cut_and_counted():
    report = testing.Report("fake", "1", 3, failed=tuple(f"number {i}" for i in range(25)))
    lines = str(report).splitlines()
    assert lines[0] == "fake 1: 3 kinds of nodes ran"
    assert (len(lines), lines[-1]) == (22, "  claim failed: … and 5 more")
    assert replace(report, failed=()).passed


def test_the_kit_is_a_name_of_the_package_and_others_are_refused():
    assert all(getattr(testing, name) is not None for name in testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = testing.nothing
