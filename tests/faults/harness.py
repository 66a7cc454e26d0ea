"""Injects each fault into each adapter, in this one process, and prints what came of it as JSON.

Run as a program, with the folder for its fakes: it is part of what is shown that it ends well.
"""

import contextlib
import dataclasses
import json
import os
import sys
from pathlib import Path

import numpy as np
from onnx import parser

import rlx
from rlx import testing
from rlx.errors import NoBackend, RlxError
from rlx.references import resolve
from rlx.registries import Registry
from rlx.session import live
from rlx.session.default import load_registry
from tests.faults import fakes
from tests.faults.fakes import MARK

PROGRAM = """<ir_version: 10, opset_import: ["" : 21]>
tiny (float[1,2] x) => (float[1,2] y) { y = Relu(x) }"""
FAULTS = (
    *("library missing", "too old", "import raises", "import hangs", "SystemExit on import"),
    *("no device", "kernels fail", "factory fails once", "backend misspelt", "option misspelt"),
    *("out of memory at compile", "SIGSEGV"),
)
ENGINE_KINDS = ("module", "call", "library")
FACTORIES = {
    "factory fails once": ("fail_once", "opening"),
    "out of memory at compile": ("exhausted", "compiling"),
}
LIVE = ("import hangs", "SIGSEGV")
"""What would end or stop this process where no probe asks the engine first: tried by `--live`."""
_left = 0


def rows(registry):
    """One registration for each adapter, and one more where it is also registered without probe."""
    found = {}
    for one in registry.registrations:
        if one.factory is not None and one.dispatches:
            module = one.factory.partition(":")[0].removesuffix(".providers")
            asks = any(probe.kind == "call" for probe in one.probes)
            found.setdefault((module, asks), one)
    return sorted(found.values(), key=lambda one: one.id)


def engines(one):
    """The top-level modules that its probes look for, with their specifiers."""
    return {probe.values[0]: probe.version for probe in one.probes if probe.kind == "module"}


def asks(one):
    return any(probe.kind == "call" for probe in one.probes)


def fail_once(spec, options):
    """A factory that fails the first time."""
    global _left
    if _left:
        _left -= 1
        raise RuntimeError(f"{MARK}: the device is busy")
    return testing.open_null(spec, {})


def exhausted(spec, options):
    """A backend on which compiling takes too much memory."""
    backend = testing.open_null(spec, {})

    class Exhausted:
        device, version, close = backend.device, "1.0", backend.close

        def compile(self, program, options):
            raise MemoryError(f"{MARK}: out of memory")

    return Exhausted()


def without_kernels(spec, options):
    """A backend on which everything goes well until something runs."""
    backend = testing.open_null(spec, {})

    class Executable:
        device, close = backend.device, staticmethod(lambda: None)

        def run(self, inputs):
            raise RuntimeError(f"{MARK}: no kernel image is available")

    class WithoutKernels:
        device, version, close = backend.device, "1.0", backend.close

        def compile(self, program, options):
            return Executable()

    return WithoutKernels()


def registration(one, program, **changed):
    """The row's registration as it can be used here: no node and no platform is looked for."""
    seconds = changed.pop("seconds", 60.0)
    probes = tuple(
        dataclasses.replace(probe, timeout=seconds if probe.kind == "call" else probe.timeout)
        for probe in one.probes
        if probe.kind in ENGINE_KINDS
    )
    changed = {"probes": probes, **changed}
    covers = testing.covering(program)
    return dataclasses.replace(one, rank=1, coverage=covers, enabled=True, **changed)


@contextlib.contextmanager
def injected(folder, modules, versions, hidden=()):
    """Put fakes first on the path, and take away what was imported of the same name."""
    fakes.write(folder, modules, versions)
    names = {name.partition(".")[0] for name in (*modules, *hidden)}
    kept = {
        name: sys.modules[name] for name in list(sys.modules) if name.partition(".")[0] in names
    }
    for name in kept:
        del sys.modules[name]
    sys.modules.update(dict.fromkeys(hidden))
    sys.path.insert(0, str(folder))
    _refresh()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] in names]:
            del sys.modules[name]
        sys.modules.update(kept)
        _refresh()


def _refresh():
    from rlx import probe

    probe.refresh()


