"""Rows that a coverage file takes over from another, without a copy of the text."""

import shutil

import pytest

from rlx import resources
from rlx.errors import ConfigError
from rlx.freeze import __main__ as command
from rlx.freeze import compiled, vocabulary
from rlx.registries import Registry, freeze

BACKENDS = """\
apiVersion: rlx/v1
kind: Backends
devices: [{id: cpu, name: CPU}, {id: cuda, name: CUDA}]
backends:
  - {id: first, device: cpu, rank: 1, dispatches: true, factory: "a.b:open", coverage: c/first.yaml}
  - {id: twin, device: cuda, rank: 2, dispatches: true, factory: "a.b:open", coverage: c/twin.yaml}
"""
HEAD = "apiVersion: rlx/v1\nkind: Coverage\n"
FIRST = HEAD + (
    "evidence: {kind: measured, engine: a 1}\n"
    "rows:\n"
    "  - {operations: [Add, Mul], types: {T: [float32]}}\n"
    "  - {operations: [Elu], types: {T: [float32]}}\n"
)
TWIN = HEAD + (
    "evidence: {kind: inherited, backend: first}\n"
    "inherits: first.yaml\n"
    "without: [Mul, Elu]\n"
    "rows:\n"
    "  - {operations: [Relu], types: {T: [float32]}}\n"
)


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """A packaged folder with a backend, and a twin that inherits from it."""
    (tmp_path / "c").mkdir()
    for name, text in (
        ("backends.yaml", BACKENDS),
        ("c/first.yaml", FIRST),
        ("c/twin.yaml", TWIN),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in (vocabulary.SOURCE, vocabulary.COMPILED):
        shutil.copy(resources.configs() / name, tmp_path)
    monkeypatch.setattr(resources, "configs", lambda: tmp_path)
    return tmp_path


def claimed(backend):
    """The operations of each row of a backend."""
    return [row.operations for row in Registry.load(only=True).get(backend).coverage.rows]


def faults(packaged, **files):
    """What is wrong once the files of these names have these texts."""
    for name, text in files.items():
        (packaged / "c" / f"{name}.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        Registry.load(only=True)
    return "\n".join(map(str, raised.value.faults))


def test_inherited_rows_are_claimed_beside_a_file_s_own(packaged):
    assert claimed("first") == [("Add", "Mul"), ("Elu",)]
    assert claimed("twin") == [("Add",), ("Relu",)]


def test_an_inherited_row_keeps_its_place_and_the_evidence_says_where_it_is_from(packaged):
    twin = Registry.load(only=True).get("twin")
    assert [str(row.origin) for row in twin.coverage.rows] == [
        "packaged c/first.yaml:5:5",
        "packaged c/twin.yaml:7:5",
    ]
    assert (twin.coverage.evidence, twin.coverage.inherited_from) == ("inherited", "first")


def test_compiled_rows_that_two_backends_claim_are_one_object(packaged):
    (packaged / "c" / "twin.yaml").write_text(TWIN.replace("without: [Mul, Elu]\n", ""))
    plain = Registry.load(only=True)
    assert command.main(["--write"]) == 0
    assert "packaged c/first.yaml" in compiled.read(packaged).sources
    registry = Registry.load(only=True)
    assert registry.digest == plain.digest
    first, twin = (registry.get(name).coverage.rows for name in ("first", "twin"))
    assert [row.operations for row in twin] == [("Add", "Mul"), ("Elu",), ("Relu",)]
    assert all(one is other for one, other in zip(first, twin, strict=False))


def test_a_change_of_the_inherited_file_makes_the_compiled_layer_stale(packaged):
    assert command.main(["--write"]) == 0
    (packaged / "c" / "first.yaml").write_text(FIRST.replace("Add, Mul", "Add, Sub"))
    assert compiled.read(packaged) is None
    assert claimed("twin") == [("Add", "Sub"), ("Relu",)]


def test_rows_are_inherited_through_three_files_and_no_more(packaged):
    files = {
        f"f{n}": TWIN.replace("first.yaml", f"f{n + 1}.yaml").replace("[Relu]", f"[{name}]")
        for n, name in enumerate(("Abs", "Neg", "Exp"))
    }
    files["f2"] = files["f2"].replace("f3.yaml", "first.yaml")
    for name, text in files.items():
        (packaged / "c" / f"{name}.yaml").write_text(text, encoding="utf-8")
    twin = TWIN.replace("first.yaml", "f1.yaml")
    (packaged / "c" / "twin.yaml").write_text(twin, encoding="utf-8")
    assert claimed("twin") == [("Add",), ("Exp",), ("Neg",), ("Relu",)]
    assert faults(packaged, twin=TWIN.replace("first.yaml", "f0.yaml")) == (
        "packaged c/f2.yaml:4:11: rows are inherited through more than 3 files. "
        "Fix: name a file further up the chain."
    )


def test_a_circle_of_files_is_refused_where_it_closes(packaged):
    circle = TWIN.replace("first.yaml", "twin.yaml")
    assert faults(packaged, first=circle.replace("backend: first", "backend: twin")) == (
        "packaged c/twin.yaml:4:11: 'first.yaml' leads back to itself: its rows are inherited in a "
        "circle. Fix: write the rows of one of them out.\n"
        "packaged c/first.yaml:4:11: 'twin.yaml' leads back to itself: its rows are inherited in a "
        "circle. Fix: write the rows of one of them out."
    )


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (
            ("kind: inherited, backend: first", "kind: measured"),
            "packaged c/twin.yaml:3:18: rows are inherited, and the evidence is measured. "
            "Fix: write kind: inherited, and backend: ID.",
        ),
        (
            ("[Mul, Elu]", "[Mull]"),
            "packaged c/twin.yaml:5:11: unknown operation 'Mull'. Fix: did you mean 'Mul'?",
        ),
        (
            ("[Mul, Elu]", "[Mul, Mul]"),
            "packaged c/twin.yaml:5:16: without lists 'Mul' twice, first at "
            "packaged c/twin.yaml:5:11. Fix: delete one of them.",
        ),
        (
            ("inherits: first.yaml", "inherits: ../first.yaml"),
            "packaged c/twin.yaml:4:11: inherits must be a path below this file's folder, got "
            "'../first.yaml'. Fix: write it as 'coverage/name.yaml'.",
        ),
        (
            ("inherits: first.yaml", "inherits: gone.yaml"),
            "packaged c/twin.yaml:4:11: the coverage file 'gone.yaml' is not there. "
            "Fix: correct the path, or write the file.",
        ),
        (
            ("[Relu]", "[Add]"),
            "packaged c/twin.yaml:7:5: coverage claims Add twice with the same conditions, first "
            "at packaged c/first.yaml:5:5. Fix: delete one of the two.",
        ),
    ],
)
def test_what_is_wrong_with_inheriting_is_said_where_it_is_written(packaged, changed, expected):
    assert faults(packaged, twin=TWIN.replace(*changed)) == expected


