"""A backend in a process of its own answers as it would here, and its end is an error."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends.isolated import Isolated, _rebuilt
from rlx.backends.protocol import CompileOptions, Executable
from rlx.device import DeviceSpec
from rlx.errors import (
    ExecutionError,
    PrecisionError,
    RlxError,
    SessionClosed,
    SettingError,
    Unavailable,
)
from rlx.program import load

CPU = DeviceSpec("cpu", 0)
HERE = __name__
needs_signals = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


def program(text: str = "g (float[2] x) => (float[2] y) { y = Neg(x) }") -> Any:
    return load(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}'))


class Odd:
    """A backend that does what the program's name says."""

    device, version = "cpu", "1"

    def compile(self, program: Any, options: CompileOptions) -> Executable:
        if program.name == "exits":
            raise SystemExit(3)
        if program.name == "dies":
            print("about to die", flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        if program.name == "refuses":
            raise PrecisionError("it can't", fix="ask for less.")
        raise KeyError("a\nb")

    def close(self) -> None: ...


def open_odd(spec: DeviceSpec, options: dict[str, object]) -> Odd:
    print("engines print on standard output", flush=True)
    if options.get("refuse"):
        raise SettingError("no option refuse", fix="leave it.")
    if options.get("leave"):
        os._exit(7)
    return Odd()


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Opens `Odd`; this file is found by its path in the other process too."""
    monkeypatch.syspath_prepend(os.path.dirname(__file__))  # noqa: PTH120 - as sys.path has it
    opened: list[Isolated] = []

    def start(**options: object) -> Isolated:
        opened.append(Isolated("odd", "test_isolated:open_odd", CPU, options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_it_answers_as_it_would_here() -> None:
    backend = Isolated("numpy", "rlx.backends.array.numpy:open_cpu", CPU, {})
    assert (backend.device, backend.version) == ("cpu", np.__version__)
    first, second = (backend.compile(program(), CompileOptions()) for _ in range(2))
    assert first.device == "cpu"
    x = np.array([1, -2], np.float32)
    np.testing.assert_array_equal(first.run([x])[0], -x)
    first.close()
    first.close()
    np.testing.assert_array_equal(second.run([x])[0], -x)
    with pytest.raises(SessionClosed) as caught:
        first.run([x])
    assert str(caught.value) == (
        "this executable was closed, called with 1 inputs. Fix: compile again."
    )
    backend.close()
    backend.close()
    with pytest.raises(SessionClosed) as again:
        backend.compile(program(), CompileOptions())
    assert str(again.value) == "numpy was closed. Fix: open it again."
    second.close()


def test_sequences_and_dtypes_that_numpy_lacks_go_there_and_back() -> None:
    import ml_dtypes

    backend = Isolated("numpy", "rlx.backends.array.numpy:open_cpu", CPU, {})
    text = (
        "g (seq(float[2]) s, int64 i, bfloat16[2] x) => (float[2] y, bfloat16[2] z) "
        "{ y = SequenceAt(s, i) z = Identity(x) }"
    )
    made = backend.compile(program(text), CompileOptions())
    s = [np.ones(2, np.float32), np.zeros(2, np.float32)]
    y, z = made.run([s, np.array(1), np.ones(2, ml_dtypes.bfloat16)])
    assert (y.tolist(), z.dtype, z.tolist()) == ([0, 0], ml_dtypes.bfloat16, [1, 1])
    backend.close()


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("refuses", PrecisionError, "it can't. Fix: ask for less."),
        (
            "raises",
            ExecutionError,
            "KeyError: 'a\\nb'. Fix: see the cause above; another backend may run the program: "
            "try `rlx explain --all`.",
        ),
        (
            "exits",
            ExecutionError,
            "SystemExit: 3. Fix: see the cause above; another backend may run the program: "
            "try `rlx explain --all`.",
        ),
    ],
)
def test_what_is_raised_there_is_raised_here(
    odd: Any, name: str, kind: type[RlxError], message: str
) -> None:
    backend = odd()
    with pytest.raises(kind) as caught:
        backend.compile(program(f"{name} (float[2] x) => (float[2] y) {{ y = Neg(x) }}"), None)
    assert str(caught.value) == message


@needs_signals
def test_its_death_is_an_error_and_the_next_program_starts_another(odd: Any) -> None:
    backend = odd()
    for _ in range(2):
        with pytest.raises(ExecutionError) as caught:
            backend.compile(program("dies (float[2] x) => (float[2] y) { y = Neg(x) }"), None)
        assert str(caught.value) == (
            "the process of odd ended with SIGSEGV: about to die. Fix: compile again, which "
            "starts another; or choose another backend."
        )


@needs_signals
def test_an_executable_of_a_process_that_ended_says_so() -> None:
    backend = Isolated("numpy", "rlx.backends.array.numpy:open_cpu", CPU, {})
    made = backend.compile(program(), CompileOptions())
    assert backend._process is not None
    backend._process._child.kill()
    with pytest.raises(ExecutionError) as caught:
        made.run([np.ones(2, np.float32)])
    assert caught.value.message == "the process of numpy ended with SIGKILL"
    made.close()
    again = backend.compile(program(), CompileOptions())
    assert again.run([np.ones(2, np.float32)])[0].tolist() == [-1, -1]
    backend.close()


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"refuse": True}, SettingError, "no option refuse. Fix: leave it."),
        (
            {"leave": True},
            Unavailable,
            "the process of odd ended with exit code 7: engines print on standard output. "
            "Fix: see `rlx devices`.",
        ),
    ],
)
def test_a_failure_to_open_is_an_error(
    odd: Any, options: dict[str, object], kind: type[RlxError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        odd(**options)
    assert str(caught.value) == message


def test_a_factory_that_cannot_be_imported_is_an_error() -> None:
    with pytest.raises(Unavailable) as caught:
        Isolated("gone", "rlx.backends.gone:open", CPU, {})
    assert str(caught.value) == (
        "ModuleNotFoundError: No module named 'rlx.backends.gone'. Fix: see `rlx devices`."
    )


def test_an_error_of_a_kind_that_is_not_known_here_is_an_execution_error() -> None:
    assert type(_rebuilt("Mine", "wrong", None)) is ExecutionError


@needs_signals
def test_a_forked_child_is_told_to_open_its_own() -> None:
    backend = Isolated("numpy", "rlx.backends.array.numpy:open_cpu", CPU, {})
    made = backend.compile(program(), CompileOptions())
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            made.run([np.ones(2, np.float32)])
        except SessionClosed as error:
            os.write(writing, str(error).encode())
        backend.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 500).decode() == (
        "the process of numpy belongs to the process that forked this one. "
        "Fix: open the backend in this process."
    )
    assert made.run([np.ones(2, np.float32)])[0].tolist() == [-1, -1]
    backend.close()
    os.close(reading)
    os.close(writing)
