"""One opening per backend and device, however many ask; the last lease closes."""

import logging
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rlx import testing
from rlx.device import DeviceSpec
from rlx.errors import ContractError, ExecutionError, OpenFailed, SessionClosed, SettingError
from rlx.session import leases

CPU = DeviceSpec("cpu", 0)


def test_leases_share_one_backend_and_the_last_closes_it():
    one, watch = testing.registration(), testing.watch()
    first, second = leases.acquire(one, CPU), leases.acquire(one, DeviceSpec("cpu"))
    assert first.backend is second.backend
    assert leases.opened() == {("null", "cpu:0"): 2}
    first.close()
    assert (watch.opened, watch.closed) == (1, 0)
    second.close()
    assert (watch.opened, watch.closed) == (1, 1)


def test_a_lease_says_what_it_is_on():
    with leases.acquire(testing.registration("null", "cuda"), DeviceSpec("cuda", 3)) as lease:
        assert (lease.id, str(lease.spec), lease.closed) == ("null", "cuda:3", False)
        assert lease.registration.id == "null"
        assert repr(lease) == "<Lease null on cuda:3>"
    assert repr(lease) == "<Lease null on cuda:3, closed>"
    assert lease.closed


def test_closing_twice_is_safe_and_ends_one_lease_only():
    one = testing.registration()
    first, second = leases.acquire(one, CPU), leases.acquire(one, CPU)
    first.close()
    first.close()
    assert leases.opened() == {("null", "cpu:0"): 1}
    second.close()


def test_a_closed_lease_is_an_error_to_use():
    lease = leases.acquire(testing.registration(), CPU)
    lease.close()
    with pytest.raises(SessionClosed) as caught:
        _ = lease.backend
    assert str(caught.value) == (
        "the lease on null on cpu:0 is closed. "
        "Fix: use it inside its `with` block, or make a new one."
    )


def test_a_dropped_lease_ends():
    leases.acquire(testing.registration(), CPU)
    assert testing.watch().closed == 1


def test_a_lease_collected_while_the_cache_is_locked_ends_later():
    lease = leases.acquire(testing.registration(), CPU)
    with leases.slots.current().guard:
        del lease
    assert testing.watch().closed == 0
    assert leases.opened() == {}
    assert testing.watch().closed == 1


@pytest.mark.parametrize(
    "other",
    [
        testing.registration("other"),
        testing.registration(options=(("watch", "other"),)),
        testing.registration(options=(("threads", True), ("watch", "null"))),
    ],
)
def test_another_id_or_other_options_are_another_backend(other):
    one = testing.registration(options=(("threads", 1), ("watch", "null")))
    with leases.acquire(one, CPU) as first, leases.acquire(other, CPU) as second:
        assert first.backend is not second.backend


def test_the_factory_is_told_the_concrete_device_and_the_options():
    one = testing.registration("null", "cuda")
    with leases.acquire(one, DeviceSpec("cuda")), leases.acquire(one, DeviceSpec("cuda", 1)):
        assert testing.watch().specs == [DeviceSpec("cuda", 0), DeviceSpec("cuda", 1)]


def test_32_threads_at_once_open_once():
    one, watch = testing.registration(), testing.watch()
    watch.gate = threading.Event()
    with ThreadPoolExecutor(32) as pool:
        asked = [pool.submit(leases.acquire, one, CPU) for _ in range(32)]
        watch.gate.set()
        held = [future.result(20) for future in asked]
    assert watch.opened == 1
    assert leases.opened() == {("null", "cpu:0"): 32}
    for lease in held:
        lease.close()
    assert watch.closed == 1


def test_threads_that_wait_share_the_failure():
    one, watch = testing.registration(), testing.watch()
    watch.gate, watch.open_error = threading.Event(), RuntimeError("no device")
    arrived = threading.Barrier(9)

    def ask():
        arrived.wait(20)
        return leases.acquire(one, CPU)

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask) for _ in range(8)]
        arrived.wait(20)
        threading.Timer(0.3, watch.gate.set).start()
        errors = [future.exception(20) for future in asked]
    assert {str(error.message) for error in errors} == {
        "opening null on cpu:0 failed: RuntimeError: no device"
    }
    assert len({id(error) for error in errors}) == 8
    assert watch.opened < 8


def test_another_device_opens_while_one_hangs():
    hanging, free = testing.registration("hanging"), testing.registration("free")
    gate = testing.watch("hanging").gate = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        stuck = pool.submit(leases.acquire, hanging, CPU)
        with leases.acquire(free, CPU) as lease:
            assert lease.backend.device == "cpu"
        assert not stuck.done()
        gate.set()
        stuck.result(20).close()


