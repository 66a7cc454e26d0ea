"""Edits in place: what the text was, and what it is afterwards, to the last character."""

import pytest

from rlx.errors import EditError
from rlx.manifest import parse, shape
from rlx.manifest.editing import Splice, applied, edit, place
from rlx.manifest.nodes import Document, Entry, Node

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"


def edited(text, backend="numpy", key="rank", value=5):
    document = parse(text.encode(), "f.yaml")
    shape.check(document)
    return edit(document, backend, key, value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # a value that is there
        ("overrides: [{id: numpy, rank: 10}]\n", "overrides: [{id: numpy, rank: 5}]\n"),
        (
            "overrides:\n- rank:   10 # x\n  id: numpy\n",
            "overrides:\n- rank:   5 # x\n  id: numpy\n",
        ),
        (
            'overrides:\n  - {\'id\': "numpy", "rank":10 }  # é ü\n',
            'overrides:\n  - {\'id\': "numpy", "rank":5 }  # é ü\n',
        ),
        ("overrides: [{rank: 0x10, id: numpy}]", "overrides: [{rank: 5, id: numpy}]"),
        (
            "overrides:\n- id: numpy\n  ? rank\n  : 10\n",
            "overrides:\n- id: numpy\n  ? rank\n  : 5\n",
        ),
        # a key more
        (
            "overrides: [{id: numpy, enabled: false}]",
            "overrides: [{id: numpy, rank: 5, enabled: false}]",
        ),
        (
            'overrides: [{"id":"numpy","enabled":false,}]',
            'overrides: [{"id":"numpy", "rank": 5,"enabled":false,}]',
        ),
        (
            "overrides:\n  - id: numpy   # ours\n    enabled: false\n",
            "overrides:\n  - id: numpy   # ours\n    rank: 5\n    enabled: false\n",
        ),
        (
            "overrides:\n  - enabled: false\n    id: numpy",
            "overrides:\n  - enabled: false\n    id: numpy\n    rank: 5",
        ),
        (
            "overrides:\r\n  -   'id': numpy\r\n      enabled: false\r\n",
            "overrides:\r\n  -   'id': numpy\r\n      'rank': 5\r\n      enabled: false\r\n",
        ),
        (
            "overrides:\n-\n  id: numpy\n  options: {a: '}'}\n\n\n# end\n",
            "overrides:\n-\n  id: numpy\n  rank: 5\n  options: {a: '}'}\n\n\n# end\n",
        ),
        (
            "overrides:\n- enabled: false\n  id: |-\n    numpy\n  install: |\n    a\n",
            "overrides:\n- rank: 5\n  enabled: false\n  id: |-\n    numpy\n  install: |\n    a\n",
        ),
        # an override more
        ("overrides: []\n", "overrides: [{id: numpy, rank: 5}]\n"),
        ("overrides: [ # none\n]\n", "overrides: [{id: numpy, rank: 5} # none\n]\n"),
        ('"overrides": []\n', '"overrides": [{"id": "numpy", "rank": 5}]\n'),
        (
            "overrides: [{id: a, rank: 1} ]\n",
            "overrides: [{id: a, rank: 1}, {id: numpy, rank: 5} ]\n",
        ),
        (
            "overrides: [{id: a, rank: 1},]\n",
            "overrides: [{id: a, rank: 1}, {id: numpy, rank: 5},]\n",
        ),
        (
            "overrides: [\n  {id: a, rank: 1}  # first\n]\n",
            "overrides: [\n  {id: a, rank: 1},  # first\n  {id: numpy, rank: 5}\n]\n",
        ),
        (
            "overrides: [\r\n  {id: a, rank: 1}, # first\r\n]\r\n",
            "overrides: [\r\n  {id: a, rank: 1}, # first\r\n  {id: numpy, rank: 5},\r\n]\r\n",
        ),
        (
            "overrides: [\n  {id: a, rank: 1}\n  , {id: b, rank: 1}\n  ,\n]\n",
            "overrides: [\n  {id: a, rank: 1}\n  , {id: b, rank: 1}, {id: numpy, rank: 5}\n"
            "  ,\n]\n",
        ),
        (
            "overrides:\n  - {id: a, rank: 1}  # first\n"
            "  # - {id: b, rank: 2}\n\n# end\nrouting: {}\n",
            "overrides:\n  - {id: a, rank: 1}  # first\n  - {id: numpy, rank: 5}\n"
            "  # - {id: b, rank: 2}\n\n# end\nrouting: {}\n",
        ),
        (
            "overrides:\n-   'id': 'a'\n    rank: 1",
            "overrides:\n-   'id': 'a'\n    rank: 1\n-   'id': 'numpy'\n    'rank': 5",
        ),
        (
            "overrides:\n- {id: a, options: {x: [1,\n  2]}}\n",
            "overrides:\n- {id: a, options: {x: [1,\n  2]}}\n- {id: numpy, rank: 5}\n",
        ),
        (
            "overrides:\n- id: a\n  install: |+\n    x\n\n# end\n",
            "overrides:\n- id: numpy\n  rank: 5\n- id: a\n  install: |+\n    x\n\n# end\n",
        ),
        (
            "overrides:\n- id: a\n  install: |-\n    x\n\nrouting: {}\n",
            "overrides:\n- id: a\n  install: |-\n    x\n- id: numpy\n  rank: 5\n\nrouting: {}\n",
        ),
        # no overrides yet
        ("", "\noverrides:\n  - {id: numpy, rank: 5}\n"),
        ("\n", "\noverrides:\n  - {id: numpy, rank: 5}\n"),
        ("# é", "# é\n\noverrides:\n  - {id: numpy, rank: 5}"),
        ("routing: {}\r\n", "routing: {}\r\n\r\noverrides:\r\n  - {id: numpy, rank: 5}\r\n"),
        (
            "routing:\n  device: cpu\n",
            "routing:\n  device: cpu\n\noverrides:\n  - {id: numpy, rank: 5}\n",
        ),
        # where it is registered
        (
            "backends:\n- id: numpy\n  device: cpu\n  rank: 10\noverrides: [{id: a, rank: 1}]\n",
            "backends:\n- id: numpy\n  device: cpu\n  rank: 5\noverrides: [{id: a, rank: 1}]\n",
        ),
        (
            "backends:\n  - id: numpy\n    coverage:\n    device: cpu\n",
            "backends:\n  - id: numpy\n    rank: 5\n    coverage:\n    device: cpu\n",
        ),
    ],
)
def test_a_rank_is_written_into_any_layout(before, after):
    assert edited(HEAD + before) == HEAD + after
    assert edited(HEAD + after) == HEAD + after


