"""What counts as an array: NumPy's, and what offers `__dlpack__` or `__array__`."""

import numpy as np
import pytest

from rlx.errors import InputError
from rlx.program import ValueType
from rlx.session.inputs.dtypes import numpy_dtype
from tests.session.doors import door, refused, tensor

X = np.zeros((1, 4), np.float32)


class Dlpack:
    """An array that offers only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Unreadable:
    """An array that can't be read, although it is in the host's memory."""

    def __dlpack__(self, **options):
        raise BufferError("it has strides")

    def __dlpack_device__(self):
        return (1, 0)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("use .contiguous()")


class Elsewhere:
    """An array on a device, which its library would copy from there without a word."""

    def __init__(self, kind, index=0):
        self.device = kind, index

    def __dlpack_device__(self):
        return self.device

    def __array__(self, dtype=None, copy=None):
        return X


class Arrayish:
    def __array__(self, dtype=None, copy=None):
        return X


@pytest.mark.parametrize("value", [Dlpack(X), Arrayish(), X.view(np.matrix)])
def test_anything_that_is_an_array_is_read(value):
    (got,) = door(tensor(1, 4))(value)
    assert type(got) is np.ndarray
    assert np.shares_memory(got, X)


def test_an_array_says_why_it_cannot_be_read():
    assert refused(door(tensor(1, 4)), Unreadable()) == (
        "mlp: input 'a' is an Unreadable that NumPy can't read "
        "(BufferError: it has strides; TypeError: use .contiguous()). "
        "Fix: move it to the CPU, to a dtype that NumPy has, or pass a NumPy array."
    )


@pytest.mark.parametrize(
    ("kind", "index", "shown"),
    [(2, 1, "cuda:1"), (10, 0, "rocm:0"), (8, 0, "metal:0"), (99, 0, "DLPack device 99:0")],
)
def test_an_array_on_a_device_is_not_copied_from_there(kind, index, shown):
    assert refused(door(tensor(1, 4)), Elsewhere(kind, index)) == (
        f"mlp: input 'a' is an Elsewhere on {shown}, the program runs on the host. "
        "Fix: move it to the CPU, or pass a copy."
    )


@pytest.mark.parametrize("kind", [1, 3, 11, 13])
def test_memory_that_the_host_can_read_is_read(kind):
    assert door(tensor(1, 4))(Elsewhere(kind))[0] is X


def test_a_numpy_scalar_is_an_array_without_dimensions():
    (got,) = door(tensor())(np.float32(3))
    assert type(got) is np.ndarray
    assert (got.shape, got.dtype, got) == ((), np.float32, 3)


def test_strings_come_as_objects_whatever_way_they_are_held():
    call = door(tensor("n", dtype="string"))
    for given in (np.array(["a", "bc"]), np.array(["a", "bc"], object)):
        (got,) = call(given)
        assert got.dtype == object
        assert got.tolist() == ["a", "bc"]


def test_sequences_are_lists_and_absent_optionals_none():
    sequence = ValueType("seq(float32)", None, "sequence")
    optional = ValueType("optional(seq(float32))", None, "optional")
    got = door(sequence, optional, optional)((X, X), None, [X])
    assert got == [[X, X], None, [X]]


def test_unknown_dimensions_and_types_accept_anything():
    call = door(ValueType("float32"), tensor(None, 2), ValueType("", (2,)))
    a, b, c = np.zeros((1, 2, 3), np.float32), np.zeros((7, 2), np.float32), np.zeros(2, np.int8)
    assert [id(one) for one in call(a, b, c)] == [id(a), id(b), id(c)]


@pytest.mark.parametrize("name", ["bfloat16", "float8e5m2", "float8e8m0", "int4", "float4e2m1"])
def test_dtypes_that_numpy_lacks_pass(name):
    array = np.zeros(3, numpy_dtype(name))
    (got,) = door(tensor(3, dtype=name))(array)
    assert got is array


def test_by_name_the_order_does_not_matter():
    call = door(tensor(1, 4), tensor(2))
    b = np.zeros(2, np.float32)
    assert [id(one) for one in call.door.order({"b": b, "a": X})] == [id(X), id(b)]


@pytest.mark.parametrize("method", ["__dlpack__", "__array__"])
def test_a_method_that_cannot_be_looked_up_is_a_reason(method):
    def refuses(self):
        raise KeyError("gone")

    class Array:
        pass

    setattr(Array, method, property(refuses))
    with pytest.raises(InputError) as caught:
        door(tensor(1, 4))(Array())
    assert str(caught.value) == (
        "mlp: input 'a' is an Array that NumPy can't read (KeyError: 'gone'). Fix: move it to "
        "the CPU, to a dtype that NumPy has, or pass a NumPy array."
    )


def test_a_masked_array_behind_a_method_is_refused_too():
    class Array:
        def __array__(self, dtype=None, copy=None):
            return np.ma.masked_equal(X, 0)

    with pytest.raises(InputError) as caught:
        door(tensor(1, 4))(Array())
    assert str(caught.value) == (
        "mlp: input 'a' is a masked array, whose mask would be ignored. Fix: pass x.filled(value)."
    )
