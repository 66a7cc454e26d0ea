"""Backends that misbehave in odd ways: each is an error of rlx, and nothing stays open or waits."""

import threading

import numpy as np
import pytest

from rlx import testing
from rlx.device import DeviceSpec
from rlx.errors import ContractError, ExecutionError, OpenFailed
from rlx.session import Session, leases
from rlx.session.opening import cause_text

CPU = DeviceSpec("cpu", 0)


class Mute(Exception):
    """Can't say what it is."""

    def __str__(self):
        raise ZeroDivisionError


def test_an_executable_whose_device_cannot_be_read_breaks_the_contract(hello, make, monkeypatch):
    def gone(self):
        raise OSError("driver gone")

    monkeypatch.setattr(testing.NullExecutable, "device", property(gone))
    with Session(registry=make("a")) as session, pytest.raises(ContractError) as caught:
        session.compile(hello)
    assert caught.value.message == (
        "a compiled hello, whose device can't be read: OSError: driver gone"
    )


@pytest.mark.parametrize("where", ["compile", "run"])
def test_an_exception_that_cannot_be_shown_is_named(hello, make, where):
    setattr(testing.watch("a"), f"{where}_error", Mute())
    x = np.zeros((1, 4), np.float32)
    with (
        Session(registry=make("a")) as session,
        pytest.raises(ExecutionError) as caught,
        session.compile(hello) as model,
    ):
        model(x, x)
    assert caught.value.message == f"a failed to {where} hello: Mute without a message"


def test_an_exception_that_caused_itself_is_told_once():
    error = RuntimeError("stuck")
    error.__cause__ = error
    assert cause_text(error) == "RuntimeError: stuck"


def test_factories_that_ask_for_each_other_do_not_wait_for_ever(monkeypatch):
    backends = {one: testing.registration(one) for one in "ab"}
    other, both, messages = {"a": "b", "b": "a"}, threading.Barrier(2), []

    def opens(spec, options):
        both.wait(20)
        return leases.acquire(backends[other[options["watch"]]], spec)

    def ask(one):
        try:
            leases.acquire(backends[one], CPU)
        except OpenFailed as error:
            messages.append(error.message)

    monkeypatch.setattr(testing, "open_null", opens)
    threads = [threading.Thread(target=ask, args=one, daemon=True) for one in backends]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(messages) == 2
    told = [f"{one} on cpu:0 and {other[one]} on cpu:0 ask for each other" for one in "ab"]
    assert any(f"ContractError: {one} while they are opened" in messages[0] for one in told)
    assert leases.opened() == {}


def test_a_thread_may_wait_for_one_that_waited_before():
    """What a thread waited for earlier is no part of a circle."""
    gates = {one: threading.Event() for one in "ab"}
    for one, gate in gates.items():
        testing.watch(one).gate = gate
    backends = [testing.registration(one) for one in "ab"]

    def both(order):
        for one in order:
            leases.acquire(one, CPU).close()

    threads = [threading.Thread(target=both, args=(one,)) for one in (backends, backends[::-1])]
    for thread in threads:
        thread.start()
    for gate in gates.values():
        gate.set()
    for thread in threads:
        thread.join(30)
    for one in "ab":
        testing.watch(one).gate = None
    assert not any(thread.is_alive() for thread in threads)
    assert leases.opened() == {}