def asked(one, program, **request):
    """What comes of a request: where it ended, or the code and the cause against the backend."""
    registry = testing.registry(one, *OTHERS)
    try:
        with rlx.Session(registry=registry, **request) as session:
            model = session.compile(program)
            model(np.ones((1, 2), np.float32))
            return {"ended": model.backend, "code": None, "cause": ""}
    except NoBackend as error:
        (own,) = (each for each in error.route.candidates if each.backend == one.id)
        (first, *_) = own.reasons
        return {"ended": None, "code": first.code, "cause": first.detail}
    except RlxError as error:
        return {"ended": None, "code": error.code, "cause": error.message}


def outcome(one, program):
    """Asked for by id, and by device where that is not the one of everything else."""
    found = asked(one, program, backend=one.id)
    if one.device != "cpu":
        other = asked(one, program, device=one.device)
        assert other["ended"] in (None, one.id), f"{one.id} was asked for, {other['ended']} ran"
    assert found["ended"] in (None, one.id)
    return found


def tried(one, seconds):
    """What a live run of the packaged registration finds, in a child of its own."""
    went = live.run(load_registry(), [one], timeout=seconds)[one.id]
    return {"ended": None, "code": "unavailable", "cause": went.reason or "", "by": "live"}


def measure(one, fault, folder, program):
    """One cell; None: the adapter has nothing in which this could fail."""
    names = engines(one)
    good = {name: fakes.fitting(version) for name, version in names.items()}
    first = next(iter(names), None)
    if fault == "backend misspelt":
        return {**asked(one, program, backend=one.id[:-1]), "by": "request"}
    if fault == "option misspelt":
        return misspelt(one, program)
    if fault in FACTORIES:
        return replaced(one, fault, program)
    listed = fakes.listing(first, fault == "kernels fail")
    if fault == "kernels fail" and (listed is None or not asks(one)):
        return replaced(one, fault, program)
    if first is None:
        return None
    if fault == "library missing":
        with injected(folder, {}, {}, hidden=(first,)):
            return {**outcome(registration(one, program), program), "by": "probe"}
    if fault == "too old":
        if names[first] is None:
            return None
        with injected(folder, {first: ""}, {**good, first: "0.0.1"}):
            return {**outcome(registration(one, program), program), "by": "probe"}
    if fault in ("no device", "kernels fail"):
        if not asks(one):
            return None
        modules = listed or {first: fakes.FIRST_USE}
    else:
        modules = dict.fromkeys((first, fakes.ENTRY.get(first, first)), fakes.IMPORTS[fault])
    rest = {name: "" for name in names if name not in modules}
    with injected(folder, {**rest, **modules}, good):
        if fault in LIVE and not asks(one):
            return tried(one, 3.0 if fault == "import hangs" else 120.0)
        seconds = 0.5 if fault == "import hangs" else 60.0
        found = outcome(registration(one, program, seconds=seconds), program)
        return {**found, "by": "probe" if asks(one) else "opening"}


def replaced(one, fault, program):
    """The fault in a factory that takes the place of the adapter's own."""
    global _left
    name, by = FACTORIES.get(fault, ("without_kernels", "running"))
    sys.modules["tests.faults.harness"] = sys.modules["__main__"]
    factory = f"tests.faults.harness:{name}"
    made = registration(one, program, factory=factory, probes=(), options=())
    _left = 1
    found = {**asked(made, program, backend=made.id), "by": by}
    assert found["ended"] is None
    if name == "fail_once":
        again = asked(made, program, backend=made.id)
        assert again["ended"] == one.id, again
        found["then"] = "works"
    return found


def misspelt(one, program):
    """An option that the real factory is given; None: its engine is not installed here."""
    made = registration(one, program, probes=(), options=(("no_such_optoin", 1),))
    try:
        resolve(one.factory)
        found = asked(made, program, backend=one.id)
    except ImportError:
        return None
    return None if found["code"] == "open-failed" else {**found, "by": "opening"}


def main(folder, chosen):
    """Measure all rows, or those that are chosen."""
    global OTHERS
    registry = Registry.load(only=True)
    program = rlx.load(parser.parse_model(PROGRAM))
    OTHERS = (testing.registration("other", coverage=testing.covering(program)),)
    table = {}
    for one in rows(registry):
        if chosen and one.id not in chosen:
            continue
        cells = {}
        for fault in FAULTS:
            place = Path(folder, one.id, fault.replace(" ", "-"))
            place.mkdir(parents=True)
            cells[fault] = measure(one, fault, place, program)
        table[one.id] = cells
    os.write(1, json.dumps(table).encode() + b"\n")


OTHERS = ()
if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
