"""`rlx backends`, `devices`, `env`, `schema`, `init`, `validate`: what they print."""

import json

import pytest

from tests.cli.conftest import PROJECT


def test_backends_are_listed_in_the_order_in_which_they_are_tried(rlx):
    ids = [one["id"] for one in rlx("backends", "--json").json["backends"]]
    assert ids == ["onnxruntime-cpu", "numpy", "reference"]
    lines = rlx("backends").out.splitlines()
    assert [line.split()[1] for line in lines] == ["backend", *ids]


def test_why_shows_a_rank_with_both_of_its_places(rlx, manifest):
    manifest("overrides:\n  - {id: numpy, rank: 5}")
    out = rlx("backends", "--why", "numpy").out
    assert "5 (backends.yaml:4:23; was 200, packaged backends.yaml:" in out


def test_why_of_an_unknown_backend_lists_the_known(rlx):
    done = rlx("backends", "--why", "nunpy")
    assert done.code == 2
    assert done.err == (
        "no backend 'nunpy' is registered. Fix: choose one of: onnxruntime-cpu, numpy, reference.\n"
    )


def test_equal_ranks_are_a_warning_with_both_places(rlx, manifest):
    manifest("overrides: [{id: numpy, rank: 100}]")
    warnings = rlx("backends", "--json").json["warnings"]
    assert [one["severity"] for one in warnings] == ["warning"]
    assert rlx("validate").code == 0
    assert rlx("validate", "--strict").code == 1


def test_devices_lists_all_sixteen_with_what_can_use_them(rlx):
    document = rlx("devices", "--json").json
    assert len(document["devices"]) == 16
    facts = {one["backend"]: one["available"] for one in document["facts"]}
    assert facts["numpy"] is True
    out = rlx("devices").out
    assert "metal (mtl)" in out
    assert "no backend is registered for it" in out


def test_a_facts_file_decides_for_another_machine(rlx, tmp_path):
    document = rlx("devices", "--json").json
    for one in document["facts"]:
        if one["backend"] == "onnxruntime-cpu":
            one.update(available=False, reason="it is not there", fix=None)
    (tmp_path / "facts.json").write_text(json.dumps(document), encoding="utf-8")
    program = str(PROJECT / "examples" / "mlp.onnxtxt")
    route = rlx("explain", program, "--facts", "facts.json", "--json").json
    assert route["backend"] == "numpy"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"facts": [{}]}', '{"facts": 3}', "[" * 9999])
def test_what_is_no_facts_file_is_refused(rlx, tmp_path, text):
    (tmp_path / "facts.json").write_text(text, encoding="utf-8")
    done = rlx("explain", str(PROJECT / "examples" / "mlp.onnxtxt"), "--facts", "facts.json")
    assert done.code == 2
    assert "facts.json is not a facts file: " in done.err


def test_env_shows_the_winner_and_what_it_overrode(rlx, monkeypatch, manifest):
    manifest("routing: {device: cuda}")
    monkeypatch.setenv("RLX_DEVICE", "cpu")
    rows = {one["name"]: one for one in rlx("env", "--json").json["settings"]}
    assert rows["RLX_DEVICE"] == {
        "name": "RLX_DEVICE",
        "value": "cpu",
        "source": "RLX_DEVICE",
        "losers": [{"value": "cuda", "source": "backends.yaml:3:19"}],
    }
    assert "over cuda (backends.yaml:3:19)" in rlx("env").out


def test_the_schemas_that_ship_are_up_to_date(rlx):
    done = rlx("schema", "--check")
    assert (done.code, done.err) == (0, "")


def test_a_stale_schema_is_found_and_written(rlx, tmp_path):
    assert rlx("schema", "--write", "--folder", "s").code == 0
    (tmp_path / "s" / "backends.schema.json").write_text("{}", encoding="utf-8")
    (tmp_path / "s" / "old.schema.json").write_text("{}", encoding="utf-8")
    done = rlx("schema", "--check", "--folder", "s")
    assert done.code == 1
    assert done.out == (
        "not up to date: backends.schema.json, old.schema.json. Fix: run `rlx schema --write`.\n"
    )
    assert rlx("schema", "--write", "--folder", "s").code == 0
    assert rlx("schema", "--check", "--folder", "s").code == 0


def test_init_writes_a_starter_that_validates_and_never_overwrites(rlx, shipped, tmp_path):
    assert rlx("init").code == 0
    assert rlx("validate", "--strict", "backends.yaml").out == "1 file checked: no faults\n"
    text = (tmp_path / "backends.yaml").read_bytes()
    done = rlx("init")
    assert done.code == 2
    assert "backends.yaml exists already. Fix: edit it, or name another file." in done.err
    assert (tmp_path / "backends.yaml").read_bytes() == text


def test_validate_shows_every_fault_of_every_file(rlx, manifest):
    manifest("overrides: [{id: numpy, rank: high}]", "a.yaml")
    manifest("backend: []", "b.yaml")
    done = rlx("validate", "a.yaml", "b.yaml")
    assert done.code == 1
    assert done.out.splitlines() == [
        "a.yaml:3:31: rank must be an integer from 0 to 4294967295, got 'high'. "
        "Fix: write a number, such as 5.",
        "  3 | overrides: [{id: numpy, rank: high}]",
        "    |                               ^^^^",
        "b.yaml:3:1: unknown key 'backend'. Fix: did you mean 'backends'?",
        "  3 | backend: []",
        "    | ^^^^^^^",
        "2 files checked: 2 errors",
    ]


def test_validate_judges_a_folder_and_the_configuration_that_ships(rlx, shipped):
    done = rlx("validate", str(shipped))
    assert done.out.endswith(" files checked: no faults\n")
    assert done.code == 0


def test_validate_as_json_has_places(rlx, manifest):
    manifest("overrides: [{id: nunpy}]", "a.yaml")
    (fault,) = rlx("validate", "a.yaml", "--json").json["faults"]
    assert (fault["path"], fault["line"], fault["column"]) == ("a.yaml", 3, 18)
