"""Whether a backend gives a model's outputs as onnxruntime does: their largest error, by scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

import rlx
from tests.models.catalogue import Feeds, Model

Array = np.ndarray[Any, Any]
Run = Callable[[Feeds], list[Array]]
LIMIT = 1e-3
"""The largest error, relative to the output's largest value."""


def candidates() -> list[tuple[str, tuple[str, ...]]]:
    """The packaged backends that run on a processor, and the modules that each needs."""
    found = []
    for one in rlx.default_registry().registrations:
        here = one.device in {"cpu", "mlx"} or one.software
        if one.dispatches and not one.reference_oracle and here:
            modules = [probe.values[0] for probe in one.probes if probe.kind == "module"]
            found.append((one.id, tuple(modules)))
    return found


def beside(model: Model) -> Run:
    """The model as its file says, in onnxruntime with one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(str(model.path), options, providers=providers)
    return lambda feeds: list(session.run(None, dict(feeds)))


@contextmanager
def through(backend: str, model: Model):
    """The model through rlx, on one backend."""
    with rlx.Session(backend=backend) as session:
        executable = session.compile(rlx.load(model.path))
        yield executable.run


@contextmanager
def unclaimed(backend: str, model: Model):
    """The model on a backend's own factory: no router, no coverage."""
    from rlx.backends.protocol import CompileOptions
    from rlx.device import DeviceSpec
    from rlx.references import resolve

    one = rlx.default_registry().get(backend)
    opened = resolve(one.factory)(DeviceSpec(one.device), dict(one.options))
    program = rlx.load(model.path)
    executable = opened.compile(program, CompileOptions())
    names = [value.name for value in program.inputs]
    yield lambda feeds: [np.asarray(y) for y in executable.run([feeds[name] for name in names])]
    opened.close()


def error(found: Array, wanted: Array) -> float:
    """The largest difference over the largest value; what must be equal and is not: infinity."""
    found = np.asarray(found)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return float("inf")
    if wanted.dtype.kind not in "fc":
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    if not wanted.size:
        return 0.0
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    worst = float(np.abs(a - b).max() / max(float(np.abs(b).max()), 1e-30))
    return worst if np.isfinite(worst) else float("inf")


def errors(run: Run, model: Model, feeds: Mapping[str, Array] | None = None) -> list[float]:
    """The error of each output on the model's own drawn inputs, or on others."""
    given = dict(model.feeds() if feeds is None else feeds)
    wanted = beside(model)(given)
    return [error(a, b) for a, b in zip(run(given), wanted, strict=True)]
