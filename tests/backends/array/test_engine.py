"""The array engine: plans, memory, failures, threads."""

from __future__ import annotations

import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rlx.backends.array.numpy import open_cpu
from rlx.backends.protocol import Backend, CompileOptions, Executable
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError, SessionClosed, SettingError, Unavailable
from rlx.program import load


def compiled(text: str):
    """A program in ONNX's text form, without its header, on the numpy backend."""
    header = '<ir_version: 10, opset_import: ["": 28, "ai.onnx.preview.training": 1]>\n'
    program = load((header + text).encode())
    return open_cpu(DeviceSpec("cpu"), {}).compile(program, CompileOptions())


def operations(executable) -> list[str]:
    """The operations that a run does, in order."""
    return [label.rsplit(" ", 1)[1] for label in executable._plan.labels]


def ones(*shape):
    return np.ones(shape, np.float32)


def test_backend_and_executable_satisfy_the_protocol():
    backend = open_cpu(DeviceSpec("cpu", 0), {})
    executable = compiled("m (float[2] x) => (float[2] y) { y = Neg(x) }")
    assert isinstance(backend, Backend)
    assert isinstance(executable, Executable)
    assert (backend.device, executable.device, backend.version) == ("cpu", "cpu", np.__version__)
    backend.close()


def test_there_is_one_cpu():
    with pytest.raises(
        Unavailable, match=r"^numpy has only cpu:0, got cpu:1\. Fix: ask for cpu\.$"
    ):
        open_cpu(DeviceSpec("cpu", 1), {})


def test_options_are_refused():
    with pytest.raises(
        SettingError, match=r"^numpy has no options, got a, b\. Fix: remove them\.$"
    ):
        open_cpu(DeviceSpec("cpu"), {"b": 1, "a": 2})


def test_an_operation_without_a_kernel_names_its_node():
    says = (
        r"^node 'slope': no array kernel for ai\.onnx\.preview\.training::Gradient\. "
        r"Fix: choose a backend that covers it: run `rlx explain --all`\.$"
    )
    with pytest.raises(NotImplementedError, match=says):
        compiled(
            """m (float[N] x) => (float[N] g) {
                 y = Mul(x, x)
                 [slope] g = ai.onnx.preview.training.Gradient <xs = ["x"], y = "y"> (x)
               }"""
        )


def test_a_failing_kernel_names_its_node():
    executable = compiled("m (float[A] x, float[B] y) => (float[C] z) { [sum] z = Add(x, y) }")
    says = r"^node 'sum' Add failed: operands could not be broadcast together with shapes \(2,"
    with pytest.raises(ExecutionError, match=says):
        executable.run([ones(2), ones(3)])


def test_a_closed_executable_says_so():
    executable = compiled("m (float[2] x) => (float[2] y) { y = Neg(x) }")
    executable.close()
    executable.close()
    with pytest.raises(SessionClosed, match=r"^the executable is closed\. Fix: use it inside"):
        executable.run([ones(2)])


def test_inputs_are_not_written_to():
    executable = compiled(
        "m (float[2] x) => (float[2] y) { a = Relu(x) b = Add(a, x) y = Relu(b) }"
    )
    x = np.array([-1, 2], np.float32)
    (y,) = executable.run([x])
    np.testing.assert_array_equal(x, np.array([-1, 2], np.float32))
    np.testing.assert_array_equal(y, np.array([0, 4], np.float32))


@pytest.mark.parametrize(
    "body",
    [
        "y = Identity(x) z = Neg(x)",
        "y = Neg(x) z = Identity(y)",
        "y = Transpose(x) z = Flatten(y)",
        "a = Neg(x) y = Transpose(a) z = Relu(a)",
        "a = Neg(x) y, z = Split <num_outputs = 2> (a)",
        "y = Constant <value = float[1, 1] {1.0}> () z = Identity(y)",
    ],
)
def test_outputs_share_memory_with_nothing(body):
    executable = compiled(f"m (float[2,2] x) => (float[A,B] y, float[C,D] z) {{ {body} }}")
    x = ones(2, 2)
    y, z = executable.run([x])
    again, _ = executable.run([x])
    for one, other in ((x, y), (x, z), (y, z), (y, again)):
        assert not np.shares_memory(one, other)
    assert y.flags.writeable
    assert z.flags.writeable


def test_a_dead_value_is_written_over():
    executable = compiled("m (float[2] x) => (float[2] y) { a = Neg(x) b = Relu(a) y = Add(b, x) }")
    sources = [step[1] for step in executable._plan.steps]
    assert [len(source) for source in sources] == [1, 2, 3]


