"""Starting a run: inputs go where the plan wants them, then its steps, compiled where they can be.

A library that compiles gets the whole plan as one function: what the host computes depends only on
the inputs' shapes and on the inputs that stay on the host, so there is one compiled form for each
combination of these, and a bounded number of them is kept.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.dtypes import numpy_dtype
from rlx.backends.array.execute import execute, follow
from rlx.backends.array.library import DeviceFailed
from rlx.backends.protocol import TooLarge
from rlx.errors import said

if TYPE_CHECKING:
    from rlx.backends.array.library import Host, Library
    from rlx.backends.array.plan import Plan
    from rlx.backends.array.site import Array
    from rlx.program.types import ValueType

_log = logging.getLogger("rlx")
MOST_FORMS = 64
"""How many combinations of shapes a program is kept compiled for before it starts again."""
Start = Callable[[Sequence[Any]], list[Any]]


def starter(plan: Plan, library: Library, name: str) -> Start:
    """What a run calls with its inputs; its attribute `uncompiled` may say why it is not."""
    if library.host:
        return partial(execute, plan)
    if library.compile is None:
        return partial(_eagerly, plan, library)
    return Compiling(plan, library, name)


def enter(
    plan: Plan, library: Library, inputs: Sequence[Any], *, feeds: bool = False
) -> list[Array]:
    """The inputs where the plan wants them: NumPy arrays, or the library's.

    With `feeds`, NumPy arrays stay what they are.
    """
    return [
        _entered(library, x, on_host, feeds)
        for x, on_host in zip(inputs, plan.host_inputs, strict=True)
    ]


def _entered(library: Library, x: Any, on_host: bool, feeds: bool) -> Any:
    if x is None:
        return None
    if x.__class__ is list:
        return [_entered(library, item, on_host, feeds) for item in x]
    if isinstance(x, np.ndarray):
        return x if on_host or feeds else library.to_native(x)
    return library.to_host(x) if on_host else x


def examples(types: Sequence[ValueType]) -> list[Host] | None:
    """An array of each type, without memory of that size; None where a size is not known."""
    found: list[Host] = []
    for one in types:
        sizes = one.shape
        if one.kind != "tensor" or sizes is None or one.dtype == "string":
            return None
        if not all(isinstance(size, int) for size in sizes):
            return None
        shape = tuple(size for size in sizes if isinstance(size, int))
        found.append(np.broadcast_to(np.zeros((), numpy_dtype(one.dtype)), shape))
    return found


def _eagerly(plan: Plan, library: Library, inputs: Sequence[Any]) -> list[Array]:
    return execute(plan, enter(plan, library, inputs))


class Compiling:
    """A plan as functions that its library compiled, one per shapes and host values."""

    def __init__(self, plan: Plan, library: Library, name: str):
        self.plan = plan
        self.library = library
        self.name = name
        self.uncompiled: str | None = None
        """Why the steps run one by one, if they do."""
        self.forms: dict[Any, Callable[[Sequence[Any]], list[Any]]] = {}
        self.only: Callable[[Sequence[Any]], list[Any]] | None = None
        """The one form that there can be, where all sizes are known and no input stays behind."""
        self.compiling = threading.Lock()
        if plan.findings:
            self.give_up(plan.findings[0])

    def give_up(self, reason: str, level: int = logging.INFO) -> None:
        """Run the steps one by one from now on, and say so."""
        self.uncompiled = reason
        _log.log(level, "%s: %s runs it uncompiled: %s", self.name, self.library.name, reason)

    def __call__(self, inputs: Sequence[Any]) -> list[Array]:
        """Run, compiling first where these shapes are new."""
        plan, form = self.plan, self.only
        if self.uncompiled is not None:
            return _eagerly(plan, self.library, inputs)
        try:
            if form is not None:
                return form(inputs)
            entered = enter(plan, self.library, inputs, feeds=self.library.feeds)
            moved = [x for x, held in zip(entered, plan.host_inputs, strict=True) if not held]
            form = self.form(entered)
            return form(moved)
        except (DeviceFailed, TooLarge):
            raise
        except Exception as error:  # noqa: BLE001 - the steps themselves say what is wrong, if it is they
            outputs: list[Array] = self.library.guard(_eagerly, plan, self.library, inputs)
            if form is None or isinstance(error, NotImplementedError):  # some trace when first run
                self.give_up(f"it cannot be compiled: {said(error)}")
            else:  # nobody expects this: without a word, it would only be slow
                self.give_up(f"its compiled form failed: {said(error)}", logging.WARNING)
            return outputs

    def prepare(self, inputs: Sequence[Any]) -> None:
        """Compile for inputs of these shapes ahead of the first run.

        Raises:
            TooLarge: the device's limits are too low.
        """
        if self.uncompiled is None:
            try:
                self.only = self.form(inputs)
            except (DeviceFailed, TooLarge):
                raise
            except Exception as error:  # noqa: BLE001 - the steps themselves say so when they run
                self.give_up(f"it cannot be compiled: {said(error)}")

    def form(self, inputs: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
        """The compiled form for inputs of these shapes; made where they are new."""
        key = tuple(map(_key, inputs, self.plan.host_inputs))
        form = self.forms.get(key)
        if form is not None:
            return form
        with self.compiling:
            form = self.forms.get(key)
            if form is None:
                form = self.compile(inputs)
                if len(self.forms) >= MOST_FORMS:
                    self.forms.clear()
                self.forms[key] = form
        return form

    def compile(self, inputs: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
        """The compiled form for inputs of these shapes, and these values on the host."""
        plan, compiler = self.plan, self.library.compile
        assert compiler is not None
        held = {at: x for at, x in enumerate(inputs) if plan.host_inputs[at]}
        places = [at for at in range(len(inputs)) if at not in held]

        def function(weights: Sequence[Any], moved: Sequence[Any]) -> list[Any]:
            slots = list(plan.slots)
            for at, x in held.items():
                slots[at] = x
            for at, x in zip((*plan.weights, *places), (*weights, *moved), strict=True):
                slots[at] = x
            return follow(plan, slots)

        weights = [plan.slots[at] for at in plan.weights]
        return compiler(function, weights, [inputs[at] for at in places])


def _key(x: Any, held: bool) -> Any:
    """What a compiled form depends on of one input."""
    if x is None:
        return None
    if x.__class__ is list:
        return tuple(_key(item, held) for item in x)
    if not held:
        return tuple(x.shape)
    return (x.shape, tuple(x.flat) if x.dtype == object else x.tobytes())
