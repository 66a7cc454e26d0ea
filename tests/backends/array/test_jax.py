"""The jax backends: what is compiled, what goes in and out, and what they leave as it was."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rlx
from rlx.backends.array.jax import open_cpu
from rlx.backends.protocol import Backend, CompileOptions, Executable
from rlx.device import DeviceSpec
from rlx.errors import SessionClosed, SettingError, Unavailable
from rlx.program import load

pytestmark = pytest.mark.needs("jax")


def compiled(text: str):
    """A program in ONNX's text form, without its header, on jax-cpu."""
    program = load(f'<ir_version: 13, opset_import: ["": 28]>\n{text}'.encode())
    return open_cpu(DeviceSpec("cpu"), {}).compile(program, CompileOptions())


def run(executable, *inputs) -> list[np.ndarray]:
    return [executable.to_host(y) for y in executable.run(list(inputs))]


def test_backend_and_executable_satisfy_the_protocol():
    import jax

    opened = open_cpu(DeviceSpec("cpu", 0), {})
    executable = compiled("m (float[2] x) => (float[2] y) { y = Neg(x) }")
    assert isinstance(opened, Backend)
    assert isinstance(executable, Executable)
    assert (opened.device, executable.device, opened.version) == ("cpu", "cpu", jax.__version__)


def test_there_is_one_cpu_without_options():
    with pytest.raises(
        Unavailable, match=r"^jax-cpu has only cpu:0, got cpu:1\. Fix: ask for cpu\.$"
    ):
        open_cpu(DeviceSpec("cpu", 1), {})
    with pytest.raises(
        SettingError, match=r"^the jax backends have no options, got a, b\. Fix: remove them\.$"
    ):
        open_cpu(DeviceSpec("cpu"), {"b": 1, "a": 2})


def test_static_sizes_are_compiled_before_the_first_run():
    executable = compiled("m (float[2] x) => (float[2] y) { y = Neg(x) }")
    assert len(executable._run.forms) == 1
    assert run(executable, np.ones(2, np.float32))[0].tolist() == [-1, -1]
    assert len(executable._run.forms) == 1


def test_open_sizes_are_compiled_once_for_each_shape():
    executable = compiled("m (float[N] x) => (float[N] y) { y = Neg(x) }")
    assert not executable._run.forms
    for size in (2, 3, 2):
        assert run(executable, np.ones(size, np.float32))[0].tolist() == [-1] * size
    assert len(executable._run.forms) == 2
    assert executable.uncompiled is None


@pytest.mark.parametrize("sequence", [list, tuple])
@pytest.mark.parametrize("sizes", ["2", "N"])
def test_inputs_come_in_any_sequence(sequence, sizes, caplog):
    """To jax, a tuple is not what a list was compiled for."""
    caplog.set_level(logging.INFO, "rlx")
    executable = compiled(f"m (float[{sizes}] x) => (float[{sizes}] y) {{ y = Neg(x) }}")
    for kind in (sequence, list, tuple):
        (y,) = executable.run(kind([np.ones(2, np.float32)]))
        assert executable.to_host(y).tolist() == [-1, -1]
    assert (executable.uncompiled, caplog.messages) == (None, [])


def test_sessions_run_what_was_compiled(caplog):
    caplog.set_level(logging.INFO, "rlx")
    text = "m (float[2] x) => (float[2] y) { y = Neg(x) }"
    model = rlx.Session(backend="jax-cpu").compile(
        f'<ir_version: 13, opset_import: ["": 28]>\n{text}'.encode()
    )
    caplog.clear()
    for native in (False, True):
        assert np.asarray(model(np.ones(2, np.float32), native=native)[0]).tolist() == [-1, -1]
    assert caplog.messages == []


def test_a_program_that_depends_on_its_data_runs_step_by_step_and_says_so(caplog):
    caplog.set_level(logging.INFO, "rlx")
    executable = compiled("m (float[N] x) => (int64[1,K] y) { [where] y = NonZero(x) }")
    reason = "node 'where' NonZero: the size of its result depends on the data"
    assert executable.uncompiled == reason
    assert caplog.messages == [f"m: jax runs it uncompiled: {reason}"]
    assert run(executable, np.float32([0, 2, 3]))[0].tolist() == [[1, 2]]


