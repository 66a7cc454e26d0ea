"""`rlx trust`: what it shows, what it records, and what happens to a file that changed since."""

import re

import pytest

from tests.cli.conftest import SHORT

BODY = """\
devices:
  - {id: npu, name: NPU}
capabilities:
  - {id: fast_copy, description: copies fast}
backends:
  - id: mine
    device: npu
    dispatches: true
    factory: "evil:open"
    payload_format: blob
    compiler: "evil:compile"
    materializer: "evil:load"
    probes: [{call: "evil:probe"}, {library: libevil.so}, {module: evil}, {path: /dev/evil}]
    coverage: c.yaml
    options: {"a\\u202e": [/etc, 1]}
    install: "curl x | sh"
overrides:
  - {id: numpy, rank: 3, dispatches: true, capabilities: [deterministic], options: {t: 3}}
"""
COVERAGE = "apiVersion: rlx/v1\nkind: Coverage\nevidence: {kind: declared}\nrows: []\n"
WHEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ")
FIX = "Fix: read it, then run `rlx trust backends.yaml`; or name it, by RLX_CONFIG or --config."


@pytest.fixture
def trusting(rlx, file, tmp_path, monkeypatch):
    """The command line in a project whose file needs trust, with a store of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file(BODY)
    (tmp_path / "c.yaml").write_text(COVERAGE, encoding="utf-8")

    def run(*arguments):
        done = rlx(*arguments)
        done.out, done.err = (
            WHEN.sub("WHEN", text).replace(str(tmp_path), "HERE") for text in (done.out, done.err)
        )
        return done

    return run


def test_trusting_shows_what_the_file_may_do_and_records_it(trusting):
    assert trusting("backends").code == 4
    done = trusting("trust")
    assert (done.code, done.err) == (0, "")
    assert (
        done.out
        == r"""backends.yaml may now:
  -      declare the device npu                     (backends.yaml:4:5)
  -      declare the capability fast_copy           (backends.yaml:6:5)
  mine   register it on npu                         (backends.yaml:8:5)
  mine   open it by evil:open                       (backends.yaml:11:14)
  mine   compile by evil:compile                    (backends.yaml:13:15)
  mine   load payloads by evil:load                 (backends.yaml:14:19)
  mine   probe it by calling evil:probe             (backends.yaml:15:21)
  mine   probe it by loading libevil.so             (backends.yaml:15:46)
  mine   look for the module evil                   (backends.yaml:15:68)
  mine   look for /dev/evil                         (backends.yaml:15:82)
  mine   claim what c.yaml says                     (backends.yaml:16:15)
  mine   pass the option a\u202e: ['/etc', 1]       (backends.yaml:17:26)
  mine   advise: curl x | sh                        (backends.yaml:18:14)
  numpy  set dispatches to true                     (backends.yaml:20:38)
  numpy  set its capabilities to ['deterministic']  (backends.yaml:20:58)
  numpy  pass the option t: 3                       (backends.yaml:20:88)
