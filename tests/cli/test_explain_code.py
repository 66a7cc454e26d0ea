"""`rlx explain-code`: what a code means, as text and as JSON, and what of an unknown one."""

import re

from rlx.catalogue import KINDS, entries


def test_a_code_is_explained_with_an_example_and_a_fix(rlx):
    assert (
        rlx("explain-code", "ndim-order").out
        == """\
ndim-order (rule)
  An ndim bound has a min above its max, or below 0.
  Fix: Write a min from 0 up to max.

  Example:
    apiVersion: rlx/v1
    kind: Backends
    backends:
      - id: mine
        device: cpu
        coverage:
          rows:
            - {operations: [Add], types: {T: [float32]}, ndim: {min: 5, max: 2}}

    backends.yaml:8:60: ndim has a min of 5 above its max of 2. Fix: swap the two.
"""
    )


def test_a_code_of_two_kinds_is_explained_twice(rlx):
    out = rlx("explain-code", "unknown-device").out
    assert re.findall(r"^\S.*", out, re.MULTILINE) == [
        "unknown-device (error)",
        "unknown-device (rule)",
    ]


def test_an_exit_code_is_a_code(rlx):
    assert rlx("explain-code", "3").out.startswith("3 (exit)\n  No backend.\n")


def test_without_a_code_all_are_listed_by_kind(rlx):
    out = rlx("explain-code").out
    heads = re.findall(r"^(\w+): ", out, re.MULTILINE)
    assert heads == list(KINDS)
    assert len(re.findall(r"^  \S", out, re.MULTILINE)) == len(entries())


def test_json_has_the_same(rlx):
    (one,) = rlx("explain-code", "ndim-order", "--json").json["codes"]
    assert (one["kind"], one["fix"]) == ("rule", "Write a min from 0 up to max.")
    assert one["example"]["language"] == "yaml"
    assert len(rlx("explain-code", "--json").json["codes"]) == len(entries())


def test_an_unknown_code_is_refused_with_the_nearest(rlx):
    done = rlx("explain-code", "not_requestd")
    assert done.code == 2
    assert done.err == (
        "Usage: rlx explain-code [OPTIONS] [CODE]\n\n"
        "rlx: no code 'not_requestd'. Fix: did you mean 'not-requested'?\n"
    )


def test_an_unknown_code_like_no_other_is_refused(rlx):
    done = rlx("explain-code", "zzz", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "usage")
    assert done.json["error"]["message"] == "no code 'zzz'"
    assert done.json["error"]["fix"] == "run `rlx explain-code` for the list."
