"""tinygrad runs where it is asked to, records what it can, and never keeps a value of an input."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends import tinygrad, tinygrad_place
from rlx.backends.protocol import CompileOptions, Found
from rlx.backends.tinygrad_runner import DTYPES
from rlx.device import DeviceSpec
from rlx.errors import (
    ContractError,
    ExecutionError,
    PrecisionError,
    SessionClosed,
    SettingError,
    Unavailable,
)
from rlx.program import load

pytestmark = pytest.mark.needs("tinygrad")
CPU = DeviceSpec("cpu", 0)
ELSEWHERE = " Fix: choose another backend: run `rlx explain --all`."
NEG = "g (float[2] x) => (float[2] y) { y = Neg(x) }"
X = np.array([1, -2], np.float32)
NONE = CompileOptions()


def program(text: str, opset: int = 25) -> Any:
    """A program from ONNX's text syntax."""
    return load(onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": {opset}]> {text}'))


def compiled(text: str, **options: Any) -> Any:
    return tinygrad.open_cpu(CPU, options).compile(program(text), CompileOptions())


def test_it_runs_where_it_says() -> None:
    executable = compiled(NEG)
    (y,) = executable.run([X])
    assert executable.device == "cpu"
    np.testing.assert_array_equal(y, -X)


def test_the_version_is_the_packages() -> None:
    assert tinygrad.open_cpu(CPU, {}).version.startswith("0.14")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baem": 1}, "tinygrad-cpu has the option beam, got baem. Fix: remove them."),
        (
            {"beam": True},
            "tinygrad-cpu: beam is a whole number from 0, got True. Fix: write beam: 0.",
        ),
        ({"beam": -1}, "tinygrad-cpu: beam is a whole number from 0, got -1. Fix: write beam: 0."),
    ],
)
def test_an_option_that_is_none_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        tinygrad.open_cpu(CPU, options)
    assert str(caught.value) == message


def test_there_is_one_cpu() -> None:
    with pytest.raises(Unavailable) as caught:
        tinygrad.open_cpu(DeviceSpec("cpu", 1), {})
    assert str(caught.value) == "tinygrad-cpu has only cpu:0, got cpu:1. Fix: ask for cpu."


