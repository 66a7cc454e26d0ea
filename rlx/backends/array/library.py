"""What the engine needs to know of an array library, beyond its namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array import dtypes
from rlx.errors import ExecutionError

if TYPE_CHECKING:
    from rlx.backends.array.site import Array, Builder

Host = np.ndarray[Any, Any]
Function = Callable[[Sequence[Any], Sequence[Any]], list[Any]]
"""Called with the program's constants and its inputs, all on the device; returns its outputs."""
Compiler = Callable[[Function, Sequence[Any], Sequence[Any]], Callable[[Sequence[Any]], list[Any]]]
"""Compiles a function for the constants given and for inputs with the shapes and dtypes of those
given; what it makes is called with the inputs. The function has no effects, and it may be called
more than once."""


class DeviceFailed(ExecutionError):
    """The device failed, and not a kernel: nothing is gained by running step by step."""


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _is_foreign(value: object) -> bool:
    return not isinstance(value, np.ndarray | np.generic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """An array library on one device. What follows `to_native` has a default that often fits."""

    name: str
    xp: Any
    """The array namespace, as array-api-compat has it; it makes arrays on the device."""
    version: str
    device: str
    """The device's id, read from the live library."""
    to_native: Callable[[Host], Array]
    """A NumPy array as one of the library, on the device; it may share memory."""
    to_host: Callable[[Array], Host] = np.asarray
    """An array of the library as a NumPy array; it may share memory."""
    owns: Callable[[object], bool] = _is_foreign
    """True for an array of the library that is on the device."""
    copy: Callable[[Array], Array] | None = None
    """An array in memory of its own; None: arrays never change, so sharing is safe."""
    guard: Callable[..., Any] = _call
    """Called as `guard(function, *arguments)`: calls it where kernels may run, such as with
    warnings silenced."""
    dtype: Callable[[str], Any] = field(default=None)  # type: ignore[assignment]
    """The library's dtype by ONNX's name; NotImplementedError where it has none."""
    name_of: Callable[[Array], str] = dtypes.name_of_native
    """ONNX's name of an array's dtype."""
    overrides: Mapping[str, Builder] = field(default_factory=dict)
    """Kernels by operation that the library does better than the portable ones."""
    hosted: frozenset[str] = frozenset()
    """Operations that NumPy computes on the host instead, because the library cannot; where the
    library is `alone`, they are refused."""
    held: frozenset[str] = frozenset({"string"})
    """dtypes, by ONNX's names, whose arrays stay NumPy's, as do the operations on them; they are
    taken, and handed out, as NumPy arrays. Where the library is `alone`, they are refused."""
    compile: Compiler | None = None
    """Compiles programs whose steps do not depend on their data; None: steps run one by one."""
    feeds: bool = False
    """True where compiled forms take NumPy arrays too, so that inputs need not be moved first;
    programs whose inputs have static sizes are then compiled before they are run."""
    host: bool = False
    """True where arrays are NumPy's own, so that there is nothing to move."""

    @property
    def alone(self) -> bool:
        """True where the host may compute sizes and nothing else: another device was promised."""
        return self.device != "cpu"

    def __post_init__(self) -> None:
        if self.dtype is None:
            object.__setattr__(self, "dtype", partial(dtypes.native, self.xp))


def on_device(xp: Any, device: Any) -> Any:
    """The namespace with its creation functions making arrays on `device`."""
    made = _Namespace(xp)
    for name in ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros"):
        setattr(made, name, partial(getattr(xp, name), device=device))
    return made


class _Namespace:
    """A namespace's names, some of them replaced."""

    def __init__(self, xp: Any):
        self._xp = xp
        self.__name__ = xp.__name__
        for name in dir(xp):
            if not name.startswith("_"):
                setattr(self, name, getattr(xp, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._xp, name)
