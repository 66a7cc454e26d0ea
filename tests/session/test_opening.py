"""A factory that can't be used: what is said of it, whatever it does."""

import pytest

from rlx import testing
from rlx.device import DeviceSpec
from rlx.errors import ContractError, OpenFailed, Unavailable
from rlx.origin import Origin
from rlx.session import opening

FACTORIES = """
import sys
class Closeable:
    version = "1"
    def compile(self, program, options): ...
    def close(self): ...
class Opened(Closeable):
    device = "cpu"
class Lying(Closeable):
    @property
    def device(self): raise OSError("driver gone")
def good(spec, options): return Opened()
class Nested:
    good = staticmethod(good)
def raises(spec, options): raise RuntimeError
def chained(spec, options):
    try: raise OSError("libcuda.so.1: cannot open")
    except OSError as error: raise RuntimeError("engine failed\\nto start") from error
def leaves(spec, options): sys.exit(2)
def nothing(spec, options): return None
def half(spec, options): return "text"
def lying(spec, options): return Lying()
def bad_signature(): ...
number = 3
"""


@pytest.fixture
def factories(tmp_path, monkeypatch):
    (tmp_path / "made_factories.py").write_text(FACTORIES)
    (tmp_path / "needs_engine.py").write_text("import no_such_engine")
    monkeypatch.syspath_prepend(str(tmp_path))


def open_one(factory, **fields):
    one = testing.registration(factory=factory, options=(), **fields)
    return opening.open_backend(one, DeviceSpec("cpu", 0))


@pytest.mark.parametrize("attribute", ["good", "Nested.good"])
def test_a_factory_opens(factories, attribute):
    assert open_one(f"made_factories:{attribute}").device == "cpu"


@pytest.mark.parametrize(
    ("factory", "cause"),
    [
        ("made_factories:raises", "RuntimeError without a message"),
        (
            "made_factories:chained",
            "RuntimeError: engine failed to start, caused by OSError: libcuda.so.1: cannot open",
        ),
        ("made_factories:leaves", "SystemExit: 2"),
        ("made_factories:lying", "OSError: driver gone"),
        (
            "made_factories:bad_signature",
            "TypeError: bad_signature() takes 0 positional arguments but 2 were given",
        ),
        ("made_factories:number", "TypeError: 'int' object is not callable"),
        (
            "made_factories:nope",
            "AttributeError: module 'made_factories' has no attribute 'nope'",
        ),
        (
            "no_such_module:open",
            "ModuleNotFoundError: No module named 'no_such_module'",
        ),
    ],
)
def test_the_cause_is_in_the_first_line(factories, factory, cause):
    with pytest.raises(OpenFailed) as caught:
        open_one(factory)
    assert caught.value.message == f"opening null on cpu:0 failed: {cause}"
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("factory", "got"),
    [
        ("nothing", "NoneType, which has no device and no version and no compile and no close"),
        ("half", "str, which has no device and no version and no compile and no close"),
    ],
)
def test_what_is_no_backend_is_refused(factories, factory, got):
    with pytest.raises(OpenFailed) as caught:
        open_one(f"made_factories:{factory}")
    assert str(caught.value) == (
        f"opening null on cpu:0 failed: made_factories:{factory} returned {got}. "
        "Fix: report this to the backend's author."
    )


def test_a_missing_engine_is_answered_with_how_to_install_it(factories):
    with pytest.raises(OpenFailed) as caught:
        open_one("needs_engine:open", install="pip install engine")
    assert str(caught.value) == (
        "opening null on cpu:0 failed: ModuleNotFoundError: No module named 'no_such_engine'. "
        "Fix: pip install engine"
    )


def test_an_error_of_rlx_keeps_its_fix():
    testing.watch().open_error = Unavailable("no GPU here", fix="plug one in.")
    with pytest.raises(OpenFailed) as caught:
        opening.open_backend(testing.registration(), DeviceSpec("cpu", 0))
    assert str(caught.value) == (
        "opening null on cpu:0 failed: Unavailable: no GPU here. Fix: plug one in."
    )


def test_a_registration_without_factory_cannot_be_opened():
    one = testing.registration(factory=None, dispatches=False, origin=Origin("b.yaml", 3, 5))
    with pytest.raises(OpenFailed) as caught:
        opening.open_backend(one, DeviceSpec("cpu", 0))
    assert str(caught.value) == (
        "b.yaml:3:5: opening null on cpu:0 failed: it has no factory. "
        "Fix: choose a backend that dispatches: run `rlx backends`."
    )


def test_a_broken_promise_is_reported_although_closing_fails_too():
    watch = testing.watch()
    watch.device, watch.close_error = "cpu", RuntimeError("busy")
    with pytest.raises(ContractError) as caught:
        opening.open_backend(testing.registration("null", "cuda"), DeviceSpec("cuda", 0))
    assert caught.value.__notes__ == ["closing it failed as well: RuntimeError: busy"]