OTHERS = {
    "opencl": ("gpu", tinygrad.probe_opencl, tinygrad.open_opencl),
    "cuda": ("cuda", tinygrad.probe_cuda, tinygrad.open_cuda),
    "metal": ("metal", tinygrad.probe_metal, tinygrad.open_metal),
    "rocm": ("rocm", tinygrad.probe_rocm, tinygrad.open_rocm),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_device_that_is_missing_is_never_another(name: str) -> None:
    device, probe, opening = OTHERS[name]
    found = probe(0)
    if isinstance(found, Found):
        there, here = opening(DeviceSpec(device, 0), {}).compile(program(NEG), NONE), compiled(NEG)
        for _ in range(2):  # both in one process, in turn
            for executable, place in ((there, device), (here, "cpu")):
                np.testing.assert_array_equal(executable.run([X])[0], -X)
                assert executable.device == place
        return
    with pytest.raises(Unavailable) as caught:
        opening(DeviceSpec(device, 0), {})
    message = f"tinygrad-{name} cannot use {device}:0: {found}. Fix: see `rlx devices`."
    assert str(caught.value) == message
    np.testing.assert_array_equal(compiled(NEG).run([X])[0], -X)  # others still work


def test_a_probe_computes_and_takes_the_first_device_alone() -> None:
    assert isinstance(tinygrad.probe_cpu(0), Found)
    assert tinygrad.probe_cpu(2) == "tinygrad is given only the first device, got index 2"


def test_another_interface_than_the_one_asked_for_is_a_broken_promise(monkeypatch: Any) -> None:
    from tinygrad import Device

    class KFDIface:
        pass

    class Opened:
        iface = KFDIface()

    monkeypatch.setattr(type(Device), "__getitem__", lambda *_: Opened())
    with pytest.raises(ContractError) as caught:
        tinygrad_place.Place("USB+AMD")
    assert caught.value.message == "tinygrad has opened AMD by KFD, asked for USB"


def test_settings_do_not_leak() -> None:
    from tinygrad.helpers import DEV, FLOAT16

    before = (str(DEV), FLOAT16.value)
    compiled(NEG).run([X])
    assert (str(DEV), FLOAT16.value) == before


@pytest.mark.parametrize("name", ["FLOAT16", "ALLOW_TF32", "IMAGE"])
def test_precision_is_the_programs_whatever_variables_say(monkeypatch: Any, name: str) -> None:
    from tinygrad.helpers import ContextVar

    monkeypatch.setattr(ContextVar._cache[name], "value", 1)
    with tinygrad_place.Place("CPU").entered():
        assert ContextVar._cache[name].value == 0
    assert ContextVar._cache[name].value == 1


def test_another_precision_is_refused() -> None:
    with pytest.raises(PrecisionError, match=r"^tinygrad-cpu computes g as the program says"):
        tinygrad.open_cpu(CPU, {}).compile(program(NEG), CompileOptions("f16"))


@pytest.mark.parametrize("dtype", sorted(DTYPES))
@pytest.mark.parametrize("shape", [(), (3,), (0, 2)])
def test_dtypes_and_shapes_come_back_as_they_were(dtype: str, shape: tuple[int, ...]) -> None:
    value = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    value.flags.writeable = False
    kind = {"float32": "float"}.get(dtype, dtype)
    kind += f"[{','.join(map(str, shape))}]" if shape else ""
    (y,) = compiled(f"g ({kind} x) => ({kind} y) {{ y = Identity(x) }}").run([value])
    assert y.dtype == value.dtype
    np.testing.assert_array_equal(y, value)


@pytest.mark.parametrize("name", ["string", "int4", "float64", "bfloat16", "uint64"])
def test_what_can_not_be_exchanged_is_refused(name: str) -> None:
    kind = f"{name.replace('float64', 'double')}[2]"
    with pytest.raises(ExecutionError) as caught:
        compiled(f"g ({kind} x) => ({kind} y) {{ y = Identity(x) }}")
    assert str(caught.value) == f"tinygrad-cpu can't exchange x, which is {name}.{ELSEWHERE}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "g (float[3,3] x) => (float y) { y = Det(x) }",
            "tinygrad-cpu lacks Det, which g needs",
        ),
        (
            "g (float[1,2,3,3] x) => (float[1,2,3,3] y) { y = Attention(x, x, x) }",
            "tinygrad-cpu lacks Attention, which g needs",
        ),
        (
            "g (float[2] x) => (int64 y) { y = Size(x) }",
            "tinygrad-cpu gave int for y, not a tensor",
        ),
        (
            'g (float[2] x) => (float[2] y) <string[1] s = {"a"}> { y = Neg(x) }',
            "tinygrad-cpu can't read g: ValueError: 8 is not a valid OnnxDataType",
        ),
    ],
)
def test_what_it_lacks_is_named(text: str, message: str) -> None:
    with pytest.raises(ExecutionError) as caught:
        compiled(text).run([np.zeros((3, 3) if "Det" in text else 2, np.float32)])
    assert str(caught.value) == message + "." + ELSEWHERE


def test_sizes_without_a_name_are_any() -> None:
    executable = compiled("g (float[?,n,?] x) => (float[?,n,?] y) { y = Neg(x) }")
    for shape in ((2, 1, 3), (1, 2, 2)):
        x = np.ones(shape, np.float32)
        np.testing.assert_array_equal(executable.run([x])[0], -x)


def test_threads_take_turns() -> None:
    executable = compiled("g (float[n] x) => (float[n] y) { y = Mul(x, x) }")
    wrong: list[Any] = []

    def use(size: int) -> None:
        x = np.arange(size, dtype=np.float32)
        wrong.extend(None for _ in range(20) if not np.array_equal(executable.run([x])[0], x * x))

    threads = [threading.Thread(target=use, args=(size,)) for size in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_it_can_be_closed_and_closed_again() -> None:
    executable = compiled(NEG)
    executable.close()
    executable.close()
    with pytest.raises(SessionClosed) as caught:
        executable.run([X])
    assert str(caught.value) == (
        "this executable was closed, called with 1 inputs. Fix: compile again."
    )


def test_a_group_of_errors_says_each_of_them() -> None:
    group = ExceptionGroup("no device", [OSError("a  b"), ValueError()])
    assert tinygrad.said(group) == "OSError: a b; ValueError"


def test_kernels_are_not_kept_where_nothing_can_be_written(monkeypatch: Any, tmp_path: Any) -> None:
    from tinygrad import helpers

    (tmp_path / "file").touch()
    monkeypatch.setattr(helpers, "CACHEDB", str(tmp_path / "file" / "cache.db"))
    monkeypatch.setattr(helpers, "_db_connection", None)
    monkeypatch.setattr(tinygrad_place, "_stores", [])
    assert tinygrad_place.kernels() == 0
    np.testing.assert_array_equal(
        compiled("g (float[5] x) => (float[5] y) { y = Neg(x) }").run([np.ones(5, np.float32)])[0],
        -np.ones(5),
    )
