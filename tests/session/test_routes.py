"""`rlx.route` and `session.route`: read at each call, kept while nothing changed."""

import gc
import weakref

import pytest
from onnx import parser

import rlx
from rlx import probe, settings, testing
from rlx.device import DeviceSpec
from rlx.errors import UnknownDevice
from rlx.origin import Origin
from rlx.probe import memo
from rlx.probe.process import Answer
from rlx.registration import Probe
from rlx.router import Fact
from rlx.session import Session, routes

CALL = Probe("call", ("engine:probe",), origin=Origin("b.yaml", 9, 7))


@pytest.fixture
def checks(monkeypatch):
    """Replace the checks of probes by `answer`, and list what was asked."""

    class Checks(list):
        answer = Answer()

    made = Checks()

    def check(one, index):
        made.append((one.kind, index))
        return made.answer

    monkeypatch.setattr(memo, "check", check)
    probe.refresh()
    yield made
    probe.refresh()


def test_a_route_is_kept_while_nothing_changes(hello, make):
    registry = make("null")
    assert rlx.route(hello, registry=registry) is rlx.route(hello, registry=registry)
    with Session(registry=registry) as session:
        assert session.route(hello) is session.route(hello)


def test_scope_and_environment_are_read_at_each_call(hello, make, monkeypatch):
    registry = make("first", ("second", "cuda"))

    def backend():
        return rlx.route(hello, registry=registry).backend

    assert backend() == "first"
    monkeypatch.setenv("RLX_DEVICE", "cuda")
    assert backend() == "second"
    with rlx.use("cpu"):
        assert backend() == "first"
    monkeypatch.setenv("RLX_DEVICE", "")
    monkeypatch.setenv("RLX_PRECEDENCE", "second,first")
    assert backend() == "second"
    monkeypatch.setenv("RLX_DISABLE", "second")
    assert backend() == "first"


def test_every_variable_that_routing_depends_on_is_part_of_the_question(monkeypatch):
    for variable in settings.VARIABLES:
        if variable.routes:
            before = settings.stamp()
            monkeypatch.setenv(variable.name, variable.example)
            assert settings.stamp() != before, variable.name


def test_arguments_are_part_of_the_question(hello, make):
    registry = make("first", ("second", "cuda"))
    assert rlx.route(hello, "cuda", registry=registry).backend == "second"
    assert rlx.route(hello, ["cuda:0", "cpu"], registry=registry).device == DeviceSpec("cuda", 0)
    assert rlx.route(hello, backend="second", registry=registry).backend == "second"
    assert rlx.route(hello, registry=registry).backend == "first"
    assert rlx.route(hello, require=["deterministic"], registry=registry).backend is None


def test_another_registry_is_another_question(hello, make):
    assert rlx.route(hello, registry=make("first")).backend == "first"
    assert rlx.route(hello, registry=make("second")).backend == "second"


def test_two_equal_programs_keep_their_own_names(hello, make, tmp_path):
    registry = make("null")
    (tmp_path / "other.onnx").write_bytes(hello.to_onnx().SerializeToString())
    other = rlx.load(tmp_path / "other.onnx")
    assert rlx.route(hello, registry=registry).program is hello
    assert rlx.route(other, registry=registry).program is other


def test_what_a_program_keeps_is_bounded(hello, make, monkeypatch):
    monkeypatch.setattr(routes, "_KEPT", 2)
    program = rlx.load(hello.to_onnx())
    for name in "abcde":
        rlx.route(program, registry=make(name))
        assert 1 <= len(program.routes) <= 2


def test_a_program_that_was_routed_goes_when_nobody_has_it(make):
    """A service that loads and routes many models must not keep their weights."""
    text = """<ir_version: 9, opset_import: ["" : 20]>
    g (float[1] x) => (float[1] y) <float[1] w = {1}> { y = Add(x, w) }"""
    program, registry = rlx.load(parser.parse_model(text)), make("null")
    assert rlx.route(program, registry=registry) is rlx.route(program, registry=registry)
    weights = weakref.ref(program.body.constants[0][1])
    del program
    gc.collect()
    assert weights() is None


def test_probes_run_once_and_again_after_a_refresh(hello, make, checks):
    registry = make("null", probes=(CALL,))
    with Session(registry=registry) as session:
        for _ in range(3):
            assert rlx.route(hello, registry=registry).backend == "null"
            assert session.route(hello).backend == "null"
        assert checks == [("call", 0)]
        checks.answer = Answer("gone")
        probe.refresh()
        assert rlx.route(hello, registry=registry).backend is None
        assert session.route(hello).backend is None


def test_a_changed_device_mask_is_seen(hello, make, checks, monkeypatch):
    registry = make(("null", "cuda"), probes=(CALL,))
    assert rlx.route(hello, registry=registry).backend == "null"
    checks.answer = Answer("no device")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert rlx.route(hello, registry=registry).backend is None


def test_a_reason_that_may_pass_is_not_kept_with_the_route(hello, make, checks, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(memo.time, "monotonic", lambda: now[0])
    checks.answer = Answer("timed out", transient=True)
    registry = make("null", probes=(CALL,))
    with Session(registry=registry) as session:
        assert rlx.route(hello, registry=registry).backend is None
        assert session.route(hello).backend is None
        checks.answer = Answer()
        now[0] += memo.TRANSIENT_SECONDS
        assert rlx.route(hello, registry=registry).backend == "null"
        assert session.route(hello).backend == "null"


def test_only_what_the_decision_needs_is_probed(hello, make, checks):
    rlx.route(hello, registry=make("first", "second", probes=(CALL,)))
    assert checks == [("call", 0)]
    rlx.route(hello, "cpu:1", registry=make("first", "second", probes=(CALL,)))
    assert checks == [("call", 0), ("call", 1)]


def test_given_facts_take_the_place_of_probes(hello, make, checks):
    registry = make("first", "second", "third", probes=(CALL,))
    facts = {("first", 0): Fact("no driver"), ("second", 0): Fact()}
    route = rlx.route(hello, registry=registry, facts=facts, evaluate_all=True)
    assert route.backend == "second"
    assert [one.reasons[0].detail for one in route.candidates if one.reasons] == [
        "no driver",
        "nothing is known of it: the facts that were given do not name it",
    ]
    assert checks == []


def test_without_probes_everything_counts_as_available(hello, make, checks):
    registry = make("null", probes=(CALL,))
    assert rlx.route(hello, registry=registry, probe=False).backend == "null"
    assert checks == []


def test_a_missing_module_is_a_reason_with_the_fix(hello, make):
    probes = (Probe("module", ("no_such_engine",), origin=Origin("b.yaml", 4, 9)),)
    registry = make("null", probes=probes, install="pip install engine")
    reason = rlx.route(hello, registry=registry).candidates[0].reasons[0]
    assert (reason.code, reason.detail) == ("unavailable", "no_such_engine is not installed")
    assert (reason.fix, str(reason.source)) == ("pip install engine", "b.yaml:4:9")


def test_a_route_takes_what_load_takes(hello, make):
    assert rlx.route(hello.to_onnx(), registry=make("null")).program.name == "hello"


def test_an_unknown_device_is_an_error(hello, make):
    with pytest.raises(UnknownDevice):
        rlx.route(hello, "cudda", registry=make("null"))


def test_routing_opens_nothing(hello, make):
    rlx.route(hello, registry=make("null"))
    assert testing.watch().opened == 0