@pytest.mark.parametrize(
    "body",
    [
        "a = Neg(x) y = Relu(a) z = Neg(a)",
        "a = Neg(x) b = Flatten(a) y = Relu(a) z = Neg(b)",
        "a = Neg(x) z = Identity(a) y = Relu(a)",
    ],
)
def test_a_value_still_needed_is_not_written_over(body):
    executable = compiled(f"m (float[1,2] x) => (float[1,2] y, float[1,2] z) {{ {body} }}")
    y, z = executable.run([np.array([[-1, 2]], np.float32)])
    np.testing.assert_array_equal(y, [[1, 0]])
    np.testing.assert_array_equal(abs(z), [[1, 2]])


def test_results_are_let_go_when_nothing_needs_them():
    executable = compiled(
        "m (float[2] x) => (float[2] y) { a = Exp(x) b = Abs(a) c = Cos(b) y = Sin(c) }"
    )
    held: list[weakref.ref[object]] = []
    alive: list[int] = []
    plan = executable._plan

    def watched(kernel):
        def run(*inputs):
            result = kernel(*inputs[:1])
            held.append(weakref.ref(result))
            alive.append(sum(one() is not None for one in held))
            return result

        return run

    steps = tuple((watched(step[0]), *step[1:]) for step in plan.steps)
    object.__setattr__(plan, "steps", steps)
    executable.run([ones(2)])
    assert alive == [1, 2, 2, 2]


def test_no_warning_leaves_a_run_and_settings_stay():
    executable = compiled("m (float[2] x) => (float[2] y) { a = Log(x) y = Div(a, x) }")
    before = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (y,) = executable.run([np.array([-1, 0], np.float32)])
    np.testing.assert_array_equal(y, [np.nan, -np.inf])
    assert np.geterr() == before


def test_scalars_come_back_as_arrays():
    executable = compiled("m (float x) => (float y, int64 s) { y = Add(x, x) s = Size(x) }")
    y, s = executable.run([np.array(2, np.float32)])
    assert (type(y), y.shape, type(s), s.shape) == (np.ndarray, (), np.ndarray, ())


def test_unused_work_and_constant_work_are_not_done():
    executable = compiled(
        """m (float[2,3] x) => (float[3,2] y) {
             s = Shape(x)
             two = Constant <value = int64[2] {1, 0}> ()
             t = Gather(s, two)
             unused = Exp(x)
             y = Reshape(x, t)
           }"""
    )
    assert operations(executable) == ["Reshape"]


def test_random_work_is_done_every_time():
    executable = compiled(
        """m (float[2] x) => (float[64] y) {
             ones = Constant <value_floats = [1.0]> ()
             size = Constant <value_ints = [64]> ()
             half = Constant <value_float = 0.5> ()
             training = Constant <value = bool {1}> ()
             many = Expand(ones, size)
             y = Dropout(many, half, training)
           }"""
    )
    (one,), (other,) = executable.run([ones(2)]), executable.run([ones(2)])
    assert operations(executable) == ["Dropout"]
    assert not np.array_equal(one, other)


def test_threads_run_one_executable_at_once():
    executable = compiled(
        "m (float[64] x) => (float[64] y) { a = Neg(x) b = Exp(a) c = Relu(b) y = Log(c) }"
    )
    inputs = [np.full(64, i, np.float32) for i in range(32)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda x: executable.run([x])[0], inputs * 8))
    for result, x in zip(results, inputs * 8, strict=True):
        np.testing.assert_allclose(result, -x, rtol=1e-5)


def test_constants_that_do_not_fit_fail_the_run_not_the_compilation():
    """Folding leaves such a node alone, so that it fails only where it is reached."""
    body = "m () => (float[n] y) <float a = {1}, float b = {5}, float z = {0}>"
    failing = compiled(body + " { [up] y = Range(a, b, z) }")
    with pytest.raises(ExecutionError, match=r"^node 'up' Range failed: float division by zero\. "):
        failing.run([])
    text = """m (bool c) => (float[n] y) <float[2] w = {1, 2}, float z = {0}, float b = {5}>
      { y = If (c) <then_branch = t () => (float[n] p) { p = Range(z, b, z) },
                    else_branch = e () => (float[2] q) { q = Identity(w) }> }"""
    (found,) = compiled(text).run([np.array(False)])
    assert found.tolist() == [1, 2]


def test_a_kernel_that_constants_make_impossible_fails_the_run():
    text = "m (float[2,3] x) => (float[a,b] y) <int64[2] to = {4, 4}> { [r] y = Reshape(x, to) }"
    with pytest.raises(ExecutionError, match=r"^node 'r' Reshape failed: "):
        compiled(text).run([ones(2, 3)])
