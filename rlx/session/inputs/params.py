"""The parameters of a compiled graph: set by name, kept on the device, passed with every run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import InputError, printable
from rlx.session.inputs.explain import admit
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rlx.program import Value
    from rlx.session.inputs.native import Native


class Params:
    """An executable that is run with its first inputs only: the parameters follow them.

    Where the backend has arrays of its own, a parameter is moved to the device once; else a copy
    in the host's memory is kept.
    """

    __slots__ = ("_all", "_declared", "_name", "_native", "_run", "_values")

    def __init__(
        self,
        name: str,
        declared: Sequence[Value],
        run: Callable[[Sequence[Any]], Sequence[Any]],
        native: Native,
    ):
        self._name = name
        self._declared = {value.name: value for value in declared}
        self._native = native
        self._run = run
        self._values: dict[str, Any] = {}
        self._all: tuple[Any, ...] | None = None if declared else ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all, in order."""
        return tuple(self._declared)

    def declared(self, name: str) -> Value:
        """A parameter's declaration.

        Raises:
            InputError: there is none of that name.
        """
        found = self._declared.get(name) if isinstance(name, str) else None
        if found is None:
            near = nearest(name, self._declared) if isinstance(name, str) else None
            hint = f", did you mean {near!r}?" if near else ""
            known = ", ".join(map(printable, self._declared)) or "none"
            raise InputError(
                f"{printable(self._name)}: there is no parameter {name!r:.60}{hint}",
                fix=f"its parameters are {known}.",
            )
        return found

    def set(self, name: str, data: Any) -> None:
        """Check a parameter, and keep it.

        Raises:
            InputError: its dtype or shape is not the declared one.
        """
        try:
            (array,) = admit(self._name, [self._declared[name]], [data], native=self._native)
        except InputError as error:
            text = error.message.replace(": input ", ": parameter ", 1)
            raise InputError(text, fix=error.fix) from None
        self._values[name] = self._kept(array)
        if len(self._values) == len(self._declared):
            self._all = tuple(self._values[one] for one in self._declared)

    def missing(self) -> list[str]:
        """The names of those that are not set."""
        return [name for name in self._declared if name not in self._values]

    def run(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Run with the parameters after the inputs.

        Raises:
            InputError: some are not set.
        """
        if self._all is None:
            names = ", ".join(map(printable, self.missing()))
            raise InputError(
                f"{printable(self._name)}: parameters are not set: {names}",
                fix="set each with set_param(name, array) before running.",
            )
        return self._run((*inputs, *self._all))

    def clear(self) -> None:
        """Let go of all of them."""
        self._values, self._all = {}, None

    def _kept(self, array: Any) -> Any:
        """The parameter on the device, in memory that its caller does not write to."""
        if not isinstance(array, np.ndarray):
            return array
        own = np.array(array, order="C")
        return own if self._native.to_device is None else self._native.to_device(own)
