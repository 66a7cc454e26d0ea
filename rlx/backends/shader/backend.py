"""Shaders as an array library of the engine: one adapter, entered by one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rlx.backends.shader.namespace as xp
from rlx.backends.array.dtypes import CODES
from rlx.backends.array.engine import ArrayBackend
from rlx.backends.array.flags import check
from rlx.backends.array.host import NUMPY
from rlx.backends.array.library import Library
from rlx.backends.shader import dtypes
from rlx.backends.shader.evaluation import Form, arrays_in, evaluate, on, realise
from rlx.backends.shader.namespace.indexing import flags as raised
from rlx.backends.shader.overrides import OVERRIDES
from rlx.backends.shader.quantized import OVERRIDES as QUANTIZED
from rlx.backends.shader.tensor import Tensor

if TYPE_CHECKING:
    from rlx.backends.array.library import Function, Host
    from rlx.backends.shader.driver import Driver

HELD = frozenset(CODES.values()) - (dtypes.BY_NAME.keys() - {"float64"})
"""dtypes that shaders have no arithmetic for; programs with them are refused."""


def library_of(driver: Driver, name: str) -> Library:
    """The adapter as the engine sees it."""
    turn = threading.RLock()

    def guard(function: Callable[..., Any], *arguments: Any) -> Any:
        with turn, on(driver), raised.apart():
            return _computed(NUMPY.guard(function, *arguments))

    def compiled(
        function: Function, weights: Sequence[Any], inputs: Sequence[Any]
    ) -> Callable[[Sequence[Any]], list[Any]]:
        return Form(driver, function, weights, inputs)

    def to_host(array: Any) -> Host:
        with turn, on(driver):
            return evaluate([array])[0]

    return Library(
        name=name,
        xp=xp,
        version=driver.version,
        device=driver.device,
        to_native=_to_native,
        to_host=to_host,
        owns=lambda value: (
            isinstance(value, Tensor) and (value.storage is None or value.storage.driver is driver)
        ),
        guard=guard,
        dtype=_dtype,
        name_of=lambda array: array.dtype.name,
        overrides={**OVERRIDES, **QUANTIZED},
        held=HELD,
        compile=compiled,
        feeds=True,
    )


class ShaderBackend(ArrayBackend):
    """The engine on one adapter, which is closed with it."""

    def __init__(self, driver: Driver, name: str):
        super().__init__(library_of(driver, name))
        self._driver = driver

    def close(self) -> None:
        """Release the adapter; calling it again does nothing."""
        self._driver.close()


def _to_native(array: Host) -> Tensor:
    """A NumPy array as memory of the device, to be written when it is first read."""
    return Tensor.of_source(np.asarray(array))


def _dtype(name: str) -> dtypes.Dtype:
    found = dtypes.BY_NAME.get(name)
    if found is None:
        raise NotImplementedError(f"shaders have no dtype {name}")
    return found


def _computed(result: Any) -> Any:
    """A run's outputs, computed, all at once; what else a guarded function returns as it is.

    Raises:
        ExecutionError: an index was outside its array.
    """
    if result.__class__ is not list:
        return result
    flags = raised.taken()
    realise([*arrays_in(result), *flags])
    check(evaluate([flag])[0].any() for flag in flags)
    return result
