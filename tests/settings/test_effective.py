"""What holds, where it was said, and what lost: the rows of `rlx env`."""

import rlx
from rlx.origin import Origin
from rlx.registration import Setting
from rlx.settings import VARIABLES, effective

FILE = Origin("rlx.yaml", 3, 11, "project")


def row(registry, name):
    one = next(one for one in effective(registry) if one.name == name)
    return one.value, str(one.source), [(value, str(origin)) for value, origin in one.losers]


def test_every_variable_has_a_row_and_unset_ones_their_default(registry):
    rows = {one.name: one.value for one in effective(registry)}
    assert list(rows) == [variable.name for variable in VARIABLES]
    assert row(registry, "RLX_DEVICE") == ("unset", "default", [])
    assert row(registry, "RLX_LOG") == ("warning", "default", [])


def test_the_winner_comes_with_those_that_lost(make_registry, monkeypatch):
    registry = make_registry(device=Setting("cpu", FILE))
    monkeypatch.setenv("RLX_DEVICE", "cuda:1,cpu")
    with rlx.use("cuda"):
        assert row(registry, "RLX_DEVICE") == (
            "cuda",
            "rlx.use(...)",
            [("cuda:1,cpu", "RLX_DEVICE"), ("cpu", "rlx.yaml:3:11")],
        )


def test_what_the_winner_does_not_name_and_nobody_lost_is_unset(registry, monkeypatch):
    monkeypatch.setenv("RLX_DEVICE", "cpu")
    assert row(registry, "RLX_BACKEND") == ("unset", "default", [])


def test_a_backend_replaces_the_device_of_a_weaker_source(make_registry, monkeypatch):
    registry = make_registry(device=Setting("cuda", FILE))
    monkeypatch.setenv("RLX_BACKEND", "numpy")
    assert row(registry, "RLX_BACKEND") == ("numpy", "RLX_BACKEND", [])
    lost = [("cuda", "rlx.yaml:3:11")]
    assert row(registry, "RLX_DEVICE") == ("unset", "RLX_BACKEND", lost)


def test_kernel_dispatch_of_a_file_loses_to_the_variable(make_registry, monkeypatch):
    registry = make_registry(kernel_dispatch=Setting("common", FILE))
    monkeypatch.setenv("RLX_KERNEL_DISPATCH", "native")
    lost = [("common", "rlx.yaml:3:11")]
    assert row(registry, "RLX_KERNEL_DISPATCH") == ("native", "RLX_KERNEL_DISPATCH", lost)


def test_a_row_is_plain_data_too(registry, monkeypatch):
    monkeypatch.setenv("RLX_DISPATCH_REPORT", "yes")
    rows = [one.to_json() for one in effective(registry)]
    expected = {"name": "RLX_DISPATCH_REPORT", "value": "1", "source": "RLX_DISPATCH_REPORT"}
    assert {**expected, "losers": []} in rows
