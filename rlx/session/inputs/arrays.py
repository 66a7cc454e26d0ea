"""Reading a caller's values as NumPy arrays, without casting anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import printable
from rlx.session.inputs.dtypes import numpy_dtype, onnx_name
from rlx.session.inputs.native import Native, elsewhere

if TYPE_CHECKING:
    from rlx.program import ValueType


HOST = Native()
"""Of an executable that takes NumPy arrays only."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one value, as the rest of a sentence, and what to do about it."""

    text: str
    fix: str | None = None


def read(value: Any, kind: ValueType, native: Native = HOST) -> Any:
    """The value as the backend takes it, or the `Problem` that forbids it.

    Tensors become NumPy arrays, but for arrays of the backend's own, and sequences lists of them;
    an absent optional stays None. Shapes are checked elsewhere; the dtype is checked here.
    """
    return _READERS.get(kind.kind, _any)(value, kind.dtype, native)


def _tensor(value: Any, dtype: str, native: Native) -> Any:
    own = _own(value, dtype, native)
    if own is not None:
        return own
    array = as_array(value, dtype, native.place)
    if isinstance(array, Problem):
        return array
    return _strings(array) if dtype == "string" else _typed(array, dtype)


def _own(value: Any, dtype: str, native: Native) -> Any:
    """An array of the backend's own, or what is wrong with it; None: it is none."""
    if native.adopt is None or native.describe is None or isinstance(value, np.ndarray):
        return None
    if value is None or dtype == "string" or (array := native.adopt(value)) is None:
        return None
    found, _ = native.describe(array)
    if found == dtype or not dtype:
        return array
    return Problem(f"is {found}, it takes {dtype}", f"convert it to {dtype}, if that is meant.")


def _sequence(value: Any, dtype: str, native: Native) -> Any:
    if not isinstance(value, list | tuple):
        return Problem(f"is {a(value)}, it takes a list of arrays", "pass a list.")
    element = dtype.removeprefix("seq(").removesuffix(")")
    read_all = []
    for position, one in enumerate(value):
        array = _tensor(one, element, native)
        if isinstance(array, Problem):
            return Problem(f"[{position}] {array.text}", array.fix)
        read_all.append(array)
    return read_all


def _optional(value: Any, dtype: str, native: Native) -> Any:
    if value is None:
        return None
    inner = dtype.removeprefix("optional(").removesuffix(")")
    return (_sequence if inner.startswith("seq(") else _tensor)(value, inner, native)


def _any(value: Any, dtype: str, native: Native) -> Any:  # noqa: ARG001 - a map, or a foreign type
    return value


_READERS = {"tensor": _tensor, "sequence": _sequence, "optional": _optional}


def as_array(value: Any, dtype: str, place: str = "") -> np.ndarray[Any, Any] | Problem:
    """The value as an array, where it is one or offers `__dlpack__` or `__array__`.

    One on a device is not copied from there; `place` is where it would have to be.
    """
    if isinstance(value, np.ma.MaskedArray):
        return Problem("is a masked array, whose mask would be ignored", "pass x.filled(value).")
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if value is None:
        return Problem("is None, and it is not optional", "pass an array.")
    if _records(value):
        what = f"is {a(value)} that requires gradients, and what is computed here has none"
        return Problem(what, "pass x.detach().")
    if (device := elsewhere(value)) is not None:
        runs = f", the program runs on {place}" if place else ", where NumPy can't read it"
        return Problem(f"is {a(value)} on {device}{runs}", "move it to the CPU, or pass a copy.")
    failures = []
    for method, convert in (("__dlpack__", np.from_dlpack), ("__array__", np.asanyarray)):
        try:
            if not hasattr(value, method):
                continue
            array = convert(_plain(value))
        except Exception as error:  # noqa: BLE001 - a foreign array says why it can't be read
            failures.append(f"{type(error).__name__}: {printable(str(error))}")
        else:
            return as_array(array, dtype)
    if failures:
        fix = "move it to the CPU, to a dtype that NumPy has, or pass a NumPy array."
        return Problem(f"is {a(value)} that NumPy can't read ({'; '.join(failures)})", fix)
    fix = f"pass numpy.asarray(value, dtype={dtype!r})." if dtype != "string" else "pass an array."
    return Problem(f"is {a(value)}, it takes an array", fix)


def _records(value: Any) -> bool:
    """Whether it is a tensor of PyTorch's that records what is done with it.

    PyTorch's own `numpy()` and `__dlpack__` refuse it as well.
    """
    try:
        return getattr(value, "requires_grad", False) is True
    except Exception:  # noqa: BLE001 - it does not say; reading it will
        return False


def _plain(value: Any) -> Any:
    """The value without the bits of PyTorch that say that it is negated or conjugated.

    Its memory holds other numbers, and DLPack has no word for it.
    """
    for bit, resolve in (("is_neg", "resolve_neg"), ("is_conj", "resolve_conj")):
        if hasattr(value, bit) and hasattr(value, resolve) and getattr(value, bit)():
            value = getattr(value, resolve)()
    return value


def a(value: Any) -> str:
    """The type of a value, with its article: `a list`."""
    if type(value) is np.ndarray:
        return "a NumPy array"
    name = printable(type(value).__name__)
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _typed(array: np.ndarray[Any, Any], dtype: str) -> Any:
    wanted = numpy_dtype(dtype)
    if wanted is None or (array.dtype == wanted and array.dtype.isnative):
        return array
    if not array.dtype.isnative and array.dtype.newbyteorder("=") == wanted:
        fix = f"pass x.astype({dtype!r})."
        return Problem(f"is {onnx_name(wanted)} in foreign byte order ({array.dtype.str})", fix)
    fix = f"convert it with x.astype({dtype!r}), if that is meant."
    return Problem(f"is {onnx_name(array.dtype)}, it takes {dtype}", fix)


def _strings(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype.kind == "U":
        return array.astype(object)  # the same text, as ONNX's tools hold it
    if array.dtype != object:
        return Problem(f"is {onnx_name(array.dtype)}, it takes string", "pass an array of str.")
    odd = next((one for one in array.flat if not isinstance(one, str)), "")
    if odd != "":
        return Problem(f"holds {a(odd)}, it takes str only", "pass an array of str.")
    return array
