"""Checks made for one program: generated when it is compiled, so that a call pays only for itself.

The source is put together from positions and sizes; names and types are handed to it as values.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import RlxError, printable
from rlx.session.inputs.arrays import HOST
from rlx.session.inputs.dtypes import numpy_dtype
from rlx.session.inputs.explain import admit, pick
from rlx.session.inputs.results import count, finish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rlx.program import Value, ValueType
    from rlx.program.types import Interface
    from rlx.session.inputs.native import Native

_RUN = """\
        if len(inputs) == {inputs}:
            {arrive} = inputs
            if not ({fits}):
                inputs = {enter}(inputs)
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
{{hosted}}        except TypeError:  # they are no sequence
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

{{enters}}    return call, call_native, order
"""
_HOSTED = """\
                outputs = {leave} = to_host({leave})
                if {sound}:
                    return {leave}
"""
"""Where the backend returns arrays of its own."""
_ENTER = """\
    def enter(inputs):
        {arrive} = inputs
{steps}        if {sizes}:
            return {arrive}
        return admit(inputs)

"""
_STEP = """\
        if ndarray is type({array}):
            if {dtype} is not {array}.dtype:
                return admit(inputs)
            {shape} = {array}.shape
        elif ({array} := adopt({array})) is None:
            return admit(inputs)
        else:
            found, {shape} = describe({array})
            if found != {name!r}:
                return admit(inputs)
"""
"""The same checks where an input is an array of the backend's own."""


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
        native: Native = HOST,
    ):
        name, takes, gives = program.name, program.inputs, program.outputs
        made_by = f"{name} on {backend}" if backend else name
        cells: dict[str, Any] = {
            "RlxError": RlxError,
            "admit": partial(admit, name, takes, native=native),
            "adopt": native.adopt,
            "count": partial(count, made_by, gives),
            "describe": native.describe,
            "failure": failure,
            "finish": partial(finish, made_by, gives, native=native),
            "ndarray": np.ndarray,
            "pick": partial(pick, name, takes, native=native),
            "run": run,
            "to_host": partial(_on_host, native.to_host or np.asarray, failure),
        }
        cells.update((f"name{i}", value.name) for i, value in enumerate(takes))
        fits, sound = _fits(takes, cells), _sound(gives, cells)
        arrive = _tuple(f"a{i}" for i in range(len(takes)))
        leave = _tuple(f"b{i}" for i in range(len(gives)))
        enters = "" if native.adopt is None or fits == "False" else _enter(takes, arrive, cells)
        hosts = native.to_host is not None and sound not in ("False", "True")
        self.source = _SOURCE.format(
            cells=", ".join(cells),
            enter="enter" if enters else "admit",
            enters=enters,
            fits=fits,
            hosted=_HOSTED.format(leave=leave, sound=sound) if hosts else "",
            sound=sound,
            inputs=len(takes),
            outputs=len(gives),
            arrive=arrive,
            leave=leave,
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
        terms += _sizes(f"a{i}.shape", f"s{i}", value.type.shape, first)
    return " and ".join(terms)


def _enter(takes: Sequence[Value], arrive: str, cells: dict[str, Any]) -> str:
    """The function that takes arrays of the backend's own, and those that `fits` refused."""
    dtypes = {dtype: name for name, dtype in cells.items() if isinstance(dtype, np.dtype)}
    steps, terms, first = "", [], dict[str, str]()
    for i, value in enumerate(takes):
        dtype = numpy_dtype(value.type.dtype)
        assert dtype is not None, value
        steps += _STEP.format(
            array=f"a{i}", shape=f"s{i}", dtype=dtypes[dtype], name=value.type.dtype
        )
        terms += _sizes(f"s{i}", f"s{i}", value.type.shape, first)
    return _ENTER.format(arrive=arrive, steps=steps, sizes=" and ".join(terms) or "True")


def _on_host(
    to_host: Callable[[Any], Any], failure: Callable[[Exception], RlxError], outputs: Sequence[Any]
) -> tuple[Any, ...]:
    """Outputs as NumPy arrays; what computes late fails here."""
    try:
        return tuple([one if type(one) is np.ndarray else to_host(one) for one in outputs])
    except RlxError:
        raise
    except Exception as error:
        raise failure(error) from error


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
    given: str, shape: str, wanted: tuple[int | str | None, ...] | None, first: dict[str, str]
) -> list[str]:
    """That the shape `given` is the one wanted; it is called `shape` where that is looked at."""
    if wanted is None:
        return []
    if all(isinstance(size, int) for size in wanted):
        return [f"{given} == {_tuple(wanted)}"]
    called = shape if given == shape else f"{shape} := {given}"
    terms = [f"len({called}) == {len(wanted)}"]
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
        sizes = value.type.shape
        if sizes is None or any(isinstance(size, int) for size in sizes):
            known = sizes and tuple(size if isinstance(size, int) else None for size in sizes)
            terms += _sizes(f"b{i}.shape", f"t{i}", known, {})
        else:
            terms.append(f"b{i}.ndim == {len(sizes)}")
    return " and ".join(terms)


def _plain(kind: ValueType) -> bool:
    return kind.kind == "tensor" and kind.dtype != "string" and numpy_dtype(kind.dtype) is not None
