"""Sessions: what they capture, what they open, and what happens when opening fails."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import rlx
from rlx import testing
from rlx.errors import (
    ExecutionError,
    InvalidDevice,
    ProgramError,
    SessionClosed,
    SettingError,
    UnknownBackend,
    UnknownDevice,
)
from rlx.session import Session, leases


def test_making_a_session_opens_nothing(make):
    with Session(registry=make("null")):
        assert testing.watch().opened == 0


def test_a_session_opens_once_and_keeps_it_until_it_is_closed(hello, make):
    with Session(registry=make("null")) as session:
        for _ in range(3):
            session.compile(hello).close()
        assert leases.opened() == {("null", "cpu:0"): 1}
    assert (testing.watch().opened, testing.watch().closed) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (UnknownDevice, {"device": "cudda"}, "no device is named 'cudda'"),
        (InvalidDevice, {"device": "cuda:-1"}, "cuda:-1"),
        (UnknownBackend, {"backend": "nul"}, "no backend 'nul' is registered"),
        (SettingError, {"precision": "f64"}, "unknown value 'f64'"),
        (SettingError, {"require": ["determinstic"]}, "no capability is named 'determinstic'"),
    ],
)
def test_what_does_not_exist_is_refused_at_once(make, kind, arguments, message):
    with pytest.raises(kind, match=message):
        Session(registry=make("null"), **arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "<Session on any device, precision of the program>"),
        (
            {"device": "nvidia:1,cpu", "precision": "f16"},
            "<Session on cuda:1,cpu, precision f16>",
        ),
        ({"backend": "NULL"}, "<Session on any device, backend null, precision of the program>"),
    ],
)
def test_a_session_shows_device_and_precision(make, arguments, text):
    assert repr(Session(registry=make("null"), **arguments)) == text


def test_a_closed_session_says_so_and_closing_twice_is_safe(hello, make):
    session = Session("cpu", registry=make("null"))
    session.route(hello)
    session.close()
    session.close()
    for use in (session.route, session.compile):
        with pytest.raises(SessionClosed) as caught:
            use(hello)
        assert str(caught.value) == (
            "<Session on cpu, precision of the program> is closed. "
            "Fix: use it inside its `with` block, or make a new one."
        )


def test_it_takes_what_load_takes(hello, make, tmp_path):
    path = tmp_path / "hello.onnx"
    path.write_bytes(hello.to_onnx().SerializeToString())
    with Session(registry=make("null")) as session:
        for source in (path, str(path), hello.to_onnx()):
            assert session.route(source).backend == "null"
            session.compile(source).close()
        with pytest.raises(ProgramError):
            session.compile(tmp_path / "missing.onnx")


def test_scope_and_environment_are_captured_when_it_is_made(hello, make, monkeypatch):
    registry = make("first", ("second", "cuda"))
    monkeypatch.setenv("RLX_DEVICE", "cuda")
    by_environment = Session(registry=registry)
    with rlx.use("cpu"):
        by_scope = Session(registry=registry)
    monkeypatch.setenv("RLX_DEVICE", "cpu")
    assert by_environment.route(hello).backend == "second"
    assert by_scope.route(hello).backend == "first"
    monkeypatch.delenv("RLX_DEVICE")
    with rlx.use("cuda"):
        assert by_scope.route(hello).backend == "first"


def test_an_exception_in_a_scope_does_not_reach_the_next_session(hello, make):
    registry = make("first", ("second", "cuda"))
    with pytest.raises(KeyError), rlx.use("cuda"):
        raise KeyError
    assert Session(registry=registry).route(hello).backend == "first"


def test_asyncio_tasks_have_scopes_of_their_own(hello, make):
    registry = make("first", ("second", "cuda"))

    async def ask(device, turn):
        with rlx.use(device):
            await asyncio.sleep(turn)
            return Session(registry=registry).route(hello).backend

    async def main():
        return await asyncio.gather(ask("cuda", 0.02), ask("cpu", 0.01), ask("cuda", 0))

    assert asyncio.run(main()) == ["second", "first", "second"]


def test_a_thread_has_no_scope_unless_it_is_carried(hello, make):
    registry = make("first", ("second", "cuda"))
    with rlx.use("cuda"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: Session(registry=registry).route(hello).backend).result() == (
            "first"
        )


def test_32_threads_compile_with_one_opening(hello, make):
    registry, watch = make("null"), testing.watch()
    watch.gate = threading.Event()
    with Session(registry=registry) as session, ThreadPoolExecutor(32) as pool:
        asked = [pool.submit(session.compile, hello) for _ in range(32)]
        watch.gate.set()
        for one in asked:
            one.result(20).close()
    assert (watch.opened, watch.compiled, watch.closed) == (1, 32, 1)


def test_a_failing_close_is_reported_unless_an_error_is_on_its_way(hello, make, caplog):
    def use(error):
        with Session(registry=make("null")) as session:
            session.compile(hello).close()
            if error:
                raise error

    testing.watch().close_error = RuntimeError("busy")
    with pytest.raises(ExecutionError, match="closing null on cpu:0 failed"):
        use(None)
    assert caplog.messages == []
    with pytest.raises(KeyError):
        use(KeyError())
    assert caplog.messages[-1].startswith("closing null on cpu:0 failed: RuntimeError: busy")


def test_the_dispatch_report_is_printed_where_it_is_asked_for(hello, make, monkeypatch, capsys):
    monkeypatch.setenv("RLX_DISPATCH_REPORT", "1")
    with Session(registry=make("null")) as session:
        session.compile(hello).close()
    assert capsys.readouterr().err == (
        "dispatch on null (prefer-native): 2 native\n  native   Add 1, Relu 1\n"
    )


def test_a_session_closed_while_it_compiles_keeps_nothing_open(hello, make):
    testing.watch("a").gate = gate = threading.Event()
    session, errors = Session(registry=make("a")), []

    def compiling():
        try:
            session.compile(hello)
        except SessionClosed as error:
            errors.append(str(error))

    thread = threading.Thread(target=compiling)
    thread.start()
    while not testing.watch("a").opened:
        pass
    session.close()
    gate.set()
    thread.join()
    testing.watch("a").gate = None
    assert leases.opened() == {}
    assert errors == [
        "<Session on any device, precision of the program> is closed. "
        "Fix: use it inside its `with` block, or make a new one."
    ]
