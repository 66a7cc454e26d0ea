"""Arguments of a wrong type are refused at the door, by a message that says what is taken."""

import pytest

import rlx
from rlx.registration import Registration
from rlx.router import Fact
from rlx.session import Session, route

NOT_TEXT = [None, 7, 1.5, b"cpu", ["cpu"], object]
NOT_A_REGISTRY = ["backends.yaml", 7, b"", [], object]


def message(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def quoted(value):
    return repr(value) if len(repr(value)) <= 60 else f"{value!r:.57}..."


@pytest.mark.parametrize("value", NOT_A_REGISTRY, ids=repr)
def test_what_is_no_registry_is_refused(hello, value):
    told = f"registry must be a Registry, got {quoted(value)}"
    assert message(TypeError, lambda: Session(registry=value)) == told
    assert message(TypeError, lambda: route(hello, registry=value)) == told


@pytest.mark.parametrize("lookup", ["get", "rank", "dispatches", "device"])
@pytest.mark.parametrize("value", [None, 7, 1.5, object], ids=repr)
def test_looking_up_what_is_no_text_is_refused(make, lookup, value):
    told = message(TypeError, lambda: getattr(make("a"), lookup)(value))
    assert told == f"a name must be text, got {quoted(value)}"


@pytest.mark.parametrize("value", NOT_TEXT, ids=repr)
def test_resolving_what_is_no_device_is_refused(make, value):
    told = message(rlx.InvalidDevice, lambda: make("a").resolve(value))
    assert told.startswith(f"a device must be text, got {quoted(value)}. Fix: ")


@pytest.mark.parametrize("value", ["a", 7, {"id": "a"}, Registration], ids=repr)
def test_registering_what_is_no_registration_is_refused(make, value):
    told = f"a backend is registered by a Registration, got {quoted(value)}"
    assert message(TypeError, lambda: make("a").with_backend(value)) == told
    assert message(TypeError, lambda: rlx.register_backend(value)) == told


@pytest.mark.parametrize("value", ["a.yaml", b"a.yaml"])
def test_one_path_is_no_list_of_paths(value):
    told = message(TypeError, lambda: rlx.Registry.load(value))
    assert told == f"paths must be a list of paths, got {value!r}"


@pytest.mark.parametrize("value", [[], "a", {"a": Fact()}, {("a", 0): None}, {(1,): Fact()}])
def test_facts_of_another_form_are_refused(hello, make, value):
    told = message(TypeError, lambda: route(hello, registry=make("a"), facts=value))
    assert told == f"facts must map (backend id, device index) to Fact, got {quoted(value)}"


def test_a_source_that_is_no_origin_is_refused(hello, make):
    told = message(TypeError, lambda: route(hello, registry=make("a"), source="--device"))
    assert told == "source must be an Origin, got '--device'"


@pytest.mark.parametrize("requirements", [None, "all", ()])
def test_what_only_looks_like_a_program_is_refused(make, requirements):
    class Lookalike:
        pass

    Lookalike.requirements = requirements
    told = message(rlx.ProgramError, lambda: route(Lookalike(), registry=make("a")))
    assert told == (
        "cannot load a Lookalike. Fix: pass a path, bytes, an onnx.ModelProto or a Program."
    )


@pytest.mark.parametrize("opset", ["21", 21.0, True, [21]], ids=repr)
def test_an_opset_is_a_whole_number(hello, opset):
    told = message(TypeError, lambda: hello.to_onnx(opset))
    assert told == f"opset must be a whole number or None, got {opset!r}"


def test_a_value_that_holds_itself_is_shown(make):
    loop = []
    loop.append(loop)
    told = message(
        rlx.ConfigError, lambda: make("a").with_backend(Registration("b", "cpu", target=loop))
    )
    assert "target must be str, got [[" in told
