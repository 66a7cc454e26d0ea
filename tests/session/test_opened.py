"""The wrapper around opened backends, and that around stages, forward all of the protocol."""

import inspect
from types import SimpleNamespace
from typing import Protocol

import numpy as np
import pytest

from rlx import testing
from rlx.backends.protocol import Backend, CompileOptions, Executable, NativeArrays
from rlx.device import DeviceSpec
from rlx.errors import UnsupportedFeature
from rlx.program.stages import Stage, Stages
from rlx.session import opening
from rlx.session.inputs.native import MEMBERS
from rlx.session.opened import Opened
from rlx.session.stages import StagedExecutable

PLAIN = SimpleNamespace(
    name="plain", requirements=SimpleNamespace(capabilities=()), inputs=(), outputs=()
)


def members(protocol):
    """Everything that a protocol asks for, inherited members too."""
    return {
        name: value
        for one in reversed(protocol.__mro__)
        if one not in (object, Protocol) and one.__module__ not in ("typing", "typing_extensions")
        for name, value in {**getattr(one, "__annotations__", {}), **vars(one)}.items()
        if not name.startswith("_")
    }


def recording(*protocols):
    """Something with every member of the protocols, and what was asked of each."""
    asked = {}

    def method(name):
        def call(self, *given, **named):
            asked[name] = (given, named)
            return ("made by", name)

        return call

    space = {}
    for protocol in protocols:
        for name, value in members(protocol).items():
            space[name] = method(name) if inspect.isfunction(value) else ("value of", name)
    return type("Recording", (), space)(), asked


def leaks(wrap, protocol):
    """The members of the protocol that do not reach what is wrapped, as they were asked for."""
    inner, asked = recording(protocol)
    wrapped = wrap(inner)
    found = []
    for name, value in members(protocol).items():
        if not inspect.isfunction(value):
            if getattr(wrapped, name, None) != ("value of", name):
                found.append(name)
            continue
        count = len(inspect.signature(value).parameters) - 1
        given = (PLAIN, *map(str, range(count - 1)))[:count]
        try:
            result = getattr(wrapped, name)(*given)
        except (AttributeError, TypeError):
            found.append(name)
            continue
        if result not in (None, ("made by", name)) or asked.get(name) != (given, {}):
            found.append(name)
    return found


def opened(backend):
    return Opened(backend, testing.registration("null"))


class Grown(Backend, Protocol):
    """The protocol with members that nobody has heard of yet."""

    @property
    def memory(self) -> int: ...

    def upload(self, array, stream): ...


@pytest.mark.parametrize("protocol", [Backend, Executable, NativeArrays, Grown])
def test_the_wrapper_forwards_every_member(protocol):
    assert len(members(protocol)) >= 3
    assert leaks(opened, protocol) == []


def test_a_wrapper_that_forwards_only_what_it_names_is_found_out():
    """Each member that is taken away, and each that is new, fails the check above."""

    class Closed(Opened):
        def __getattr__(self, name):
            raise AttributeError(name)

    def closed(backend):
        return Closed(backend, testing.registration("null"))

    assert leaks(closed, Backend) == []
    assert leaks(closed, Grown) == ["memory", "upload"]
    for name in members(Backend):
        lacking = type("Lacking", (Closed,), {name: getattr(Backend, name)})
        assert leaks(lambda one, of=lacking: of(one, testing.registration("null")), Backend) == [
            name
        ]


def test_the_wrapper_names_every_member_of_a_backend():
    """So that types are checked, and a backend's own `__getattr__` can't hide one."""
    assert members(Backend).keys() <= vars(Opened).keys()


def staged(*executables):
    """The wrapper of stages, one for each executable, without values between them."""
    program = SimpleNamespace(name="cut", inputs=(), outputs=())
    cut = Stages(tuple(Stage(program, (), None) for _ in executables), ())
    return StagedExecutable(program, cut, executables, "null", "cpu")


def test_stages_forward_arrays_of_the_backends_own():
    assert set(MEMBERS) == set(members(NativeArrays))

    def wrap(inner):
        inner.device, inner.run, inner.close = "cpu", lambda _: (), lambda: None
        return staged(inner)

    assert leaks(wrap, NativeArrays) == []
    inner, _ = recording(Executable)
    type(inner).device = "cpu"
    plain = staged(inner)
    assert [name for name in MEMBERS if hasattr(plain, name)] == []
    assert isinstance(plain, Executable)


def test_stages_have_every_member_of_an_executable():
    assert members(Executable).keys() <= vars(StagedExecutable).keys()
    inner, asked = recording(Executable)
    wrapped = staged(inner)
    type(inner).run = lambda _, given: asked.update(run=given) or ()
    type(inner).device = "cpu"
    assert wrapped.run(()) == []
    assert wrapped.device == "cpu"
    wrapped.close()
    assert asked == {"run": [], "close": ((), {})}


@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_what_the_registry_opens_is_wrapped(backend):
    from rlx.session.default import default_registry

    one = default_registry().get(backend)
    made = opening.open_backend(one, DeviceSpec("cpu", 0))
    assert isinstance(made, Opened)
    assert isinstance(made, Backend)
    made.close()


def test_members_beside_the_protocol_are_the_backends_own():
    inner = SimpleNamespace(device="cpu", version="1", extra=3)
    wrapped = opened(inner)
    assert wrapped.extra == 3
    assert repr(wrapped) == f"<Opened {inner!r}>"
    with pytest.raises(AttributeError):
        _ = wrapped.other


def test_a_backend_that_must_not_be_handed_stages_is_not(barred):
    backend = Opened(SimpleNamespace(), testing.registration("null", capabilities=("no_stages",)))
    with pytest.raises(UnsupportedFeature) as caught:
        backend.compile(barred, CompileOptions())
    assert str(caught.value) == (
        "null has no barriers, and barred may not be cut at its. "
        "Fix: choose another backend: rlx.route(program) says which fit."
    )


@pytest.mark.parametrize(
    ("capabilities", "dispatch", "handed"),
    [
        ((), "prefer-native", 2),
        ((), "common", 2),
        (("barriers",), "prefer-native", 1),
        (("barriers",), "native", 1),
        (("barriers",), "common", 2),
        (("barriers", "no_stages"), "common", 1),
        (("barriers",), "prefer-native,rlx::Barrier=common", 2),
    ],
)
def test_the_policy_and_the_capabilities_decide(barred, capabilities, dispatch, handed):
    programs = []
    inner = SimpleNamespace(
        compile=lambda program, options: (
            programs.append(program) or SimpleNamespace(device="cpu", run=None, close=None)
        )
    )
    wrapped = Opened(inner, testing.registration("null", capabilities=capabilities))
    wrapped.compile(barred, CompileOptions(kernel_dispatch=dispatch))
    assert len(programs) == handed
    assert (programs[0] is barred) == (handed == 1)


def test_a_backend_in_a_process_of_its_own_has_every_member_too(barred):
    """Both wrappers, one around the other: a program with barriers goes there in stages."""
    from rlx.backends.isolated import Isolated

    inner = Isolated("numpy", "rlx.backends.array.numpy:open_cpu", DeviceSpec("cpu", 0), {})
    wrapped = opened(inner)
    try:
        for one in (inner, wrapped):
            assert [name for name in members(Backend) if not hasattr(one, name)] == []
        assert (wrapped.device, wrapped.version) == (inner.device, inner.version)
        made = wrapped.compile(barred, CompileOptions())
        assert isinstance(made, StagedExecutable)
        (y,) = made.run([np.array([1, -2], np.float32)])
        assert y.tolist() == [0, 2]
        made.close()
    finally:
        wrapped.close()
