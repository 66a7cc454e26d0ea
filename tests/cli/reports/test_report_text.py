"""`rlx validate` as text: whole messages, with what stands at their places."""

import pytest

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"


def test_a_fault_shows_its_line_and_where_in_it(rlx, manifest):
    manifest("overrides:\n  - {id: numpy, rnak: 10}", "a.yaml")
    done = rlx("validate", "a.yaml")
    assert done.code == 1
    assert done.out == (
        "a.yaml:4:17: unknown key 'rnak'. Fix: did you mean 'rank'?\n"
        "  4 |   - {id: numpy, rnak: 10}\n"
        "    |                 ^^^^\n"
        "1 file checked: 1 error\n"
    )


def test_a_conflict_shows_both_of_its_places(rlx, manifest):
    manifest(
        "devices:\n  - {id: npu, name: NPU}\n"
        "backends:\n  - id: one\n    device: npu\n    target: same\n"
        "\n\n  - {id: two, device: npu, target: same}",
        "a.yaml",
    )
    assert rlx("validate", "a.yaml").out == (
        "a.yaml:11:36: target 'same' of two is already provided by one, at a.yaml:8:13. "
        "Fix: give two a target of its own.\n"
        "  11 |   - {id: two, device: npu, target: same}\n"
        "     |                                    ^^^^\n"
        "  a.yaml:8:13\n"
        "   8 |     target: same\n"
        "     |             ^^^^\n"
        "1 file checked: 1 error\n"
    )


def test_a_place_in_the_packaged_layer_is_shown_as_well(rlx, manifest):
    manifest("backends:\n  - id: numpy\n    device: cpu", "a.yaml")
    lines = rlx("validate", "a.yaml").out.splitlines()
    assert lines[0].startswith(
        "a.yaml:4:9: backend 'numpy' is already registered, at packaged backends.yaml:"
    )
    assert lines[1:3] == ["   4 |   - id: numpy", "     |         ^^^^^"]
    assert lines[3].startswith("  packaged backends.yaml:")
    assert lines[4].endswith(" |   - id: numpy")
    assert lines[5] == "     |     ^^"


def test_a_file_that_is_not_there_has_no_excerpt(rlx):
    assert rlx("validate", "absent.yaml").out == (
        "absent.yaml: the file is not there. Fix: correct the path.\n1 file checked: 1 error\n"
    )


def test_a_byte_that_is_not_utf8_is_shown_as_one(rlx, tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"apiVersion: rlx/v1\nkind: \xff\n")
    assert rlx("validate", "a.yaml").out == (
        "a.yaml:2:7: the file must be UTF-8, got byte 0xff. Fix: save it as UTF-8.\n"
        "  2 | kind: \\xff\n"
        "    |       ^^^^\n"
        "1 file checked: 1 error\n"
    )


def test_a_control_character_never_reaches_the_console(rlx, tmp_path):
    (tmp_path / "a.yaml").write_bytes(HEAD.encode() + b"routing: {device: \x1b[31mcpu}\n")
    assert rlx("validate", "a.yaml").out == (
        "a.yaml:3:19: control characters are not allowed, got U+001B. Fix: remove it.\n"
        "  3 | routing: {device: \\x1b[31mcpu}\n"
        "    |                   ^^^^\n"
        "1 file checked: 1 error\n"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_the_file_ends_them(rlx, tmp_path, end):
    text = "\ufeff" + (HEAD + "# é\noverrides: [{id: numpy, rank: high}]\n").replace("\n", end)
    (tmp_path / "a.yaml").write_bytes(text.encode())
    assert rlx("validate", "a.yaml").out.splitlines()[1:3] == [
        "  4 | overrides: [{id: numpy, rank: high}]",
        "    |                               ^^^^",
    ]


def test_a_warning_says_that_it_is_one_and_strict_makes_it_an_error(rlx, manifest):
    manifest("overrides: [{id: numpy, rank: 100}]", "a.yaml")
    done = rlx("validate", "a.yaml")
    message = "Fix: give each a rank of its own."
    assert done.code == 0
    assert f"{message} (warning)\n" in done.out
    assert done.out.endswith("1 file checked: 1 warning\n")
    strict = rlx("validate", "--strict", "a.yaml")
    assert strict.code == 1
    assert f"{message}\n" in strict.out
    assert strict.out.endswith("1 file checked: 1 error\n")


def test_a_coverage_file_is_shown_where_its_fault_is(rlx, manifest, tmp_path):
    manifest("backends: [{id: mine, device: cpu, coverage: c.yaml}]", "a.yaml")
    (tmp_path / "c.yaml").write_text(
        "apiVersion: rlx/v1\nkind: Coverage\nbackend: mine\nrows: 3\n", encoding="utf-8"
    )
    out = rlx("validate", "a.yaml").out
    assert "c.yaml:4:7: rows must be" in out
    assert "  4 | rows: 3\n    |       ^\n" in out
