"""What a backend returns is what the program declares, or the backend's author hears of it."""

from types import SimpleNamespace

import numpy as np
import pytest

from rlx.errors import ContractError, ExecutionError, InputError
from rlx.program import Value, ValueType
from rlx.session.inputs import Door

Y = np.zeros((2, 3), np.float32)


def door(returned, *types):
    gives = tuple(Value(name, kind) for name, kind in zip("yz", types, strict=False))

    def run(inputs):
        if isinstance(returned, Exception):
            raise returned
        return returned

    program = SimpleNamespace(name="mlp", inputs=(), outputs=gives)
    return Door(program, run, lambda error: ExecutionError(f"failed: {error}"))


def matrix(dtype="float32"):
    return ValueType(dtype, ("n", 3))


@pytest.mark.parametrize("returned", [[Y], (Y,)])
def test_outputs_are_a_tuple_of_the_arrays_themselves(returned):
    (got,) = door(returned, matrix()).call()
    assert got is Y


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            [Y.astype(">f4")],
            "mlp: output 'y' is float32 in foreign byte order (>f4), the program declares float32",
        ),
        (None, "mlp: the backend returned a NoneType, not a list"),
        (Y, "mlp: the backend returned a NumPy array, not a list"),
        ([], "mlp: the backend returned 0 outputs, the program has 1"),
        ([Y, Y], "mlp: the backend returned 2 outputs, the program has 1"),
        (
            [Y.astype(np.float64)],
            "mlp: output 'y' is float64, the program declares float32",
        ),
        ([Y[0]], "mlp: output 'y' has 1 dimensions, the program declares 2"),
        ([Y.T.copy()], "mlp: output 'y' has size 2 at axis 1, the program declares 3"),
        ([[1.0]], "mlp: output 'y' is a list, it takes an array"),
    ],
)
def test_what_was_not_promised_is_a_broken_contract(returned, message):
    with pytest.raises(ContractError) as caught:
        door(returned, matrix()).call()
    assert str(caught.value) == f"{message}. Fix: report this to the backend's author."


def test_fixed_sizes_are_promised_too():
    fixed = ValueType("float32", (2, 3))
    assert door([Y], fixed).call() == (Y,)
    with pytest.raises(ContractError, match="'y' has size 3 at axis 0, the program declares 2"):
        door([np.zeros((3, 3), np.float32)], fixed).call()
    (got,) = door([np.zeros((5, 7), np.float32)], ValueType("float32", ("n", None))).call()
    assert got.shape == (5, 7)


def test_scalars_become_arrays_without_dimensions():
    (got,) = door([np.float32(2)], ValueType("float32", ())).call()
    assert type(got) is np.ndarray
    assert got == 2


def test_sequences_optionals_and_strings_come_as_onnx_holds_them():
    sequence = ValueType("seq(float32)", None, "sequence")
    optional = ValueType("optional(float32)", None, "optional")
    assert door([(Y, Y), None], sequence, optional).call() == ([Y, Y], None)
    (strings,) = door([np.array(["a"])], ValueType("string", (1,))).call()
    assert strings.dtype == object


class Foreign:
    def __array__(self, dtype=None, copy=None):
        return Y


def test_the_backend_s_own_arrays_are_converted_unless_asked_for():
    own = Foreign()
    made = door([own], matrix())
    assert made.call()[0] is Y
    assert made.call_native() == (own,)


def test_native_outputs_are_counted_all_the_same():
    with pytest.raises(ContractError):
        door([Y, Y], matrix()).call_native()


def test_a_foreign_exception_is_an_execution_error():
    made = door(RuntimeError("out of memory"), matrix())
    for call in (made.call, made.call_native):
        with pytest.raises(ExecutionError, match=r"^failed: out of memory\. Fix: ") as caught:
            call()
        assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_error_of_rlx_passes():
    with pytest.raises(InputError, match="odd"):
        door(InputError("odd"), matrix()).call()
