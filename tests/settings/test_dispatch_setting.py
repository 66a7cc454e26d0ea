"""`kernel_dispatch` from each source: one grammar, known operations, the strongest wins whole."""

import pytest

import rlx
from rlx.errors import SettingError
from rlx.registries import Registry
from rlx.settings import make_request

TEXT = "Gelu=common,prefer-native"
FORM = "prefer-native,Gelu=common"


@pytest.fixture(scope="module")
def packaged():
    return Registry.load(only=True)


@pytest.fixture
def routed(tmp_path):
    """A registry whose manifest sets a policy and an override."""
    path = tmp_path / "rlx.yaml"
    path.write_text(
        "apiVersion: rlx/v1\nkind: Backends\n"
        "routing: {kernel_dispatch: common, kernel_dispatch_overrides: {ai.onnx::Relu: native}}\n"
    )
    return Registry.load([path], only=True)


def test_a_manifest_writes_the_overrides_as_a_mapping(routed):
    """Its place is that of what was written last."""
    assert make_request(routed).kernel_dispatch == "common,Relu=native"
    assert routed.routing.kernel_dispatch.origin.line == 3


def test_every_stronger_source_replaces_policy_and_overrides(routed, monkeypatch):
    """From weak to strong: variable, scope, argument; all read the same text."""
    monkeypatch.setenv("RLX_KERNEL_DISPATCH", TEXT)
    assert make_request(routed).kernel_dispatch == FORM
    with rlx.use(kernel_dispatch="native,Elu=common"):
        assert make_request(routed).kernel_dispatch == "native,Elu=common"
        assert make_request(routed, kernel_dispatch="Elu=native").kernel_dispatch == (
            "prefer-native,Elu=native"
        )


@pytest.mark.parametrize("source", ["variable", "scope", "argument"])
def test_an_operation_that_is_not_known_is_refused(packaged, monkeypatch, source):
    """With the nearest name, and who asked for it."""
    said = {
        "variable": "RLX_KERNEL_DISPATCH",
        "scope": "rlx.use(...)",
        "argument": "the kernel_dispatch argument",
    }[source]
    scope, given = rlx.use(), None
    if source == "variable":
        monkeypatch.setenv("RLX_KERNEL_DISPATCH", "Gelo=common")
    elif source == "scope":
        scope = rlx.use(kernel_dispatch="Gelo=common")
    else:
        given = "Gelo=common"
    with scope, pytest.raises(SettingError) as caught:
        make_request(packaged, kernel_dispatch=given)
    assert str(caught.value) == f"{said}: no operation is named 'Gelo'. Fix: did you mean Gelu?"


def test_an_unknown_policy_of_an_operation_is_refused(packaged, monkeypatch):
    """As a policy by itself is."""
    monkeypatch.setenv("RLX_KERNEL_DISPATCH", "native,Gelu=fast")
    with pytest.raises(SettingError) as caught:
        make_request(packaged)
    assert str(caught.value) == (
        "RLX_KERNEL_DISPATCH: unknown value 'fast', allowed: native, prefer-native, common. "
        "Fix: write one of: native, prefer-native, common."
    )
