"""Answers on disk: used while nothing has changed, and never a reason to fail."""

import json
import os
from pathlib import Path

import pytest

from rlx import settings
from rlx.device import Device
from rlx.probe import circumstances, kept, memo, store
from rlx.probe.host import host
from rlx.probe.process import Answer
from rlx.registration import Probe

CALL = Probe("call", ("no_such_engine:probe",))
WORKS = Answer(software=True, detail="llvmpipe")
REFUSED = Answer("no GPU here")


class Asked(list):
    """A check that answers, and lists what it was asked."""

    answer = WORKS

    def __call__(self, one, index):
        self.append((one.kind, index))
        return self.answer


@pytest.fixture
def asked():
    return Asked()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RLX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "probes"


def only(folder):
    (path,) = folder.iterdir()
    return path


def test_an_answer_outlives_the_process(asked, folder):
    assert kept.answer(CALL, 0, asked) == kept.answer(CALL, 0, asked) == WORKS
    assert asked == [("call", 0)]
    assert only(folder).stat().st_mode & 0o777 == 0o600


def test_a_reason_is_kept_for_a_while(asked, folder, monkeypatch):
    asked.answer = REFUSED
    now = [1000.0]
    monkeypatch.setattr(store.time, "time", lambda: now[0])
    for later, times in ((0, 1), (kept.REFUSED_SECONDS, 1), (1, 2)):
        now[0] += later
        assert kept.answer(CALL, 0, asked) == REFUSED
        assert len(asked) == times


def test_what_may_pass_by_itself_is_not_kept(asked, folder):
    asked.answer = Answer("it timed out", transient=True)
    kept.answer(CALL, 0, asked)
    assert not folder.exists()


@pytest.mark.parametrize(
    "probe", [Probe("library", ("c",)), Probe("call", ("m:f",), trusted=False)], ids=str
)
def test_what_is_cheap_or_not_trusted_is_not_kept(asked, folder, probe):
    kept.answer(probe, 0, asked)
    assert not folder.exists()


@pytest.mark.parametrize(
    "changed",
    [
        (CALL, 1),
        (Probe("call", ("no_such_engine:other",)), 0),
        (Probe("call", CALL.values, None, 2.0), 0),
    ],
    ids=["index", "target", "timeout"],
)
def test_another_question_is_asked(asked, folder, changed):
    kept.answer(CALL, 0, asked)
    kept.answer(*changed, asked)
    assert len(asked) == 2


@pytest.mark.parametrize("name", ["CUDA_VISIBLE_DEVICES", "JAX_PLATFORMS", "LD_LIBRARY_PATH", "X"])
def test_a_variable_that_an_engine_may_read_counts(asked, folder, monkeypatch, name):
    kept.answer(CALL, 0, asked)
    monkeypatch.setenv(name, "another")
    kept.answer(CALL, 0, asked)
    assert len(asked) == 2


@pytest.mark.parametrize("name", ["PWD", "SHLVL", "TERM_PROGRAM", "SSH_TTY", "RLX_DEVICE"])
def test_a_variable_that_says_nothing_to_engines_does_not(asked, folder, monkeypatch, name):
    kept.answer(CALL, 0, asked)
    monkeypatch.setenv(name, "cpu")
    kept.answer(CALL, 0, asked)
    assert len(asked) == 1


def test_installing_anything_counts(asked, folder, tmp_path, monkeypatch):
    site = tmp_path / "site"
    (site / "jax_cuda_plugin-1.dist-info").mkdir(parents=True)
    kept.answer(CALL, 0, asked)
    monkeypatch.syspath_prepend(str(site))
    kept.answer(CALL, 0, asked)
    os.utime(site / "jax_cuda_plugin-1.dist-info", (5, 5))  # the same version, installed again
    kept.answer(CALL, 0, asked)
    assert len(asked) == 3


