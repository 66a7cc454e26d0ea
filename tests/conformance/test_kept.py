"""Trials are kept between runs, and a kept file can hold nothing else."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rlx import resources
from rlx.backends.reference import Reference
from rlx.conformance import corpus, kept
from rlx.conformance.trial import Trial, attempt


def make() -> Iterator[Trial]:
    yield from corpus.extreme("Abs", Reference())


def never() -> Iterator[Trial]:
    raise AssertionError("made again")


def test_what_was_made_is_read_the_next_time_and_runs(tmp_path: Path) -> None:
    made = kept.kept(tmp_path, "Abs", ["a"], make)
    read = kept.kept(tmp_path, "Abs", ["a"], never)
    assert [one.name for one in read] == [one.name for one in made]
    assert all(attempt(Reference(), one).passed for one in read)
    np.testing.assert_array_equal(read[-1].inputs[0], made[-1].inputs[0])


def test_other_cases_make_other_trials_and_the_old_file_goes(tmp_path: Path) -> None:
    kept.kept(tmp_path, "Abs", ["a"], make)
    with pytest.raises(AssertionError, match="made again"):
        kept.kept(tmp_path, "Abs", ["b"], never)
    kept.kept(tmp_path, "Abs", ["b"], make)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "data",
    [b"", b"no pickle", pickle.dumps(3), pickle.dumps(os.getcwd), pickle.dumps(os.system)],
)
def test_a_file_of_something_else_runs_nothing_and_is_made_again(
    tmp_path: Path, data: bytes
) -> None:
    kept.kept(tmp_path, "Abs", ["a"], make)
    (path,) = tmp_path.iterdir()
    path.write_bytes(data)
    assert kept.kept(tmp_path, "Abs", ["a"], make)
    assert kept.kept(tmp_path, "Abs", ["a"], never)


def test_a_folder_that_can_t_be_used_is_not(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert kept.kept(tmp_path / "file" / "below", "Abs", ["a"], make)
    assert kept.kept(None, "Abs", ["a"], make)


def test_all_that_trials_follow_from_is_there() -> None:
    assert all((resources.PACKAGE / name).exists() for name in kept.SOURCES)
