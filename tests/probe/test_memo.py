"""Facts are found once per process, and found again when what they rest on has changed."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rlx import probe
from rlx.device import Device
from rlx.origin import Origin
from rlx.probe import memo
from rlx.probe.process import Answer
from rlx.registration import Probe, Registration

CALL = Probe("call", ("engine:probe",), origin=Origin("b.yaml", 9, 7))
CUDA = Device("cuda", "CUDA", masks=("CUDA_VISIBLE_DEVICES", "MY_DEVICES"))
MODULE = Probe("module", ("no_such_engine",), origin=Origin("b.yaml", 8, 7))


def backend(*probes, **fields):
    return Registration("engine-cuda", "cuda", "engine-cuda", probes=probes, **fields)


@pytest.fixture
def asked(monkeypatch):
    """Replace the checks; what was asked is listed, and `answers` are given in turn."""

    class Asked(list):
        answers = ()

    calls = Asked()

    def check(one, index):
        calls.append((one.kind, index))
        return calls.answers[len(calls) - 1] if len(calls) <= len(calls.answers) else Answer()

    monkeypatch.setattr(memo, "check", check)
    probe.refresh()
    yield calls
    probe.refresh()


def test_without_probes_a_backend_works():
    assert probe.probe(backend()) == memo.Fact()


def test_a_reason_has_its_place_and_the_backend_s_fix():
    fact = probe.probe(backend(MODULE, install="pip install engine"))
    assert fact.reason == "no_such_engine is not installed"
    assert fact.fix == "pip install engine"
    assert str(fact.source) == "b.yaml:8:7"


def test_probes_run_in_order_and_stop_at_the_first_reason(asked):
    asked.answers = (Answer(), Answer("broken"))
    assert probe.probe(backend(Probe("path", ("/a",)), MODULE, CALL)).reason == "broken"
    assert asked == [("path", 0), ("module", 0)]


def test_what_call_probes_find_is_added_up(asked):
    asked.answers = (Answer(detail="lavapipe"), Answer(software=True, detail="LLVM 19"))
    fact = probe.probe(backend(CALL, Probe("call", ("engine:other",))))
    assert (fact.reason, fact.software, fact.detail) == (None, True, "lavapipe; LLVM 19")


def test_the_same_question_is_asked_once(asked):
    for _ in range(3):
        probe.probe(backend(CALL), 1)
    assert asked == [("call", 1)]


def test_another_index_and_another_trust_are_other_questions(asked):
    probe.probe(backend(CALL), 0)
    probe.probe(backend(CALL), 1)
    probe.probe(backend(Probe("call", ("engine:probe",), trusted=False)), 0)
    assert asked == [("call", 0), ("call", 1), ("call", 0)]


@pytest.mark.parametrize("mask", CUDA.masks)
def test_a_device_s_mask_is_part_of_the_question(asked, monkeypatch, mask):
    monkeypatch.delenv(mask, raising=False)
    probe.probe(backend(CALL), 0, CUDA)
    monkeypatch.setenv(mask, "")
    probe.probe(backend(CALL), 0, CUDA)
    assert len(asked) == 2


def test_another_device_s_mask_is_none(asked, monkeypatch):
    """In this process; on disk every variable counts that may be read."""
    probe.probe(backend(CALL), 0, CUDA)
    monkeypatch.setenv("VK_DRIVER_FILES", "")
    probe.probe(backend(CALL), 0, CUDA)
    assert len(asked) == 1


def test_a_mask_does_not_matter_where_no_engine_is_asked(asked, monkeypatch):
    probe.probe(backend(MODULE), 0, CUDA)
    monkeypatch.setenv("MY_DEVICES", "1")
    probe.probe(backend(MODULE), 0, CUDA)
    assert len(asked) == 1


def test_a_fact_knows_the_masks_where_an_engine_was_asked(asked):
    assert probe.probe(backend(MODULE), 0, CUDA).masks == ()
    assert probe.probe(backend(MODULE, CALL), 0, CUDA).masks == CUDA.masks
    assert probe.probe(backend(MODULE, CALL)).masks == ()
    asked.answers = (*(Answer() for _ in asked), Answer("not installed"))
    probe.refresh()
    assert probe.probe(backend(MODULE, CALL), 0, CUDA).masks == ()  # the first was the last


def test_refresh_forgets_everything(asked):
    before = probe.generation()
    probe.probe(backend(CALL))
    probe.refresh()
    probe.probe(backend(CALL))
    assert len(asked) == 2
    assert probe.generation() == before + 1


def test_a_failure_that_may_pass_is_asked_again_after_a_while(asked, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(memo.time, "monotonic", lambda: now[0])
    asked.answers = (Answer("timed out", transient=True),)
    fact = probe.probe(backend(CALL))
    assert fact.transient
    assert fact.fix == "probe again with `rlx devices --refresh`, or raise the probe's timeout."
    assert probe.probe(backend(CALL)) == fact
    now[0] += memo.TRANSIENT_SECONDS
    assert probe.probe(backend(CALL)).reason is None
    assert len(asked) == 2


def test_askers_at_once_run_the_probe_once(asked, monkeypatch):
    gate = threading.Event()
    check = memo.check

    def slow(one, index):
        gate.wait(10)
        return check(one, index)

    monkeypatch.setattr(memo, "check", slow)
    with ThreadPoolExecutor(32) as pool:
        facts = [pool.submit(probe.probe, backend(CALL)) for _ in range(32)]
        gate.set()
        assert {fact.result() for fact in facts} == {memo.Fact()}
    assert len(asked) == 1


def test_an_interrupted_probe_is_run_by_the_next_asker(asked, monkeypatch):
    check = memo.check

    def interrupted(one, index):
        monkeypatch.setattr(memo, "check", check)
        raise KeyboardInterrupt

    monkeypatch.setattr(memo, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        probe.probe(backend(CALL))
    assert probe.probe(backend(CALL)).reason is None


def test_without_a_call_probe_there_is_only_index_0(asked):
    fact = probe.probe(backend(MODULE), 1)
    assert fact.reason == "there is no cuda:1: engine-cuda has only cuda:0"
    assert fact.fix == "ask for cuda."
    assert asked == [("module", 0)]


def test_an_untrusted_probe_says_how_to_trust_its_file():
    untrusted = Probe("call", ("os:abort",), origin=Origin("rlx.yaml", 4, 9), trusted=False)
    fact = probe.probe(backend(untrusted))
    assert fact.reason == "its call probe os:abort was not run: its file is not trusted"
    assert fact.fix == "read rlx.yaml, then run `rlx trust rlx.yaml`."


def test_many_facts_at_once(asked):
    other = Registration("other", "cpu", "other")
    facts = probe.facts_for([backend(CALL), other], 2)
    assert facts[("engine-cuda", 2)].reason is None
    assert facts[("other", 2)].reason == "there is no cpu:2: other has only cpu:0"


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_probes_although_a_thread_was_probing(asked, monkeypatch):
    started, gate = threading.Event(), threading.Event()
    check = memo.check

    def slow(one, index):
        started.set()
        gate.wait(20)
        return check(one, index)

    monkeypatch.setattr(memo, "check", slow)
    thread = threading.Thread(target=probe.probe, args=(backend(CALL),))
    thread.start()
    started.wait(10)
    child = os.fork()
    if child == 0:
        memo.check = check
        os._exit(7 if probe.probe(backend(CALL)).reason is None else 1)
    gate.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
