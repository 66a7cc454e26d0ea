"""The default registry of the process, and what it says of backends and devices here."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import rlx
from rlx import testing
from rlx.errors import (
    ConfigError,
    DuplicateBackend,
    InvalidDevice,
    NoBackend,
    OpenFailed,
    SettingError,
    UnknownBackend,
)
from rlx.registration import LAST_RANK, Probe
from rlx.session import default

PROJECT = """apiVersion: rlx/v1
kind: Backends
overrides:
  - {id: numpy, rank: %s}
"""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """Work in an empty project; write its backends.yaml with the function."""
    monkeypatch.chdir(tmp_path)

    def write(rank):
        (tmp_path / "backends.yaml").write_text(PROJECT % rank)

    return write


@pytest.fixture
def only(monkeypatch):
    """Put a registry in the place of the default one."""

    def use(*registrations):
        monkeypatch.setattr(default._default, "registry", testing.registry(*registrations))

    return use


def test_it_is_loaded_once():
    assert rlx.default_registry() is rlx.default_registry()


def test_threads_at_once_load_it_once(monkeypatch):
    loads, load = [], default.load_registry
    monkeypatch.setattr(default, "load_registry", lambda: loads.append(1) or load())
    start = threading.Barrier(8)

    def ask():
        start.wait(20)
        return rlx.default_registry()

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask) for _ in range(8)]
        assert len({id(one.result()) for one in asked}) == 1
    assert loads == [1]


def test_the_project_s_file_and_rlx_config_are_layers(project, monkeypatch, tmp_path):
    project(7)
    assert rlx.default_registry().rank("numpy") == 7
    (tmp_path / "more.yaml").write_text(PROJECT % 3)
    monkeypatch.setenv("RLX_CONFIG", "more.yaml")
    assert rlx.reload().rank("numpy") == 3
    monkeypatch.setenv("RLX_CONFIG_ONLY", "1")
    (tmp_path / "argument.yaml").write_text(PROJECT % 2)
    assert default.load_registry(["argument.yaml"]).rank("numpy") == 2


def test_a_failed_first_load_raises_the_same_error_until_reload(project):
    project("high")
    with pytest.raises(ConfigError) as first:
        rlx.default_registry()
    project(5)
    with pytest.raises(ConfigError) as second:
        rlx.registered_devices()
    assert second.value is first.value
    assert rlx.reload().rank("numpy") == 5
    assert rlx.default_registry().rank("numpy") == 5


def test_a_failing_reload_keeps_the_last_good_registry(project):
    project(5)
    good = rlx.default_registry()
    project("high")
    with pytest.raises(ConfigError):
        rlx.reload()
    assert rlx.default_registry() is good


def test_a_first_reload_that_fails_is_remembered(project):
    project("high")
    with pytest.raises(ConfigError) as first:
        rlx.reload()
    with pytest.raises(ConfigError) as second:
        rlx.default_registry()
    assert second.value is first.value


def test_a_wrong_variable_is_an_error_until_it_is_right_and_reloaded(monkeypatch):
    monkeypatch.setenv("RLX_CONFIG_ONLY", "perhaps")
    with pytest.raises(SettingError):
        rlx.default_registry()
    monkeypatch.delenv("RLX_CONFIG_ONLY")
    rlx.reload()


@pytest.mark.usefixtures("three_backends")
def test_registering_swaps_the_registry_and_leaves_the_old_one():
    before = rlx.default_registry()
    made = rlx.register_backend(testing.registration("mine", "cuda"))
    assert made.id == "mine"
    assert before.get("mine") is None
    assert rlx.default_registry().get("MINE") is made
    assert rlx.registered_devices() == ("cpu", "cuda")


def test_an_id_that_is_taken_needs_replace():
    rlx.register_backend(testing.registration("mine", rank=5))
    with pytest.raises(DuplicateBackend):
        rlx.register_backend(testing.registration("mine", rank=6))
    rlx.register_backend(testing.registration("mine", rank=6), replace=True)
    assert rlx.default_registry().rank("mine") == 6


def test_what_is_open_lives_on_when_its_registration_is_replaced():
    rlx.register_backend(testing.registration("mine"))
    with rlx.acquire("mine") as old:
        changed = testing.registration("mine", options=(("watch", "changed"),))
        rlx.register_backend(changed, replace=True)
        with rlx.acquire("mine") as new:
            assert new.backend is not old.backend
        assert old.backend.device == "cpu"
    assert testing.watch("changed").opened == 1


def test_registrations_made_in_code_survive_a_reload(project):
    rlx.register_backend(testing.registration("mine"))
    project(4)
    assert rlx.reload().get("mine") is not None
    assert rlx.default_registry().rank("numpy") == 4


def test_fields_make_a_registration_and_a_function_names_itself():
    made = rlx.register_backend(
        id="mine", device="cpu", factory=testing.open_null, dispatches=True, options={"watch": "w"}
    )
    assert (made.target, made.factory) == ("mine", "rlx.testing.null:open_null")
    assert made.options == (("watch", "w"),)
    rlx.acquire("mine").close()
    assert testing.watch("w").opened == 1


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"id": "mine", "device": "cpu", "factory": lambda spec, options: None}, TypeError),
        ({"id": "mine", "device": "cpu", "ranke": 3}, TypeError),
        ({"id": "mine"}, TypeError),
        ({"registration": testing.registration("mine"), "rank": 3}, TypeError),
        ({"id": "mine", "device": "cudda"}, ConfigError),
        ({"id": "Mine!", "device": "cpu"}, ConfigError),
    ],
)
def test_what_breaks_a_rule_is_not_registered(fields, error):
    before = rlx.default_registry()
    with pytest.raises(error):
        rlx.register_backend(**fields)
    assert rlx.default_registry() is before


def test_an_unknown_id_does_not_dispatch_and_has_the_last_rank():
    registry = rlx.default_registry()
    assert (registry.dispatches("nope"), registry.rank("nope")) == (False, LAST_RANK)
    assert registry.get("nope") is None
    with pytest.raises(UnknownBackend):
        rlx.acquire("nope")


def test_devices_are_registered_available_or_neither(only):
    missing = (Probe("module", ("no_such_engine",)),)
    only(
        testing.registration("b", "cuda"),
        testing.registration("a", "cpu"),
        testing.registration("c", "metal", probes=missing),
        testing.registration("d", "tpu", dispatches=False),
        testing.registration("e", "rocm", reference_oracle=True),
        testing.registration("f", "vulkan", enabled=False),
    )
    assert rlx.registered_devices() == ("cpu", "cuda", "metal", "rocm", "tpu")
    assert rlx.available_devices() == ("cpu", "cuda")
    assert [rlx.is_available(one) for one in ("CUDA", "nvidia:0", "cuda:1")] == [True, True, False]
    assert [rlx.is_available(one) for one in ("metal", "vulkan", "nope")] == [False] * 3
    with pytest.raises(InvalidDevice):
        rlx.is_available("cuda:-1")


def test_a_disabled_device_is_not_available(only, monkeypatch):
    only(testing.registration("a"))
    monkeypatch.setenv("RLX_DISABLE", "cpu")
    assert not rlx.is_available("cpu")


def test_backend_for_leases_the_best_that_opens(only, caplog):
    only(testing.registration("a", rank=1), testing.registration("b", rank=2))
    testing.watch("a").open_error = OSError("busy")
    with rlx.backend_for("cpu") as lease:
        assert lease.id == "b"
    assert caplog.messages[0].startswith("opening a on cpu:0 failed: OSError: busy. Using b on cpu")
    assert rlx.backend_for("cuda") is None
    assert rlx.backend_for("nope") is None


def test_backend_for_a_device_that_nothing_can_use_names_the_reasons(only):
    only(testing.registration("a", "cuda"))
    testing.watch("a").open_error = OSError("no driver")
    with pytest.raises(NoBackend, match="open-failed") as caught:
        rlx.backend_for("cuda")
    assert "no driver" in caught.value.message


def test_acquire_opens_the_one_that_is_named(only):
    only(testing.registration("a", rank=1), testing.registration("b", "cuda", rank=2))
    with rlx.acquire("B") as lease:
        assert (lease.id, str(lease.spec)) == ("b", "cuda:0")
    testing.watch("b").open_error = OSError("no driver")
    with pytest.raises(OpenFailed):
        rlx.acquire("b")
    with pytest.raises(NoBackend, match="not-requested"):
        rlx.acquire("b", "cpu")


def test_acquire_preferred_takes_the_lowest_rank_that_opens(only, monkeypatch):
    only(
        testing.registration("oracle", rank=0, reference_oracle=True),
        testing.registration("a", rank=1),
        testing.registration("b", rank=2),
        testing.registration("c", "cuda", rank=3),
    )
    testing.watch("a").open_error = OSError("busy")
    with rlx.acquire_preferred() as lease:
        assert lease.id == "b"
    with rlx.use("cuda"), rlx.acquire_preferred() as lease:
        assert lease.id == "c"
    monkeypatch.setenv("RLX_BACKEND", "oracle")
    with rlx.acquire_preferred() as lease:
        assert lease.id == "oracle"


def test_a_hundred_questions_have_one_answer(only):
    only(*(testing.registration(one, rank=7) for one in "cab"))
    leases = [rlx.acquire_preferred() for _ in range(100)]
    assert {lease.id for lease in leases} == {"a"}
    assert testing.watch("a").opened == 1
    for lease in leases:
        lease.close()


def test_if_only_oracles_are_left_the_error_says_so(only):
    only(testing.registration("oracle", reference_oracle=True))
    with pytest.raises(NoBackend) as caught:
        rlx.acquire_preferred()
    assert "only the reference oracle is left, and it is never chosen implicitly" in str(
        caught.value
    )
    assert "RLX_BACKEND=oracle" in str(caught.value)


def test_if_none_is_registered_the_error_says_so(only):
    only()
    with pytest.raises(NoBackend, match="no backend can be used"):
        rlx.acquire_preferred()


def test_fields_may_be_lists_and_coverage_rows():
    row = rlx.Row(("Relu",), (("T", ("float32",)),))
    made = rlx.register_backend(
        id="mine",
        device="cpu",
        rank=1,
        dispatches=True,
        factory="rlx.testing:open_null",
        capabilities=["dynamic_shapes"],
        coverage=[row],
    )
    assert made.capabilities == ("dynamic_shapes",)
    assert made.coverage == rlx.Coverage((row,))
