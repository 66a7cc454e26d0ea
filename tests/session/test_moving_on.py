"""What a session does when opening or compiling fails: it moves on only where it was not asked."""

import logging

import pytest

from rlx import testing
from rlx.errors import (
    ContractError,
    ExecutionError,
    NoBackend,
    OpenFailed,
    PrecisionError,
    SettingError,
    UnsupportedFeature,
)
from rlx.session import Session


def test_when_opening_fails_the_next_one_is_taken_with_a_warning(hello, make, caplog):
    testing.watch("first").open_error = OSError("libfirst.so is missing")
    with (
        caplog.at_level(logging.WARNING, "rlx"),
        Session(registry=make("first", "second")) as session,
    ):
        model = session.compile(hello)
        assert model.backend == "second"
        assert model.route.degraded
        assert caplog.messages == [
            "opening first on cpu:0 failed: OSError: libfirst.so is missing. "
            "Using second on cpu:0 in its place. "
            "Fix: see the cause above; `rlx devices --refresh` probes again."
        ]
        first = model.route.candidates[0]
        assert (first.backend, first.verdict) == ("first", "rejected")
        assert first.reasons[0].code == "open-failed"
        model.close()


def test_the_next_compilation_tries_the_first_again(hello, make):
    watch = testing.watch("first")
    watch.open_error = OSError("busy")
    with Session(registry=make("first", "second")) as session:
        session.compile(hello).close()
        watch.open_error = None
        model = session.compile(hello)
        assert (model.backend, model.route.degraded) == ("first", False)
        model.close()


def test_a_device_that_is_asked_for_is_kept_when_opening_fails(hello, make):
    testing.watch("first").open_error = OSError("busy")
    registry = make("first", ("second", "cuda"), "third")
    with Session("cpu", registry=registry) as session, session.compile(hello) as model:
        assert model.backend == "third"
        assert model.route.degraded
    testing.watch("third").open_error = OSError("busy as well")
    with Session("cpu", registry=registry) as session, pytest.raises(NoBackend) as caught:
        session.compile(hello)
    assert [
        (one.backend, one.reasons[0].code) for one in caught.value.route.candidates if one.reasons
    ] == [("first", "open-failed"), ("third", "open-failed"), ("second", "not-requested")]
    assert isinstance(caught.value.__cause__, OpenFailed)
    assert testing.watch("second").opened == 0


def test_when_none_opens_the_reasons_are_listed_with_what_to_do(hello, make):
    testing.watch("first").open_error = OSError("libfirst.so: no such file")
    testing.watch("second").open_error = RuntimeError()
    registry = make("first", "second", install="pip install engine")
    with Session(registry=registry) as session, pytest.raises(NoBackend) as caught:
        session.compile(hello)
    assert caught.value.message == (
        "no backend can run hello (2 nodes)\n"
        "  first   open-failed it failed to open: OSError: libfirst.so: no such file   "
        "Fix: pip install engine\n"
        "  second  open-failed it failed to open: RuntimeError without a message       "
        "Fix: pip install engine"
    )


def test_a_list_of_devices_is_a_written_fallback(hello, make, monkeypatch):
    testing.watch("first").open_error = OSError("no GPU")
    monkeypatch.setenv("RLX_DEVICE", "cuda,cpu")
    registry = make(("first", "cuda"), "second")
    with Session(registry=registry) as session, session.compile(hello) as model:
        assert model.backend == "second"


def test_a_backend_that_is_asked_for_is_never_replaced(hello, make):
    testing.watch("first").open_error = OSError("busy")
    registry = make("first", "second")
    with (
        Session(backend="first", registry=registry) as session,
        pytest.raises(OpenFailed) as caught,
    ):
        session.compile(hello)
    assert caught.value.message == "opening first on cpu:0 failed: OSError: busy"


def test_a_refused_option_never_causes_a_fallback(hello, make):
    testing.watch("first").open_error = SettingError("first has no option 'thread'")
    registry = make("first", "second")
    with Session(registry=registry) as session, pytest.raises(SettingError):
        session.compile(hello)


