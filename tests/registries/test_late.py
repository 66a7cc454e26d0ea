"""`with_backend`: registrations made in code pass the rules that YAML passes."""

import dataclasses

import pytest

from rlx.errors import ConfigError, DuplicateBackend
from rlx.origin import Origin
from rlx.registration import LAST_RANK, Coverage, Probe, Registration, Row

MINE = Registration("mine", "cpu", "mine", rank=5, options=(("b", 1), ("a", 2)))
WHERE = "registration of 'mine': "


def test_a_new_registry_has_the_backend_and_the_old_one_has_not(base):
    registry = base.with_backend(MINE)
    assert registry.registrations[0].id == "mine"
    assert base.get("mine") is None
    assert registry.digest != base.digest


def test_its_values_come_from_code(base):
    one = base.with_backend(MINE).get("mine")
    assert one.origin == Origin("registration of 'mine'", layer="code")
    assert one.options == (("a", 2), ("b", 1))
    assert [(s.value, s.origin.layer) for s in one.settings("rank")] == [(5, "code")]
    assert one.settings("enabled") == ()


def test_a_taken_id_is_refused_without_replace(base):
    with pytest.raises(DuplicateBackend) as caught:
        base.with_backend(Registration("numpy", "cpu", "numpy"))
    assert str(caught.value) == (
        "backend 'numpy' is already registered, at base.yaml:20:5."
        " Fix: choose another id, or pass replace=True."
    )


def test_replace_takes_the_place_and_remembers_the_old_value(base):
    changed = dataclasses.replace(base.get("numpy"), rank=1)
    one = base.with_backend(changed, replace=True).get("numpy")
    assert [(s.value, s.origin.layer) for s in one.settings("rank")] == [
        (200, "packaged"),
        (1, "code"),
    ]
    assert str(one.source("factory")) == "base.yaml:24:14"


def test_registering_the_same_content_again_changes_no_digest(base):
    assert base.with_backend(base.get("numpy"), replace=True).digest == base.digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rank": -1}, "rank must be an integer from 0 to 4294967295, got -1."
                       " Fix: write a number, such as 10."),
        ({"rank": 2**32}, "rank must be an integer from 0 to 4294967295, got 4294967296."
                          " Fix: write a number, such as 10."),
        ({"rank": True}, "rank must be an integer from 0 to 4294967295, got true."
                         " Fix: write a number, such as 10."),
        ({"rank": 1.0}, "rank must be an integer from 0 to 4294967295, got 1.0."
                        " Fix: write a number, such as 10."),
        ({"device": "metall"}, "unknown device 'metall'. Fix: did you mean 'metal'?"),
        ({"target": ""}, "target must be words of a-z and 0-9 joined by '-', letter first,"
                         " got ''. Fix: write my-name."),
        ({"id": ["x"]}, "id must be str, got ['x']. Fix: give a value of that type."),
        ({"target": "numpy"}, "target 'numpy' of mine is already provided by numpy,"
                              " at base.yaml:20:5. Fix: give mine a target of its own."),
        ({"capabilities": ("fast",)}, "unknown capability 'fast'."
                                      " Fix: write one of: deterministic, strings."),
        ({"dispatches": True}, "'mine' dispatches, but has no factory that opens it."
                               ' Fix: add factory: "package.module:function",'
                               " or delete dispatches."),
        ({"factory": "open"}, "factory must be module:attribute, in dotted ASCII identifiers,"
                              " got 'open'. Fix: write it as \"package.module:function\"."),
        ({"coverage": Coverage((Row(("Ad",)),))}, "unknown operation 'Ad'."
                                                  " Fix: did you mean 'Add'?"),
        ({"probes": (Probe("call", ("a:b",), timeout=float("inf")),)},
         "timeout must be a finite number of seconds above 0, got inf."
         " Fix: write seconds, such as 10."),
        ({"probes": (Probe("guess", ("a",)),)},
         "a probe's kind is one of platform, module, library, path and call, got 'guess'."
         ' Fix: write one kind, such as {module: numpy, version: ">=2"}.'),
        ({"probes": (Probe("module", ()),)},
         "a module probe has one value, got 0."
         ' Fix: write one kind, such as {module: numpy, version: ">=2"}.'),
        ({"capabilities": "strings"}, "capabilities must be tuple of str, got 'strings'."
                                      " Fix: give a value of that type."),
        ({"capabilities": (1,)}, "capabilities must be tuple of str, got 1."
                                 " Fix: give a value of that type."),
        ({"factory": print}, f"factory must be str or None, got {print!r}."
                             " Fix: give a value of that type."),
        ({"enabled": 1}, "enabled must be bool, got 1. Fix: give a value of that type."),
        ({"options": (("a", [1]),)}, "options holds a value that can change: (('a', [1]),)."
                                     " Fix: use tuples, scalars and rlx's frozen records."),
    ],
)  # fmt: skip
def test_a_broken_rule_is_refused(base, changes, message):
    with pytest.raises(ConfigError) as caught:
        base.with_backend(dataclasses.replace(MINE, **changes))
    where = WHERE if "id" not in changes else "registration of ['x']: "
    assert str(caught.value) == where + message


def test_every_fault_is_reported_at_once(base):
    with pytest.raises(ConfigError) as caught:
        base.with_backend(Registration("Mine", "nowhere", "mine", rank=-1, factory="x"))
    assert [fault.code for fault in caught.value.faults] == [
        "identity",
        "entry-point",
        "rank-range",
        "unknown-device",
    ]


def test_claims_get_the_form_that_yaml_gives_them(base):
    row = Row(("ai.onnx::Elu",), (("T", ("float32",)),), (("alpha", (1,)),))
    one = base.with_backend(dataclasses.replace(MINE, coverage=Coverage((row,)))).get("mine")
    assert one.coverage.rows[0].operations == ("Elu",)
    assert one.coverage.rows[0].attributes == (("alpha", (1.0,)),)


def test_ids_that_nobody_registered_have_defaults(base):
    assert (base.rank("nobody"), base.dispatches("nobody")) == (LAST_RANK, False)
    assert base.get("nobody") is None
