"""What an adapter allows, held against kernels and arrays before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rlx.backends.protocol import TooLarge
from rlx.backends.shader.schedule import works

if TYPE_CHECKING:
    from rlx.backends.shader.driver import Driver
    from rlx.backends.shader.kernels import Work
    from rlx.backends.shader.tensor import Tensor

FEWEST = 8
"""Invocations of a workgroup below which groups are not made smaller."""


def within(outputs: Sequence[Tensor], driver: Driver) -> list[Work]:
    """The kernels that compute the outputs, none of which needs more than the adapter has.

    Groups are halved until what they share fits; sums are made by halves, so that their size is a
    power of two.

    Raises:
        TooLarge: a kernel needs more all the same.
    """
    limits = driver.limits
    threads = 1 << (limits.threads.bit_length() - 1)
    made = works(outputs, replace(limits, threads=threads))
    while threads > FEWEST and max(map(shared_bytes, made), default=0) > limits.shared_bytes:
        threads //= 2
        made = works(outputs, replace(limits, threads=threads))
    for one in made:
        fits(one.makes, driver)
        for what, needed, allowed in (
            ("bytes that a workgroup shares", shared_bytes(one), limits.shared_bytes),
            ("workgroups along an axis", max(one.kernel.grid), limits.groups),
        ):
            if needed > allowed:
                raise TooLarge(
                    f"{_named(one.makes)} needs {needed} {what}; {driver.detail} allows {allowed}"
                )
    return made


def fits(x: Tensor, driver: Driver) -> None:
    """Refuse an array that a shader can't see all of.

    Raises:
        TooLarge: it is larger than what can be bound.
    """
    allowed = min(driver.limits.binding_bytes, driver.limits.buffer_bytes)
    if bytes_of(x) > allowed:
        raise TooLarge(
            f"{_named(x)} takes {bytes_of(x)} bytes; shaders of {driver.detail} see {allowed}"
        )


def bytes_of(x: Tensor) -> int:
    """The bytes of device memory that an array takes."""
    return max(x.size * x.dtype.words * 4, 4)


def shared_bytes(work: Work) -> int:
    """The bytes that a workgroup shares: a word each element, or four."""
    words = ((4 if one.type.endswith("x4") else 1) * one.size for one in work.kernel.shared)
    return sum(words) * 4


def _named(x: Tensor) -> str:
    return f"an array {x.dtype.name}[{', '.join(map(str, x.shape))}]"
