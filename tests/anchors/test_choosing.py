"""Cases that other tools got wrong: what is asked for, what is chosen, what is said."""

import pytest

import rlx
from rlx import testing
from rlx.errors import NoBackend, SettingError
from rlx.session import Session, leases, route
from rlx.settings import environment


def test_a_library_that_is_missing_is_named_and_nothing_runs_on_the_cpu(hello, make, monkeypatch):
    """Section 5, 1: libraries of the GPU were missing, the CPU ran it, and only a log said so."""
    monkeypatch.setenv("RLX_DEVICE", "cuda")
    testing.watch("gpu").open_error = OSError("libcublas.so.12: cannot open shared object file")
    with (
        Session(registry=make(("gpu", "cuda"), "other")) as session,
        pytest.raises(NoBackend) as caught,
    ):
        session.compile(hello)
    assert caught.value.message == (
        "no backend can run hello (2 nodes) on cuda\n"
        "  gpu    open-failed   it failed to open: OSError: libcublas.so.12: cannot open shared "
        "object file\n"
        "  other  not-requested device is cpu, cuda was asked for by RLX_DEVICE"
    )
    assert testing.watch("other").opened == 0


def test_a_candidate_that_failed_is_tried_once_and_listed_once(hello, make):
    """Section 5, 5: the retry's list still held what had failed, and failed in the same way."""
    testing.watch("first").open_error = OSError("busy")
    with Session(registry=make("first", "second")) as session, session.compile(hello) as model:
        names = [one.backend for one in model.route.candidates]
        assert (model.backend, names) == ("second", ["first", "second"])
    assert testing.watch("first").opened == 1


@pytest.mark.parametrize("name", ["CUDA_PATH", "CUDA_HOME", "PREFER_NPU", "JAX_PLATFORMS"])
def test_variables_of_others_change_no_route(hello, make, monkeypatch, name):
    """Section 4, 12; section 5, 5: a variable that is not ours flipped what was chosen."""
    registry = make("first", ("second", "cuda"))
    before = route(hello, registry=registry)
    monkeypatch.setenv(name, "/somewhere")
    assert route(hello, registry=registry) == before


def test_opening_in_another_order_leads_to_the_same_state(hello, make):
    """Section 5, 19: the order in which two platforms were started changed what they did."""
    registry = make("one", ("two", "cuda"))
    seen = []
    for order in (("one", "two"), ("two", "one")):
        testing.forget_watches()
        held = [leases.acquire(registry.get(name), _spec(registry, name)) for name in order]
        counts = {name: testing.watch(name).opened for name in sorted(order)}
        seen.append((counts, route(hello, registry=registry).backend))
        for lease in held:
            lease.close()
    assert seen[0] == seen[1] == ({"one": 1, "two": 1}, "one")


def _spec(registry, name):
    return rlx.DeviceSpec(registry.get(name).device, 0)


def test_the_explanation_is_in_the_order_of_the_choice(hello, make):
    """Section 5, 16 and 31: a list of priorities was shown the other way round."""
    registry = make("zeta", "beta", ("alpha", "cuda"))
    found = route(hello, registry=registry, device="cuda,cpu")
    assert [one.backend for one in found.candidates] == ["alpha", "zeta", "beta"]
    shown = [line.split()[0] for line in str(found).splitlines()[1:]]
    assert [found.backend, *shown] == ["alpha", "zeta", "beta"]


@pytest.mark.parametrize("text", ["0", "false", "False", "no", "OFF"])
def test_a_flag_that_says_no_means_no(text):
    """Section 4, 6: any text that was not empty counted as yes, `0` and `False` too."""
    setting = environment({"RLX_CONFIG_ONLY": text}).get("RLX_CONFIG_ONLY")
    assert setting.value is False


def test_a_variable_may_name_what_is_registered_later(hello, make, monkeypatch):
    """Section 4, 8: variables were read before the names in them existed, and refused."""
    monkeypatch.setenv("RLX_PRECEDENCE", "later")
    before = make("first")
    with pytest.raises(SettingError):
        route(hello, registry=before)
    added = testing.registration("later", rank=9, coverage=testing.covering(hello))
    after = before.with_backend(added)
    assert route(hello, registry=after).backend == "later"


def test_blanks_around_names_in_a_list_are_no_part_of_them():
    """Section 4, 13: `a, b` was warned of as ignored, and then taken with the blank."""
    found = environment({"RLX_PRECEDENCE": "one, two"}).get("RLX_PRECEDENCE")
    assert found.value == ("one", "two")


def test_a_name_in_a_list_that_nobody_has_is_an_error_that_names_it(hello, make, monkeypatch):
    """Section 4, 13: a made-up name took its place in the order without a word."""
    monkeypatch.setenv("RLX_PRECEDENCE", "frist")
    with pytest.raises(SettingError) as caught:
        route(hello, registry=make("first"))
    assert str(caught.value) == (
        "RLX_PRECEDENCE: no backend is named 'frist'. Fix: did you mean first?"
    )


def test_a_low_rank_wins_nothing_that_is_not_claimed(hello, make):
    """Section 5, 98 and 100: a device got work because it wanted it, not because it could."""
    eager = testing.registration("eager", rank=0)
    registry = make("first").with_backend(eager)
    found = route(hello, registry=registry)
    assert found.backend == "first"
    assert [reason.code for reason in found.candidates[0].reasons] == ["coverage"]