def test_the_section_goes_after_kind_where_nothing_may_follow():
    ends = f"{HEAD}routing: {{}}\n...\n"
    new = "overrides:\n  - {id: numpy, rank: 5}\n"
    assert edited(ends) == f"{HEAD}{new}routing: {{}}\n...\n"
    keeps = f"{HEAD}overrides: [{{id: a, rank: 1}}]\n"
    assert edited(keeps).startswith(HEAD)


def test_an_indented_manifest_keeps_its_indent():
    assert edited("  apiVersion: rlx/v1\n  kind: Backends\n") == (
        "  apiVersion: rlx/v1\n  kind: Backends\n\n  overrides:\n    - {id: numpy, rank: 5}\n"
    )


def test_a_manifest_in_braces_stays_json():
    assert edited('{"apiVersion": "rlx/v1", "kind": "Backends"}\n') == (
        '{"apiVersion": "rlx/v1", "kind": "Backends", "overrides": [{"id": "numpy", "rank": 5}]}\n'
    )


def test_lone_carriage_returns_end_lines_too():
    assert edited("apiVersion: rlx/v1\rkind: Backends\r") == (
        "apiVersion: rlx/v1\rkind: Backends\r\roverrides:\r  - {id: numpy, rank: 5}\r"
    )


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (False, "false")])
def test_a_switch_is_written_as_yaml_has_it(value, text):
    assert edited(f"{HEAD}overrides: []\n", key="enabled", value=value) == (
        f"{HEAD}overrides: [{{id: numpy, enabled: {text}}}]\n"
    )


@pytest.mark.parametrize("name", ["no", "on", "null", "y", "true"])
def test_an_id_that_yaml_would_not_read_as_text_is_quoted(name):
    assert edited(f"{HEAD}overrides: []\n", name) == (
        f'{HEAD}overrides: [{{id: "{name}", rank: 5}}]\n'
    )


def test_what_has_the_value_already_is_returned_as_it_is():
    text = f"{HEAD}overrides: [{{id: numpy, rank: 0x5, enabled: True}}]  # x"
    assert edited(text) == text
    assert edited(text, key="enabled", value=True) == text


def test_the_place_is_that_of_the_value():
    text = edited(f"{HEAD}overrides: [{{id: numpy, enabled: true}}, {{id: b, rank: 1}}]\n")
    assert str(place(parse(text.encode(), "f.yaml"), "numpy", "rank")) == "f.yaml:3:31"


def test_splices_are_offsets_of_the_text_before():
    assert applied("abc", (Splice(1, 2, "xyz"), Splice(0, 0, "<"), Splice(3, 3, ">"))) == "<axyzc>"


def test_a_layout_that_no_way_fits_is_refused():
    node = Node("numpy", 1, 1, 0, 1)
    item = Node({"id": Entry(1, 1, node), "rank": Entry(1, 1, Node(1, 1, 1, 0, 0))}, 1, 1, 0, 0)
    root = Node({"overrides": Entry(1, 1, Node((item,), 1, 1, 0, 0))}, 1, 1, 0, 0)
    with pytest.raises(EditError) as caught:
        edit(Document("f.yaml", "", "[", root), "numpy", "rank", 5)
    assert str(caught.value) == (
        "f.yaml:1:1: rank of numpy can't be written into the layout of this file. "
        "Fix: write it yourself, under overrides: {id: numpy, rank: 5}."
    )