def test_64_bits_are_64_bits_and_the_process_keeps_32():
    import jax

    executable = compiled("m (int64[1] x, double[1] d) => (int64[1] y, double[1] e) "
                          "{ y = Add(x, x) e = Mul(d, d) }")  # fmt: skip
    y, e = run(executable, np.int64([2**40]), np.float64([1 + 2**-40]))
    assert (y.dtype, y.tolist()) == (np.int64, [2**41])
    assert (e.dtype, e.tolist()) == (np.float64, [(1 + 2**-40) ** 2])
    assert not jax.config.jax_enable_x64


def test_settings_of_the_process_change_nothing():
    import jax

    with (
        jax.numpy_dtype_promotion("strict"),
        jax.numpy_rank_promotion("raise"),
        jax.default_matmul_precision("bfloat16"),
    ):
        executable = compiled(
            """m (float[2,2] x, float[2] b) => (float[2,2] y) {
                 p = MatMul(x, x)
                 y = Add(p, b)
               }"""
        )
        x = np.float32([[1.001, 2], [3, 4]])
        assert np.allclose(run(executable, x, x[0])[0], x @ x + x[0], rtol=1e-6)


def test_division_is_exact_where_the_divisor_is_constant():
    """XLA multiplies by the reciprocal of a constant, and 49 * (1 / 49) is not 1."""
    numbers = np.arange(1, 500, dtype=np.float32)
    for divisor in (3, 7, 49, 255):
        executable = compiled(
            f"""m (float[499] x) => (float[499] y) {{
                  d = Constant <value_float: float = {divisor}.0> ()
                  y = Div(x, d)
                }}"""
        )
        assert np.array_equal(run(executable, numbers)[0], numbers / np.float32(divisor))


def test_rounding_to_a_narrow_dtype_is_not_skipped():
    executable = compiled(
        """m (float[1] x) => (float[1] y, float[1] z) {
             h = Cast <to = 10> (x)
             y = Cast <to = 1> (h)
             b = Cast <to = 16> (x)
             z = Cast <to = 1> (b)
           }"""
    )
    y, z = run(executable, np.float32([1.0009]))
    assert (y.tolist(), z.tolist()) == ([1.0009765625], [1.0])


def test_an_input_may_be_written_to_once_a_run_has_returned():
    """jax computes on NumPy's memory after the call has returned, unless it is waited for."""
    executable = compiled("m (float[N] x) => (float[N] y) { a = Exp(x) b = Tanh(a) y = Sin(b) }")
    x = np.linspace(-2, 2, 1 << 20, dtype=np.float32)
    expected = np.sin(np.tanh(np.exp(x)))
    (native,) = executable.run([x])
    x[:] = 0
    assert np.allclose(executable.to_host(native), expected, rtol=1e-5)


@pytest.mark.parametrize("text", ["y = Identity(x)", "y = Reshape(x, s)"])
def test_outputs_are_memory_of_their_own_and_may_be_written_to(text):
    executable = compiled(f"m (float[4] x, int64[1] s) => (float[4] y) {{ {text} }}")
    x = np.ones(4, np.float32)
    (y,) = run(executable, x, np.int64([4]))
    y[:] = 5
    assert x.tolist() == [1, 1, 1, 1]
    assert run(executable, x, np.int64([4]))[0].tolist() == [1, 1, 1, 1]


def test_arrays_of_its_own_go_in_and_out():
    executable = compiled("m (float[2] x) => (float[2] y) { y = Add(x, x) }")
    (y,) = executable.run([np.ones(2, np.float32)])
    assert executable.adopt(y) is y
    assert executable.adopt(np.ones(2)) is None
    assert executable.describe(y) == ("float32", (2,))
    assert run(executable, y)[0].tolist() == [4, 4]


def test_threads_share_an_executable():
    executable = compiled("m (float[N] x) => (float[N] y) { y = Mul(x, x) }")

    def square(number: int) -> list[float]:
        return run(executable, np.full(1 + number % 3, number, np.float32))[0].tolist()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(square, range(48)))
    assert results == [[float(n * n)] * (1 + n % 3) for n in range(48)]
    assert (len(executable._run.forms), executable.uncompiled) == (3, None)


def test_dtypes_that_jax_lacks_stay_on_the_host():
    executable = compiled("m (float[2] x) => (string[2] y) { y = Cast <to = 8> (x) }")
    assert run(executable, np.float32([1, 2]))[0].tolist() == ["1.0", "2.0"]


def test_a_closed_executable_says_so():
    executable = compiled("m (float[2] x) => (float[2] y) { y = Neg(x) }")
    executable.close()
    executable.close()
    with pytest.raises(SessionClosed, match=r"^the executable is closed\. Fix: use it inside its"):
        executable.run([np.ones(2, np.float32)])
