"""Lazy arrays: each is an operation over others, or memory on the device, or values on the host."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.shader.dtypes import HOST_ONLY, Dtype, of_numpy
from rlx.backends.shader.operators import Operators

if TYPE_CHECKING:
    from rlx.backends.shader.dtypes import Host

Shape = tuple[int, ...]
_serial = count()


class Tensor(Operators):
    """An array of static shape that is computed when it is asked for.

    `op` is one of the operations below, over `args`, with `params` that can be hashed:

    | op | element at an index |
    | --- | --- |
    | `memory` | what `storage` holds there, or the memory bound to an input's place in `params` |
    | `host` | of the NumPy array `host` |
    | `iota` | the index along axis `params[0]` |
    | `map` | the scalar function `params[0]` of the args' elements there |
    | `reshape`, `permute`, `expand`, `slice`, `pad`, `unfold`, `concat` | an element of an arg |
    | `pick` | of args[0] flattened, at the place that args[1] says |
    | `reduce` | `params[0]` over the axes `params[1]`, which stay with size 1 |
    | `matmul` | the sum of products over the last axis of args[0], the last but one of args[1] |

    `low` and `high` bound the values of integers. They decide which ones of 64 bits are computed in
    one 32-bit register.
    """

    __slots__ = (
        *("op", "args", "params", "shape", "dtype"),
        *("host", "source", "storage", "low", "high", "serial", "cut"),
    )

    def __init__(
        self,
        op: str,
        args: tuple[Tensor, ...],
        params: tuple[Any, ...],
        shape: Shape,
        dtype: Dtype,
        bounds: tuple[int, int] | None = None,
    ):
        self.op = op
        self.args = args
        self.params = params
        self.shape = shape
        self.dtype = dtype
        self.host: Host | None = None
        self.source: Host | None = None
        """For `memory` that is still to be written: what to write."""
        self.storage: Any = None
        self.serial = next(_serial)
        self.cut = False
        """True where it must be in memory of its own before anything reads it."""
        if dtype.kind == "float":
            self.low, self.high = 0, 0
        else:
            low, high = bounds if bounds is not None else (dtype.low, dtype.high)
            if low < dtype.low or high > dtype.high:
                low, high = dtype.low, dtype.high  # it may wrap around
            self.low, self.high = low, high

    @classmethod
    def of_host(cls, array: Host) -> Tensor:
        """Values that are known now; operations on such arrays alone are done at once, by NumPy."""
        dtype = of_numpy(array)
        bounds = None
        if dtype.kind != "float" and array.size:
            bounds = int(array.min()), int(array.max())
        made = cls("host", (), (), tuple(array.shape), dtype, bounds)
        made.host = array
        return made

    @classmethod
    def of_storage(cls, storage: Any, shape: Shape, dtype: Dtype) -> Tensor:
        """What is in memory of the device."""
        made = cls("memory", (), (), shape, dtype)
        made.storage = storage
        return made

    @classmethod
    def of_source(cls, array: Host) -> Tensor:
        """Memory of the device that a NumPy array is written to when it is first read."""
        made = cls("memory", (), (), tuple(array.shape), of_numpy(array))
        made.source = array
        return made

    @classmethod
    def of_input(cls, place: int, shape: Shape, dtype: Dtype) -> Tensor:
        """An input of a program that is traced."""
        return cls("memory", (), (place,), shape, dtype)

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def register(self) -> str:
        """The registers that an element is computed in: `pair` is two, low and high word."""
        if self.dtype.words == 1:
            return self.dtype.register
        if self.dtype.kind == "int":
            return "i32" if self.low >= -(1 << 31) and self.high < (1 << 31) else "pair"
        return "u32" if self.high < (1 << 32) else "pair"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))

    def known(self) -> Host:
        """The values as a NumPy array: known on the host, or read from the device.

        Raises:
            Untraceable: they depend on the inputs of a program that is traced.
        """
        if self.source is not None:
            return self.source
        if self.host is None:
            from rlx.backends.shader.evaluation import evaluate  # which builds on tensors

            (self.host,) = evaluate([self])
        return self.host

    def tolist(self) -> Any:
        """The values as Python's numbers; waits for the device."""
        return self.known().tolist()

    def item(self) -> Any:
        """The one value as Python's number; waits for the device."""
        return self.known().item()

    def __bool__(self) -> bool:
        return bool(self.known())

    def __int__(self) -> int:
        return int(self.known())

    def __index__(self) -> int:
        return int(self.known())

    def __float__(self) -> float:
        return float(self.known())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Host:
        del copy
        return np.array(self.known(), dtype=dtype)

    def __repr__(self) -> str:
        return f"<{self.op} {self.dtype.name}{list(self.shape)}>"


def on_device_only(dtype: Dtype) -> None:
    """Refuse dtypes that shaders do not compute in.

    Raises:
        NotImplementedError: it is one.
    """
    if dtype in HOST_ONLY:
        raise NotImplementedError(f"shaders have no {dtype.name}")
