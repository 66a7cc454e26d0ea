"""Registrations made in code: every field, down to the last item, has its type and its meaning."""

import dataclasses

import pytest

from rlx.errors import ConfigError
from rlx.origin import Origin
from rlx.registration import Coverage, Probe, Registration, Row

MINE = Registration("mine", "cpu", "mine")
T = (("T", ("float32",)),)


def add(**changes):
    return {"coverage": Coverage((dataclasses.replace(Row(("Add",), T), **changes),))}


def probe(**changes):
    return {"probes": (dataclasses.replace(Probe("call", ("a:b",)), **changes),)}


def refusal(base, changes):
    with pytest.raises(ConfigError) as caught:
        base.with_backend(dataclasses.replace(MINE, **changes))
    return str(caught.value).removeprefix("registration of 'mine': ")


@pytest.mark.parametrize(
    ("changes", "where", "wanted", "got"),
    [
        ({"coverage": Coverage((1,))}, "coverage.rows", "tuple of Row", "1"),
        ({"coverage": Coverage(evidence=1)}, "coverage.evidence", "str", "1"),
        ({"coverage": Coverage(inherited_from=1)}, "coverage.inherited_from", "str or None", "1"),
        ({"coverage": None}, "coverage", "Coverage", "null"),
        ({"compiles": 1}, "compiles", "Coverage or None", "1"),
        (add(operations="Add"), "coverage.rows[0].operations", "tuple of str", "'Add'"),
        (add(operations=(1,)), "coverage.rows[0].operations", "tuple of str", "1"),
        (add(types=(1,)), "coverage.rows[0].types", "tuple of (str, tuple of str)", "1"),
        (add(types=(("T", (1,)),)), "coverage.rows[0].types", "tuple of (str, tuple of str)",
         "['T', [1]]"),
        (add(attributes=(("mode", "edge"),)), "coverage.rows[0].attributes",
         "tuple of (str, tuple of any value)", "['mode', 'edge']"),
        (add(ndim=(1,)), "coverage.rows[0].ndim", "(int, int or None) or None", "[1]"),
        (add(ndim=(True, 1)), "coverage.rows[0].ndim", "(int, int or None) or None", "[true, 1]"),
        (add(origin=None), "coverage.rows[0].origin", "Origin", "null"),
        (probe(values="a:b"), "probes[0].values", "tuple of str", "'a:b'"),
        (probe(values=(1,)), "probes[0].values", "tuple of str", "1"),
        (probe(kind=1), "probes[0].kind", "str", "1"),
        (probe(timeout="10"), "probes[0].timeout", "float", "'10'"),
        (probe(timeout=True), "probes[0].timeout", "float", "true"),
        (probe(trusted="no"), "probes[0].trusted", "bool", "'no'"),
        ({"probes": (None,)}, "probes", "tuple of Probe", "null"),
        ({"options": (("a",),)}, "options", "tuple of (str, any value)", "['a']"),
        ({"options": ((1, 2),)}, "options", "tuple of (str, any value)", "[1, 2]"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused_with_its_place(base, changes, where, wanted, got):
    assert refusal(base, changes) == (
        f"{where} must be {wanted}, got {got}. Fix: give a value of that type."
    )


KIND = ' Fix: write one kind, such as {module: numpy, version: ">=2"}.'
EVIDENCE = " Fix: write one of measured, inherited, declared; a backend belongs to inherited, and"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": (("a", 1), ("a", 2))},
         "options lists 'a' twice, first at registration of 'mine'. Fix: delete one of them."),
        (add(ndim=(-1, None)), "ndim has a min of -1, and a tensor has at least 0 dimensions."
                               " Fix: write 0 or more."),
        ({"coverage": Coverage(evidence="guessed")},
         f"evidence is 'guessed', inherited_from is null.{EVIDENCE} only there."),
        ({"coverage": Coverage(evidence="inherited")},
         f"evidence is 'inherited', inherited_from is null.{EVIDENCE} only there."),
        ({"coverage": Coverage(inherited_from="numpy")},
         f"evidence is 'declared', inherited_from is 'numpy'.{EVIDENCE} only there."),
        (probe(kind="library", values=("",)), f"a library probe's value is a name, got ''.{KIND}"),
        (probe(kind="path", values=("/x\0",)),
         f"a path probe's value is a name, got '/x\\x00'.{KIND}"),
    ],
)  # fmt: skip
def test_what_yaml_cannot_say_code_cannot_say_either(base, changes, message):
    assert refusal(base, changes) == message


def test_every_wrong_value_is_reported_at_once(base):
    row = Row((1,), T, ndim=(1,))
    with pytest.raises(ConfigError) as caught:
        base.with_backend(dataclasses.replace(MINE, coverage=Coverage((row,)), enabled="yes"))
    assert [fault.message.partition(" must")[0] for fault in caught.value.faults] == [
        "coverage.rows[0].ndim",
        "coverage.rows[0].operations",
        "enabled",
    ]


def test_an_integer_is_a_number_of_seconds(base):
    made = base.with_backend(dataclasses.replace(MINE, **probe(timeout=3, origin=Origin("x"))))
    assert made.get("mine").probes[0].timeout == 3
