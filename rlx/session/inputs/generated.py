"""Checks made for one program: generated when it is compiled, so that a call pays only for itself.

The source is put together from positions and sizes; names and types are handed to it as values.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import RlxError, printable
from rlx.session.inputs.dtypes import numpy_dtype
from rlx.session.inputs.explain import admit, pick
from rlx.session.inputs.results import count, finish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rlx.program import Value, ValueType
    from rlx.program.types import Interface

_RUN = """\
        if len(inputs) == {inputs}:
            {arrive} = inputs
            if not ({fits}):
                inputs = admit(inputs)
        else:
            inputs = admit(inputs)
        try:
            outputs = run(inputs)
        except RlxError:
            raise
        except Exception as error:
            raise failure(error) from error
"""
"""What both ways of calling begin with; a function of its own would cost each call."""
_SOURCE = f"""
def make({{cells}}):
    def call(*inputs):
{_RUN}        try:
            if len(outputs) == {{outputs}}:
                {{leave}} = outputs
                if {{sound}}:
                    return {{leave}}
        except TypeError:  # they are no sequence
            pass
        return finish(outputs)

    def call_native(*inputs):
{_RUN}        return count(outputs)

    def order(named):
        try:
            if len(named) == {{inputs}}:
                return {{named}}
        except (KeyError, IndexError, TypeError):
            pass
        return pick(named)

    return call, call_native, order
"""


class Door:
    """The way into one executable, and out of it.

    `call` takes the inputs by position and returns a tuple of NumPy arrays; `call_native` returns
    the backend's own arrays; `order` brings a mapping of inputs into the program's order.
    """

    __slots__ = ("call", "call_native", "order", "source")

    call: Callable[..., tuple[Any, ...]]
    call_native: Callable[..., tuple[Any, ...]]
    order: Callable[[Mapping[str, Any]], tuple[Any, ...]]

    def __init__(
        self,
        program: Interface,
        run: Callable[[Sequence[Any]], Sequence[Any]],
        failure: Callable[[Exception], RlxError],
        backend: str = "",
    ):
        name, takes, gives = program.name, program.inputs, program.outputs
        made_by = f"{name} on {backend}" if backend else name
        cells: dict[str, Any] = {
            "RlxError": RlxError,
            "admit": partial(admit, name, takes),
            "count": partial(count, made_by, gives),
            "failure": failure,
            "finish": partial(finish, made_by, gives),
            "ndarray": np.ndarray,
            "pick": partial(pick, name, takes),
            "run": run,
        }
        cells.update((f"name{i}", value.name) for i, value in enumerate(takes))
        fits, sound = _fits(takes, cells), _sound(gives, cells)
        self.source = _SOURCE.format(
            cells=", ".join(cells),
            fits=fits,
            sound=sound,
            inputs=len(takes),
            outputs=len(gives),
            arrive=_tuple(f"a{i}" for i in range(len(takes))),
            leave=_tuple(f"b{i}" for i in range(len(gives))),
            named=_tuple(f"named[name{i}]" for i in range(len(takes))),
        )
        space: dict[str, Any] = {}
        exec(compile(self.source, f"<checks of {printable(name)}>", "exec"), space)
        # Taking `make` out leaves no cycle: what the functions hold is freed with them.
        self.call, self.call_native, self.order = space.pop("make")(**cells)


def _tuple(parts: Iterable[object]) -> str:
    """A tuple's display, also to unpack into."""
    return f"({''.join(f'{part}, ' for part in parts)})"


def _fits(takes: Sequence[Value], cells: dict[str, Any]) -> str:
    """The condition under which inputs are passed on as they are."""
    if not all(_plain(value.type) for value in takes):
        return "False"  # sequences, optionals and strings are read one by one
    terms = _kinds("a", "d", takes, cells)
    first: dict[str, str] = {}
    for i, value in enumerate(takes):
        terms += _sizes(f"a{i}", f"s{i}", value.type.shape, first)
    return " and ".join(terms)


def _kinds(array: str, dtype: str, values: Sequence[Value], cells: dict[str, Any]) -> list[str]:
    """That all are NumPy arrays, and have their dtypes: one chain for each dtype."""
    chains: dict[str, list[str]] = {}
    for i, value in enumerate(values):
        chains.setdefault(value.type.dtype, []).append(f"{array}{i}")
    kinds = "".join(f" is type({array}{i})" for i in range(len(values)))
    terms = [f"ndarray{kinds}"]
    for i, (name, arrays) in enumerate(chains.items()):
        cells[f"{dtype}{i}"] = numpy_dtype(name)
        terms.append(f"{dtype}{i}" + "".join(f" is {one}.dtype" for one in arrays))
    return terms


def _sizes(
    array: str, shape: str, wanted: tuple[int | str | None, ...] | None, first: dict[str, str]
) -> list[str]:
    if wanted is None:
        return []
    if all(isinstance(size, int) for size in wanted):
        return [f"{array}.shape == {_tuple(wanted)}"]
    terms = [f"len({shape} := {array}.shape) == {len(wanted)}"]
    for axis, size in enumerate(wanted):
        here = f"{shape}[{axis}]"
        if isinstance(size, int):
            terms.append(f"{here} == {size}")
        elif size is not None and first.setdefault(size, here) != here:
            terms.append(f"{here} == {first[size]}")
    return terms


def _sound(gives: Sequence[Value], cells: dict[str, Any]) -> str:
    """The condition under which outputs are returned as they are."""
    if not all(_plain(value.type) for value in gives):
        return "False"
    terms = _kinds("b", "e", gives, cells)
    for i, value in enumerate(gives):
        if value.type.ndim is not None:
            terms.append(f"b{i}.ndim == {value.type.ndim}")
    return " and ".join(terms)


def _plain(kind: ValueType) -> bool:
    return kind.kind == "tensor" and kind.dtype != "string" and numpy_dtype(kind.dtype) is not None
