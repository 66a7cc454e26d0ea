"""The dtypes of shader arrays: how each is held in 32-bit words, in registers, and on the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rlx.backends.array.dtypes import numpy_dtype

Host = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype by ONNX's name.

    `kind` is `bool`, `int`, `uint` or `float`. Every element takes `words` 32-bit words of device
    memory: narrow dtypes are widened on the way in and narrowed on the way out, which is exact,
    and every result is rounded to what the dtype holds.
    """

    name: str
    kind: str
    bits: int

    @property
    def words(self) -> int:
        """How many words of device memory an element takes."""
        return 2 if self.bits == 64 else 1

    @property
    def register(self) -> str:
        """The type of a register that holds one word: `f32`, `i32`, `u32` or `bool`."""
        return {"float": "f32", "int": "i32", "uint": "u32", "bool": "bool"}[self.kind]

    @property
    def low(self) -> int:
        """The smallest integer that it holds."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def high(self) -> int:
        """The largest integer that it holds."""
        if self.kind == "bool":
            return 1
        return (1 << (self.bits - 1)) - 1 if self.kind == "int" else (1 << self.bits) - 1

    @property
    def numpy(self) -> Any:
        """The same dtype of NumPy's."""
        return numpy_dtype(self.name)

    def __repr__(self) -> str:
        return f"shader.{self.name}"


bool_ = Dtype("bool", "bool", 8)
int8, int16, int32, int64 = (Dtype(f"int{n}", "int", n) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (Dtype(f"uint{n}", "uint", n) for n in (8, 16, 32, 64))
float16, bfloat16 = Dtype("float16", "float", 16), Dtype("bfloat16", "float", 16)
float32, float64 = Dtype("float32", "float", 32), Dtype("float64", "float", 64)

NARROW = (
    *(Dtype(f"float8{kind}", "float", 8) for kind in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")),
    *(Dtype(f"float6{kind}", "float", 6) for kind in ("e2m3", "e3m2")),
    *(Dtype("float4e2m1", "float", 4), Dtype("int4", "int", 4), Dtype("uint4", "uint", 4)),
    *(Dtype("int2", "int", 2), Dtype("uint2", "uint", 2)),
)
"""What ONNX stores and converts, and does not compute in."""
ALL = (
    *(bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(float16, bfloat16, float32, float64, *NARROW),
)
BY_NAME = {dtype.name: dtype for dtype in ALL}
_BY_NUMPY = {dtype.numpy: dtype for dtype in ALL}
HOST_ONLY = frozenset({float64})
"""What shaders have no arithmetic for: such arrays are constants, and stay on the host."""


def of_numpy(array: Any) -> Dtype:
    """The dtype of a NumPy array.

    Raises:
        NotImplementedError: shaders have no such dtype.
    """
    found = _BY_NUMPY.get(array.dtype)
    if found is None:
        raise NotImplementedError(f"shaders have no dtype {array.dtype.name}")
    return found


_WIDE: dict[str, Any] = {"f32": np.float32, "i32": np.int32, "u32": np.uint32, "bool": np.uint32}


def to_words(array: Host, dtype: Dtype) -> Host:
    """A NumPy array as the words of device memory: uint32, one axis, contiguous.

    Raises:
        NotImplementedError: the dtype stays on the host.
    """
    if dtype in HOST_ONLY:
        raise NotImplementedError(f"shaders have no {dtype.name}")
    if dtype.words == 2:
        long: Host = np.ascontiguousarray(array).reshape(-1)
        return long.view(np.uint32)
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of NaN
        wide = array.astype(_WIDE[dtype.register], copy=False)
    line: Host = np.ascontiguousarray(wide).reshape(-1)
    return line.view(np.uint32)


def from_words(words: Host, dtype: Dtype, shape: tuple[int, ...]) -> Host:
    """What device memory holds as a NumPy array; it may share memory with the words."""
    if dtype.words == 2:
        held: Host = words.view(dtype.numpy)
        return held.reshape(shape)
    wide: Host = words.view(_WIDE[dtype.register])
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of NaN
        return wide.astype(dtype.numpy, copy=False).reshape(shape)


_ORDER = {"bool": 0, "uint": 1, "int": 2, "float": 3}


def promoted(first: Dtype, second: Dtype) -> Dtype:
    """The dtype that two operands promote to, as in NumPy, for what ONNX mixes.

    Raises:
        NotImplementedError: they do not mix without float64.
    """
    if first == second:
        return first
    if _ORDER[first.kind] > _ORDER[second.kind]:
        first, second = second, first
    if first.kind == "bool":
        return second
    if first.kind == second.kind:
        return first if first.bits > second.bits else second
    if second.kind == "float":
        if first.bits < second.bits or second.bits == 64:
            return second
    elif first.bits < second.bits:
        return second
    elif first.bits < 64:
        return BY_NAME[f"int{first.bits * 2}"]
    raise NotImplementedError(f"shaders do not mix {first.name} and {second.name}")