def test_editing_the_probe_or_what_it_imports_of_its_package_counts(
    asked, folder, tmp_path, monkeypatch
):
    engine = tmp_path / "engine_of_mine"
    engine.mkdir()
    (engine / "__init__.py").write_text("raise RuntimeError('never imported here')")
    (engine / "probes.py").write_text("def probe(index): return None")
    monkeypatch.syspath_prepend(str(tmp_path))
    one = Probe("call", ("engine_of_mine.probes:probe",))
    kept.answer(one, 0, asked)
    for name in ("probes.py", "beside.py"):
        (engine / name).write_text("def probe(index): return 'no'")
        circumstances.forget()  # as in a fresh process
        kept.answer(one, 0, asked)
    assert len(asked) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"drivers": (("nvidia", "590.1"),)},
        {"boot": "another"},
        {"pci": ()},
        {"nodes": ("/dev/null",)},
        {"kernel": "7.0"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_host_driver_or_boot_counts(monkeypatch, change):
    import dataclasses

    before = circumstances.digest()
    monkeypatch.setattr(circumstances, "host", lambda: dataclasses.replace(host(), **change))
    assert circumstances.digest() != before


def test_nothing_else_counts():
    assert circumstances.digest(*CALL.values) == circumstances.digest(*CALL.values)


BROKEN = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[" * 70000,
    b"3",
    b"null",
    b'{"format": 1}',
    b'{"format": 1, "kind": "call", "key": "another", "written": 0, "answer": {}}',
]


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_file_that_is_broken_or_foreign_is_asked_again_and_replaced(asked, folder, text):
    kept.answer(CALL, 0, asked)
    good = json.loads(only(folder).read_text())
    only(folder).write_bytes(text)
    assert kept.answer(CALL, 0, asked) == WORKS
    assert len(asked) == 2
    again = json.loads(only(folder).read_text())
    assert again["answer"] == good["answer"]


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"kind": "live"},
        {"written": 1e12},
        {"written": "now"},
        {"written": 0},
        {"answer": None},
        {"answer": {"reason": 3, "software": False, "detail": ""}},
        {"answer": {"reason": " ", "software": False, "detail": ""}},
        {"answer": {"reason": None, "software": 1, "detail": ""}},
        {"answer": {"reason": None, "software": True}},
    ],
    ids=str,
)
def test_an_answer_that_was_not_written_here_is_not_used(asked, folder, change):
    kept.answer(CALL, 0, asked)
    path = only(folder)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert kept.answer(CALL, 0, asked) == WORKS
    assert len(asked) == 2


def test_a_folder_that_cannot_be_written_only_costs_time(asked, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("RLX_CACHE_DIR", str(tmp_path / "file"))
    assert kept.answer(CALL, 0, asked) == kept.answer(CALL, 0, asked) == WORKS
    assert len(asked) == 2
    kept.forget()


def test_a_bad_variable_is_not_the_probe_s_fault(asked, monkeypatch):
    monkeypatch.setenv("RLX_LOG", "loud")
    assert kept.answer(CALL, 0, asked) == WORKS
    kept.forget()


def test_old_files_are_cleared_away(asked, folder, monkeypatch):
    monkeypatch.setattr(store, "MOST", 8)
    for index in range(30):
        kept.answer(CALL, index, asked)
    assert len(list(folder.iterdir())) <= 8
    kept.answer(CALL, 29, asked)
    assert len(asked) == 30


def test_forgetting_takes_only_rlx_s_own_files(asked, folder):
    kept.answer(CALL, 0, asked)
    (folder / "notes.txt").write_text("mine")
    memo.refresh()
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_without_a_variable_the_folder_is_the_user_s(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert settings.cache_folder() == tmp_path / "rlx"
    monkeypatch.setenv("RLX_CACHE_DIR", "/somewhere")
    assert settings.cache_folder() == Path("/somewhere")


def test_a_second_process_starts_no_child(folder, tmp_path, monkeypatch):
    from rlx import probe
    from rlx.registration import Registration

    (tmp_path / "counted_engine.py").write_text(
        "from pathlib import Path\n"
        "def probe(index):\n"
        "    path = Path(__file__).with_name('runs')\n"
        "    path.write_text(path.read_text() + 'x' if path.exists() else 'x')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    one = Registration("e", "cuda", "e", probes=(Probe("call", ("counted_engine:probe",)),))
    cuda = Device("cuda", "CUDA", masks=("CUDA_VISIBLE_DEVICES",))
    for _ in range(2):
        assert probe.probe(one, 0, cuda).reason is None
        memo._forget()  # as in a fresh process
    assert (tmp_path / "runs").read_text() == "x"
    probe.refresh()
    probe.probe(one, 0, cuda)
    assert (tmp_path / "runs").read_text() == "xx"
