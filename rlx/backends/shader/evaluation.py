"""Computing lazy arrays: at once, or as a traced program that runs many times."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.shader.driver import Binding, Copy
from rlx.backends.shader.dtypes import Host, bool_, from_words, of_numpy, to_words
from rlx.backends.shader.limits import bytes_of
from rlx.backends.shader.namespace.indexing import flags as raised
from rlx.backends.shader.plan import Untraceable, planned
from rlx.backends.shader.schedule import in_order
from rlx.backends.shader.tensor import Tensor

if TYPE_CHECKING:
    from rlx.backends.shader.driver import Driver, Memory


class _Current(threading.local):
    """The driver that the calling thread computes on."""

    driver: Driver | None = None


_current = _Current()


@contextmanager
def on(driver: Driver) -> Iterator[None]:
    """Arrays that are asked for within are computed on this driver."""
    outer, _current.driver = _current.driver, driver
    try:
        yield
    finally:
        _current.driver = outer


def _driver_of(tensors: Sequence[Tensor]) -> Driver:
    if _current.driver is not None:
        return _current.driver
    for one in tensors:
        if one.storage is not None:
            return one.storage.driver  # type: ignore[no-any-return]
    raise Untraceable("no device was entered to compute on")


def realise(tensors: Sequence[Tensor]) -> None:
    """Compute arrays to memory of the device, all in one submission; what is there stays."""
    wanted = [
        one
        for one in tensors
        if one.host is None and one.source is None and one.storage is None and one.size
    ]
    for one in tensors:
        if not one.size and one.host is None:
            one.host = np.zeros(one.shape, one.dtype.numpy)
    if not wanted:
        return
    driver = _driver_of(in_order(wanted))
    made = planned(wanted, driver, {}, keep=True)
    driver.prepare(made.dispatches)((), ())
    for one in wanted:
        one.storage = made.results[one.serial].memory


def arrays_in(values: Sequence[Any]) -> Iterator[Tensor]:
    """The lazy arrays among values, those in sequences too."""
    for one in values:
        if isinstance(one, Tensor):
            yield one
        elif one.__class__ is list:
            yield from arrays_in(one)


def evaluate(tensors: Sequence[Tensor]) -> list[Host]:
    """The arrays' values as NumPy arrays of their own."""
    realise(tensors)
    return [_values(one) for one in tensors]


def _values(x: Tensor) -> Host:
    known = x.source if x.source is not None else x.host
    if known is not None:
        return np.array(known, order="C")
    memory: Memory = x.storage
    words = memory.driver.read(memory, bytes_of(x))
    return from_words(words, x.dtype, x.shape)


class Form:
    """A traced program for inputs of given shapes: its dispatches are bound once."""

    def __init__(
        self,
        driver: Driver,
        function: Callable[..., list[Any]],
        weights: Sequence[Any],
        inputs: Sequence[Any],
    ):
        self._driver = driver
        raised.taken()
        self._inputs = [_stand_in(place, one) for place, one in enumerate(inputs)]
        self._outputs: list[Any] = function(weights, self._inputs)
        self._flags = raised.taken()
        tensors = [one for one in self._outputs if isinstance(one, Tensor)]
        if len(tensors) < len(self._outputs):
            raise Untraceable("an output is no array")
        wanted = [*tensors, *self._flags]
        fed = {one.serial for one in in_order(wanted) if one.op == "memory"}
        self._memory = {
            place: driver.allocate(bytes_of(one))
            for place, one in enumerate(self._inputs)
            if one.serial in fed and one.size
        }
        given = {self._inputs[place].serial: memory for place, memory in self._memory.items()}
        computed = [one for one in wanted if one.host is None and one.op != "memory" and one.size]
        made = planned(computed, driver, given, keep=False)
        self._results = made.results
        self.count = len(made.dispatches)
        """How many kernels a run takes."""
        self._launch = driver.prepare(made.dispatches)

    def __call__(self, given: Sequence[Any]) -> list[Any]:
        """Run once: NumPy arrays or lazy ones in, arrays in memory of the device out."""
        driver = self._driver
        before: list[Copy] = []
        copies: list[Copy] = []
        for place, memory in self._memory.items():
            one = given[place]
            if isinstance(one, Tensor):
                realise([one])
                if one.storage is not None:
                    size = bytes_of(one)
                    before.append(Copy(Binding(one.storage, 0, size), memory))
                    continue
                one = _values(one)
            driver.write(memory, to_words(one, self._inputs[place].dtype))
        outputs: list[Any] = []
        for one in self._outputs:
            outputs.append(self._output(one, given, copies))
        self._raise(copies)
        self._launch(before, copies)
        return outputs

    def _raise(self, copies: list[Copy]) -> None:
        """Raise the flags of this run: those of the device side by side, to be read at once."""
        for flag in self._flags:
            if flag.host is not None:
                raised.raise_flag(flag)
        held = [self._results[one.serial] for one in self._flags if one.host is None]
        if held:
            total = sum(one.size for one in held)
            target = self._driver.allocate(total)
            at = 0
            for one in held:
                copies.append(Copy(one, target, at))
                at += one.size
            raised.raise_flag(Tensor.of_storage(target, (total // 4,), bool_))

    def _output(self, one: Tensor, given: Sequence[Any], copies: list[Copy]) -> Tensor:
        if one.host is not None:
            return Tensor.of_host(one.host)
        if not one.size:
            return Tensor.of_host(np.zeros(one.shape, one.dtype.numpy))
        if one.op == "memory" and not one.params:
            return one
        if one.op == "memory":
            passed = given[one.params[0]]
            return passed if isinstance(passed, Tensor) else Tensor.of_host(np.array(passed))
        held = self._results[one.serial]
        target = self._driver.allocate(held.size)
        copies.append(Copy(held, target))
        return Tensor.of_storage(target, one.shape, one.dtype)


def _stand_in(place: int, given: Any) -> Tensor:
    """What the trace sees instead of an input.

    Raises:
        Untraceable: it is a sequence, or left out.
    """
    if given is None or given.__class__ is list:
        raise Untraceable("an input is no array")
    dtype = given.dtype if isinstance(given, Tensor) else of_numpy(given)
    return Tensor.of_input(place, tuple(given.shape), dtype)