def test_who_asks_while_it_closes_gets_a_new_one():
    one, watch = testing.registration(), testing.watch()
    lease = leases.acquire(one, CPU)
    closing, go_on, close = threading.Event(), threading.Event(), lease.backend.close

    def slow_close():
        closing.set()
        go_on.wait(20)
        close()

    lease.backend.close = slow_close
    with ThreadPoolExecutor(2) as pool:
        ended = pool.submit(lease.close)
        closing.wait(20)
        again = pool.submit(leases.acquire, one, CPU)
        assert watch.opened == 1
        go_on.set()
        ended.result(20)
        again.result(20).close()
    assert (watch.opened, watch.closed) == (2, 2)


def test_a_failure_is_not_kept():
    one, watch = testing.registration(), testing.watch()
    watch.open_error = RuntimeError("busy")
    with pytest.raises(OpenFailed):
        leases.acquire(one, CPU)
    watch.open_error = None
    leases.acquire(one, CPU).close()
    assert watch.opened == 2


def test_a_retry_that_fails_otherwise_tells_the_first_cause():
    one, watch = testing.registration(), testing.watch()
    watch.open_error = OSError("libcuda.so.1 is missing")
    with pytest.raises(OpenFailed):
        leases.acquire(one, CPU)
    watch.open_error = RuntimeError("ALREADY_EXISTS")
    with pytest.raises(OpenFailed) as caught:
        leases.acquire(one, CPU)
    assert caught.value.message == (
        "opening null on cpu:0 failed: RuntimeError: ALREADY_EXISTS "
        "(it first failed so: opening null on cpu:0 failed: OSError: libcuda.so.1 is missing)"
    )
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_interrupted_opening_is_begun_again_by_who_waits():
    one, watch = testing.registration(), testing.watch()
    watch.open_error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        leases.acquire(one, CPU)
    watch.open_error = None
    leases.acquire(one, CPU).close()


def test_a_refused_option_is_a_fault_of_the_configuration():
    testing.watch().open_error = SettingError("null has no option 'thread'")
    with pytest.raises(SettingError):
        leases.acquire(testing.registration(), CPU)


def test_a_failing_close_is_reported_and_the_backend_is_let_go():
    one, watch = testing.registration(), testing.watch()
    watch.close_error = RuntimeError("still busy")
    lease = leases.acquire(one, CPU)
    with pytest.raises(ExecutionError) as caught:
        lease.close()
    assert caught.value.message == "closing null on cpu:0 failed: RuntimeError: still busy"
    watch.close_error = None
    leases.acquire(one, CPU).close()
    assert watch.opened == 2


def test_a_failing_close_of_a_dropped_lease_is_logged(caplog):
    testing.watch().close_error = RuntimeError("still busy")
    with caplog.at_level(logging.ERROR, "rlx"):
        leases.acquire(testing.registration(), CPU)
    assert caplog.messages == [
        "closing null on cpu:0 failed: RuntimeError: still busy. Fix: see the cause above."
    ]


def test_a_factory_that_asks_for_itself_is_an_error(monkeypatch):
    one = testing.registration()
    monkeypatch.setattr(testing, "open_null", lambda spec, options: leases.acquire(one, spec))
    with pytest.raises(OpenFailed) as caught:
        leases.acquire(one, CPU)
    assert caught.value.message == (
        "opening null on cpu:0 failed: "
        "ContractError: null on cpu:0 asks for itself while it is opened or closed"
    )


def test_a_backend_that_opened_elsewhere_is_closed_and_refused():
    one, watch = testing.registration("null", "cuda"), testing.watch()
    watch.device = "cpu"
    with pytest.raises(ContractError) as caught:
        leases.acquire(one, DeviceSpec("cuda"))
    assert caught.value.message == "null is registered for cuda, but opened 'cpu'"
    assert watch.closed == 1


def test_many_threads_that_come_and_go_leave_nothing_open():
    ids, watches = "abc", [testing.watch(one) for one in "abc"]
    registrations = [testing.registration(one) for one in ids]

    def work(seed):
        draw = random.Random(seed)
        held = []
        for _ in range(60):
            one = draw.randrange(3)
            watches[one].open_error = OSError("busy") if draw.random() < 0.1 else None
            try:
                held.append(leases.acquire(registrations[one], CPU))
            except OpenFailed:
                continue
            if draw.random() < 0.7:
                held.pop(draw.randrange(len(held))).close()
            elif draw.random() < 0.2:
                held.clear()
        for lease in held:
            lease.close()

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(12)))
    assert leases.opened() == {}
    assert all(one.opened >= one.closed for one in watches)
    assert not any(one.backend for one in leases.slots.current().slots.values())
