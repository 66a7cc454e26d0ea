"""What every backend promises beside right answers, tried on a backend opened for this alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rlx.backends.protocol import Backend, CompileOptions, Executable
from rlx.conformance.compare import difference
from rlx.conformance.trial import Trial
from rlx.device import DeviceSpec
from rlx.errors import PrecisionError, RlxError
from rlx.references import resolve
from rlx.registration import Registration
from rlx.session.opening import cause_text, open_backend

PRECISIONS = ("f32", "f16", "bf16")


def broken(registration: Registration, spec: DeviceSpec, trials: Sequence[Trial]) -> list[str]:
    """Each promise that does not hold, on these programs, which gave right answers before."""
    try:
        backend = open_backend(registration, spec)
    except RlxError as error:
        return [error.message]
    found = [*_called(registration, backend), *_described(backend)]
    for trial in trials:
        found += _tried(trial.name, lambda trial=trial: _runs(backend, trial))  # type: ignore[misc]
    if trials:
        found += _tried("compile", lambda: _precisions(backend, trials[0]))
    found += _tried("backend.close", lambda: _closes("backend", backend))
    return list(dict.fromkeys(found))


def _tried(where: str, check: Callable[[], Iterator[str]]) -> list[str]:
    found: list[str] = []
    try:
        found.extend(check())
    except Exception as error:  # noqa: BLE001 - whatever an engine raises is a finding
        found.append(f"{where} raised {cause_text(error)}")
    return found


def members(protocol: type) -> list[str]:
    """The names that a protocol asks for."""
    return [name for name in vars(protocol) if not name.startswith("_")]


def _called(registration: Registration, backend: Backend) -> Iterator[str]:
    """Everything can be called as rlx calls it."""
    assert registration.factory is not None
    yield from _accepts("the factory", resolve(registration.factory), "spec", "options")
    yield from _lacks("backend", backend, Backend)
    yield from _accepts("backend.compile", backend.compile, "program", "options")
    yield from _accepts("backend.close", backend.close)


def _lacks(what: str, made: object, protocol: type) -> Iterator[str]:
    for name in members(protocol):
        if not hasattr(made, name):
            yield f"{what} has no {name}"


def _accepts(what: str, function: Any, *arguments: str) -> Iterator[str]:
    try:
        inspect.signature(function).bind(*arguments)
    except ValueError:  # made in C, without a signature
        return
    except TypeError:
        yield f"{what} can't be called as {what.rpartition('.')[2]}({', '.join(arguments)})"


def _described(backend: Backend) -> Iterator[str]:
    version = backend.version
    if not isinstance(version, str) or not version.strip():
        yield f"backend.version must be text, got {version!r:.60}"


def _runs(backend: Backend, trial: Trial) -> Iterator[str]:
    """Inputs stay as they are; outputs are the caller's own; strides and closing are no matter."""
    executable = backend.compile(trial.program, CompileOptions())
    yield from _lacks("an executable", executable, Executable)
    yield from _accepts("executable.run", executable.run, "inputs")
    if executable.device != backend.device:
        yield f"an executable's device is {executable.device!r:.60}, not {backend.device!r:.60}"
    inputs = [_copied(value) for value in trial.inputs]
    outputs = list(executable.run(inputs))
    for place, (before, after) in enumerate(zip(trial.inputs, inputs, strict=True)):
        if difference([before], [after], _exact(trial)) is not None:
            yield f"{trial.name}: run writes to input {place}"
    kept = [_copied(value) for value in outputs]
    yield from _views(trial, inputs, outputs)
    again = list(executable.run([_strided(value) for value in trial.inputs]))
    wrong = difference(trial.expected, again, trial.tolerance)
    if wrong is not None:
        yield f"{trial.name}: inputs with other strides give another answer: {wrong}"
    executable.run([_zeros(value) for value in trial.inputs])
    if difference(kept, outputs, _exact(trial)) is not None:
        yield f"{trial.name}: a later run writes to the outputs of an earlier one"
    yield from _closes("executable", executable)


def _views(trial: Trial, inputs: Sequence[Any], outputs: Sequence[Any]) -> Iterator[str]:
    arrays = [(place, one) for place, one in enumerate(inputs) if isinstance(one, np.ndarray)]
    for number, output in enumerate(outputs):
        for place, value in arrays:
            if isinstance(output, np.ndarray) and np.shares_memory(output, value):
                yield f"{trial.name}: output {number} is a view of input {place}"


def _precisions(backend: Backend, trial: Trial) -> Iterator[str]:
    """A precision is kept or refused, never passed over."""
    for precision in PRECISIONS:
        try:
            backend.compile(trial.program, CompileOptions(precision=precision)).close()
        except PrecisionError:
            continue
        except Exception as error:  # noqa: BLE001 - whatever an engine raises is a finding
            yield f"compile in {precision} must raise PrecisionError, got {cause_text(error)}"


def _closes(what: str, made: Any) -> Iterator[str]:
    made.close()
    try:
        made.close()
    except Exception as error:  # noqa: BLE001 - whatever an engine raises is a finding
        yield f"{what}.close raises when it is called again: {cause_text(error)}"


def _exact(trial: Trial) -> Any:
    return type(trial.tolerance)(0.0, 0.0)


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(one) for one in value]
    return np.array(value) if isinstance(value, np.ndarray) else value


def _strided(value: Any) -> Any:
    """The same numbers with other steps between them."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return _copied(value)
    wide = np.empty((*value.shape[:-1], value.shape[-1] * 2), value.dtype)
    wide[..., ::2] = value
    return wide[..., ::2]


def _zeros(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return value
    return np.zeros_like(value)