def test_nothing_fits_is_an_error_with_every_reason(hello, make):
    with Session("metal", registry=make("null")) as session:
        assert session.route(hello).backend is None
        with pytest.raises(NoBackend) as caught:
            session.compile(hello)
    assert caught.value.message.startswith(
        "no backend can run hello (2 nodes) on metal: no enabled backend serves metal\n"
        "  null  not-requested device is cpu, metal was asked for by the device argument"
    )
    assert testing.watch().opened == 0


HALF = ("computes_f16",)
NO_KERNEL = "first failed to compile hello: RuntimeError: no kernel image"


def test_when_compiling_fails_the_next_one_is_taken_with_a_warning(hello, make, caplog):
    testing.watch("first").compile_error = RuntimeError("no kernel image")
    registry = make("first", "second")
    with (
        caplog.at_level(logging.WARNING, "rlx"),
        Session(registry=registry) as session,
        session.compile(hello) as model,
    ):
        assert (model.backend, model.route.degraded) == ("second", True)
        assert caplog.messages == [
            f"{NO_KERNEL}. Using second on cpu:0 in its place. Fix: {ExecutionError.fix}"
        ]
        assert str(model.route) == (
            "hello (2 nodes) runs on second (cpu:0): rank 1, coverage declared, "
            "not measured here, degraded: an earlier choice failed to compile it\n"
            "  first  open-failed it failed to compile the program: RuntimeError: no kernel image"
        )
        assert testing.watch("first").closed == 1


def test_what_a_backend_does_not_take_after_all_is_moved_on_too(hello, make):
    testing.watch("first").compile_error = UnsupportedFeature("no such thing", fix="leave it out.")
    with Session(registry=make("first", "second")) as session, session.compile(hello) as model:
        reason = model.route.candidates[0].reasons[0]
        assert (model.backend, reason.code, reason.fix) == (
            "second",
            "open-failed",
            "leave it out.",
        )
        assert reason.detail == "it failed to compile the program: no such thing"


def test_one_that_is_named_or_the_last_of_its_device_fails_with_its_own_error(hello, make):
    testing.watch("first").compile_error = RuntimeError("no kernel image")
    registry = make("first", ("second", "cuda"))
    for asked in ({"backend": "first"}, {"device": "cpu"}):
        with Session(registry=registry, **asked) as session:
            with pytest.raises(ExecutionError) as caught:
                session.compile(hello)
            assert caught.value.message == NO_KERNEL
    assert testing.watch("second").opened == 0
    assert testing.watch("first").opened == testing.watch("first").closed


def test_a_precision_that_is_refused_is_not_moved_on(hello, make):
    """What was asked for can't be had there; whether it can elsewhere is for the caller to ask."""
    testing.watch("first").precisions = ()
    registry = make("first", "second", capabilities=HALF)
    with Session(registry=registry, precision="f16") as session, pytest.raises(PrecisionError):
        session.compile(hello)
    assert testing.watch("second").opened == 0


def test_a_program_on_another_device_than_promised_is_refused(hello, make):
    testing.watch().compiled_device = "cpu"
    registry = make(("null", "cuda"))
    with Session(registry=registry) as session, pytest.raises(ContractError) as caught:
        session.compile(hello)
    assert caught.value.message == "null compiled hello for 'cpu', cuda was asked for"


def test_what_is_no_executable_is_refused(hello, make, monkeypatch):
    monkeypatch.setattr(testing.NullBackend, "compile", lambda self, program, options: "text")
    with Session(registry=make("null")) as session, pytest.raises(ContractError) as caught:
        session.compile(hello)
    assert caught.value.message == (
        "null compiled hello to str, which has no device and no run and no close"
    )


def test_a_precision_that_is_refused_is_an_error_by_default(hello, make):
    testing.watch().precisions = ()
    registry = make("null", capabilities=HALF)
    with Session(registry=registry, precision="f16") as session, pytest.raises(PrecisionError):
        session.compile(hello)


@pytest.mark.parametrize(
    ("policy", "logged"),
    [
        ("allow", []),
        ("warn", ["hello: the null backend can't compute in f16. Computing as the program says"]),
    ],
)
def test_a_policy_allows_what_the_program_says(hello, make, caplog, policy, logged):
    testing.watch().precisions = ()
    with Session(registry=make("null"), precision="f16", precision_policy=policy) as session:
        model = session.compile(hello)
    assert model.options.precision is None
    assert caplog.messages == logged
    assert [one.precision for one in testing.watch().options] == ["f16", None]
    model.close()
