"""`rlx conform --write` that fails while writing goes on from what was measured."""

import os
import pickle
from dataclasses import replace

import pytest

from rlx.conformance import conform, measured
from rlx.registries import Registry


@pytest.fixture
def failed(rlx, small, monkeypatch, tmp_path):
    """Numpy was measured, and its coverage could not be written; where the first is kept."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    obstacle = tmp_path / "home" / "rlx" / "coverage"
    obstacle.parent.mkdir(parents=True)
    obstacle.touch()
    done = write(rlx)
    kept = tmp_path / "cache" / "measured" / "numpy.measured"
    assert done.code != 0
    assert done.err.splitlines()[0] == (
        f"what was measured is kept in {kept}. "
        "Fix: mend what is wrong, then run `rlx conform --backend numpy --write --resume`."
    )
    obstacle.unlink()
    return kept


def write(rlx, *more):
    return rlx("conform", "--backend", "numpy", "--write", "--user", *more)


def test_writing_goes_on_and_nothing_is_measured_anew(rlx, failed, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(conform, "measure", None)
        done = write(rlx, "--resume")
    assert done.code == 0
    assert done.out.splitlines()[1].split() == [
        "numpy",
        "3",
        "of",
        "3",
        "0",
        "0",
        "3",
        "3",
        "0",
        "0",
        "0",
        "0",
    ]
    (row,) = Registry.load().get("numpy").coverage.rows
    assert row.operations == ("Abs", "Neg", "Sign")
    assert not failed.exists()


def test_what_is_measured_anew_takes_its_place(rlx, failed):
    failed.write_bytes(b"of another run")
    assert write(rlx).code == 0
    assert not failed.exists()


@pytest.mark.parametrize("data", [b"", b"no pickle", pickle.dumps(os.getcwd)])
def test_a_file_of_something_else_is_nothing_that_was_measured(rlx, failed, data):
    failed.write_bytes(data)
    done = write(rlx, "--resume")
    assert done.code != 0
    assert (
        f"nothing that was measured of numpy is kept in {failed.parent}. "
        "Fix: measure it: run `rlx conform --write` without `--resume`."
    ) in done.err


def test_another_version_than_was_measured_is_refused(rlx, failed):
    one = measured.kept(failed.parent, "numpy")
    measured.keep(failed.parent, "numpy", replace(one, version="0.1"))
    done = write(rlx, "--resume")
    assert done.code != 0
    assert (
        f"numpy is {one.version} here, 0.1 was measured. "
        "Fix: measure it: run `rlx conform --write` without `--resume`."
    ) in done.err
    assert failed.exists()