trusted HERE/backends.yaml and 1 coverage file, until a byte changes
"""
    )
    assert trusting("backends").code == 0
    assert trusting("backends", "--why", "mine").out.startswith("mine  (backends.yaml:8:5)\n")


def test_a_byte_of_the_coverage_takes_it_back_and_says_so(trusting, tmp_path):
    trusting("trust")
    (tmp_path / "c.yaml").write_text(f"{COVERAGE}#", encoding="utf-8")
    done = trusting("backends")
    assert done.code == 4
    assert done.err.splitlines()[0] == (
        "backends.yaml:4:5: device 'npu' is refused: "
        f"c.yaml changed since this file was trusted on WHEN. {FIX}"
    )
    assert trusting("trust", "--list").out == (
        "state    trusted on            file\n"
        "changed  WHEN  HERE/backends.yaml (HERE/c.yaml changed)\n"
    )
    assert trusting("trust", "backends.yaml").code == 0
    assert trusting("backends").code == 0


def test_what_is_not_valid_is_not_trusted(trusting, file, tmp_path):
    file(BODY.replace("device: npu", "device: npx"))
    done = trusting("trust")
    assert (done.code, done.out, done.err) == (
        4,
        "",
        "backends.yaml:9:13: unknown device 'npx'. Fix: did you mean 'npu'?\n",
    )
    file("backends: [\n")
    assert trusting("trust", "backends.yaml").code == 4
    (tmp_path / "c.yaml").unlink()
    file(BODY)
    assert trusting("trust").err == (
        "backends.yaml:16:15: the coverage file 'c.yaml' is not there. "
        "Fix: correct the path, or write the file.\n"
    )
    assert trusting("trust", "--list").out == "no file is trusted\n"


def test_the_list_and_revoking(trusting, tmp_path):
    trusting("trust")
    assert trusting("trust", "--list").out == (
        "state  trusted on            file\nvalid  WHEN  HERE/backends.yaml\n"
    )
    (tmp_path / "backends.yaml").rename(tmp_path / "elsewhere.yaml")
    assert trusting("trust", "--list").out == (
        "state    trusted on            file\nmissing  WHEN  HERE/backends.yaml\n"
    )
    done = trusting("trust", "--revoke", "backends.yaml")
    assert (done.code, done.out) == (0, "HERE/backends.yaml is not trusted any more\n")
    done = trusting("trust", "--revoke", "backends.yaml")
    assert (done.code, done.err) == (
        1,
        "backends.yaml is not trusted. Fix: see `rlx trust --list`.\n",
    )


def test_as_json(trusting, tmp_path):
    made = trusting("trust", "--json").json
    (one,) = made["files"]
    assert (made["action"], one["state"], one["changed"]) == ("trusted", "valid", [])
    assert [two["path"] for two in one["references"]] == ["c.yaml"]
    assert made["allows"][3] == {
        "backend": "mine",
        "what": "factory",
        "value": "evil:open",
        "source": "backends.yaml:11:14",
    }
    listed = trusting("trust", "--list", "--json").json
    assert (listed["action"], listed["files"], listed["allows"]) == ("listed", [one], [])
    gone = trusting("trust", "--revoke", "backends.yaml", "--json").json
    assert (gone["action"], gone["files"][0]["state"]) == ("revoked", "revoked")
    assert trusting("trust", "--list", "--json").json["files"] == []


def test_a_file_that_names_nothing_and_one_of_another_name(trusting, file):
    file("overrides: [{id: numpy, rank: 3}]\n")
    assert trusting("trust").out == (
        "backends.yaml names nothing that needs trust\n"
        "trusted HERE/backends.yaml, until a byte changes\n"
    )
    file("overrides: [{id: numpy, rank: 3}]\n", "other.yaml")
    assert trusting("trust", "other.yaml").out == (
        "other.yaml names nothing that needs trust\n"
        "trusted HERE/other.yaml, until a byte changes\n"
        "note: rlx finds only backends.yaml and rlx.yaml by itself; a file of another name is "
        "read where it is named, and is trusted there\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [("--list", "backends.yaml"), ("--list", "--revoke", "a"), ("a", "--revoke", "a")],
)
def test_one_thing_at_a_time(trusting, arguments):
    done = trusting("trust", *arguments)
    assert (done.code, done.err.splitlines()[-1]) == (
        2,
        "rlx: FILE, --list and --revoke exclude each other. Fix: keep one.",
    )


def test_without_a_project_there_is_nothing_to_trust(trusting, tmp_path):
    (tmp_path / "backends.yaml").unlink()
    done = trusting("trust")
    assert (done.code, done.err.splitlines()[-1]) == (
        2,
        "rlx: no project's file is here: no rlx.yaml, backends.yaml or configs/backends.yaml. "
        "Fix: name one, or write one with `rlx init`.",
    )


def test_the_packaged_file_needs_no_trust(trusting):
    from rlx import resources

    path = str(resources.configs() / "backends.yaml")
    done = trusting("trust", path)
    assert (done.code, done.err.splitlines()[-1]) == (
        2,
        f"rlx: {path} is of the packaged layer, which is always trusted. "
        "Fix: name a project's file.",
    )


def test_a_broken_store_stops_nothing_that_needs_no_trust(trusting, file, tmp_path):
    store = tmp_path / "state" / "rlx" / "trust.json"
    store.parent.mkdir(parents=True)
    store.write_text("{", encoding="utf-8")
    broken = "HERE/state/rlx/trust.json: the record of trusted files is broken: it is not JSON"
    done = trusting("backends")
    assert done.code == 4
    assert done.err.splitlines()[0] == (
        f"backends.yaml:4:5: device 'npu' is refused: {broken}. {FIX}"
    )
    done = trusting("trust")
    assert (done.code, done.err) == (
        1,
        f"{broken}. Fix: delete that file, then trust again what you still trust.\n",
    )
    file("overrides: [{id: numpy, rank: 3}]\n")
    assert trusting("backends").code == 0
    assert file() == f"{SHORT}overrides: [{{id: numpy, rank: 3}}]\n"