OVERRIDE = """\
apiVersion: rlx/v1
kind: Backends
overrides:
  - {id: first, coverage: {rows: [{operations: [Neg], types: {T: [float32]}}]}}
"""


def test_an_override_replaces_all_that_is_claimed_and_remembers_what_was(packaged, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(OVERRIDE, encoding="utf-8")
    one = Registry.load([own], only=True).get("first")
    assert [row.operations for row in one.coverage.rows] == [("Neg",)]
    assert [str(setting.value) for setting in one.settings("coverage")] == [
        "c/first.yaml",
        "1 rows",
    ]
    assert str(one.source("coverage")).endswith("own.yaml:4:27")


def test_a_project_file_that_nobody_trusts_may_not_change_what_is_claimed(packaged, manifest):
    text = OVERRIDE.partition("kind: Backends\n")[2]
    made = manifest(text, layer="project", trusted=False)
    with pytest.raises(ConfigError) as raised:
        freeze([made], base=Registry.load(only=True))
    assert str(raised.value.faults[0]) == (
        "backends.yaml:4:17: overriding coverage of 'first' is refused until this file is trusted. "
        "Fix: read it, then run `rlx trust backends.yaml`; or name it, by RLX_CONFIG or --config."
    )


def test_dtypes_are_left_out_of_what_is_inherited(packaged):
    rows = (
        "rows:\n"
        "  - {operations: [Add], types: {T: [float32, float64]}}\n"
        "  - {operations: [Mul], types: {T: [float64]}}\n"
        "  - {operations: [SequenceLength], types: {S: [seq(float64), seq(int8)]}}\n"
    )
    (packaged / "c/first.yaml").write_text(HEAD + "evidence: {kind: declared}\n" + rows)
    twin = HEAD + "evidence: {kind: inherited, backend: first}\ninherits: first.yaml\nrows: []\n"
    (packaged / "c/twin.yaml").write_text(twin + "without_dtypes: [float64]\n")
    found = Registry.load(only=True).get("twin").coverage.rows
    assert [(row.operations, row.types) for row in found] == [
        (("Add",), (("T", ("float32",)),)),
        (("SequenceLength",), (("S", ("seq(int8)",)),)),
    ]


def test_dtypes_that_are_left_out_are_known_ones_and_named_once(packaged):
    twin = TWIN.replace("without: [Mul, Elu]", "without_dtypes: [flaot64, bool, bool, seq(bool)]")
    assert faults(packaged, twin=twin) == (
        "packaged c/twin.yaml:5:18: unknown dtype 'flaot64'. Fix: did you mean 'float64'?\n"
        "packaged c/twin.yaml:5:33: without_dtypes lists 'bool' twice, first at packaged "
        "c/twin.yaml:5:27. Fix: delete one of them.\n"
        "packaged c/twin.yaml:5:39: unknown dtype 'seq(bool)'. "
        "Fix: name a dtype by its name in ONNX."
    )


def test_dtypes_are_left_out_only_where_rows_are_inherited(packaged):
    first = FIRST + "without_dtypes: [bool]\n"
    assert faults(packaged, first=first).startswith(
        "packaged c/first.yaml:7:1: without_dtypes leaves dtypes out, but no rows are inherited. "
        "Fix: delete it, or name the file with inherits: FILE."
    )
