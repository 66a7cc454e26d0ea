"""Lazy arrays to dispatches: kernels, and memory for everything that they read and make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rlx.backends.shader.driver import Binding, Dispatch, Memory
from rlx.backends.shader.dtypes import to_words
from rlx.backends.shader.limits import bytes_of, fits, within
from rlx.backends.shader.memory import Life, laid_out
from rlx.backends.shader.schedule import in_memory, in_order, is_literal

if TYPE_CHECKING:
    from rlx.backends.shader.driver import Driver
    from rlx.backends.shader.kernels import Work
    from rlx.backends.shader.tensor import Tensor


class Untraceable(NotImplementedError):
    """A value was asked for that only a run of the traced program will have."""


@dataclass(frozen=True, slots=True)
class Planned:
    """Dispatches, and where they leave the arrays that were asked for, by serial."""

    dispatches: tuple[Dispatch, ...]
    results: Mapping[int, Binding]


def planned(
    outputs: Sequence[Tensor], driver: Driver, given: Mapping[int, Memory], *, keep: bool
) -> Planned:
    """The dispatches that compute the outputs, with memory for them.

    `given` has the memory of traced inputs, by serial. With `keep` each output gets memory of its
    own, else they share an arena with what comes between.

    Raises:
        Untraceable: an input is read that has no memory.
        TooLarge: the adapter's limits are too low.
    """
    steps = within(outputs, driver)
    where = dict(_leaves(outputs, driver, given))
    asked = {one.serial for one in outputs}
    made = [step.makes for step in steps]
    own = {one.serial for one in made if keep and one.serial in asked}
    for one in made:
        if one.serial in own:
            size = bytes_of(one)
            where[one.serial] = Binding(driver.allocate(size), 0, size)
    pooled = [one for one in made if one.serial not in own]
    where |= _arenas(steps, pooled, asked, driver)
    dispatches = tuple(_dispatch(step, where, {one.serial for one in made}) for step in steps)
    return Planned(dispatches, {serial: where[serial] for serial in asked if serial in where})


def _leaves(
    outputs: Sequence[Tensor], driver: Driver, given: Mapping[int, Memory]
) -> dict[int, Binding]:
    """Memory for what is there already; values on the host are written to it, once."""
    found = {}
    for one in in_order(outputs):
        if not in_memory(one) or is_literal(one) or not one.size:
            continue
        if one.storage is None:
            one.storage = given.get(one.serial)
        memory = one.storage
        if memory is None:
            source = one.source if one.source is not None else one.host
            if source is None:
                raise Untraceable("a value of the inputs is needed to go on")
            memory = one.storage = uploaded(driver, source, one)
        found[one.serial] = Binding(memory, 0, bytes_of(one))
    return found


def uploaded(driver: Driver, host: object, x: Tensor) -> Memory:
    """A NumPy array in new memory of the device.

    Raises:
        TooLarge: a shader of the adapter can't see all of it.
    """
    fits(x, driver)
    memory = driver.allocate(bytes_of(x))
    if x.size:
        driver.write(memory, to_words(host, x.dtype))  # type: ignore[arg-type]
    return memory


def _arenas(
    steps: Sequence[Work], pooled: Sequence[Tensor], asked: set[int], driver: Driver
) -> dict[int, Binding]:
    if not pooled:
        return {}
    born = {step.makes.serial: at for at, step in enumerate(steps)}
    last = dict(born)
    for at, step in enumerate(steps):
        for serial in step.reads:
            if serial in last:
                last[serial] = at
    for serial in asked & last.keys():
        last[serial] = len(steps)
    lives = [Life(bytes_of(one), born[one.serial], last[one.serial]) for one in pooled]
    limits = driver.limits
    places, sizes = laid_out(lives, limits.alignment, limits.buffer_bytes)
    arenas = [driver.allocate(size) for size in sizes]
    return {
        one.serial: Binding(arenas[place.arena], place.offset, bytes_of(one))
        for one, place in zip(pooled, places, strict=True)
    }


def _dispatch(step: Work, where: Mapping[int, Binding], made: set[int]) -> Dispatch:
    """The kernel bound to memory; a buffer that some kernel writes to is writable in all."""
    kernel = step.kernel
    buffers = tuple(
        replace(buffer, writable=True) if serial in made else buffer
        for buffer, serial in zip(kernel.buffers[:-1], step.reads, strict=True)
    )
    bindings = tuple(where[serial] for serial in (*step.reads, step.makes.serial))
    return Dispatch(replace(kernel, buffers=(*buffers, kernel.buffers[-1])), bindings)
