"""Damaged files through the command line: no crash, hang, traceback or read outside the folder."""

from __future__ import annotations

import random

import pytest

from tests.fuzz import mutations
from tests.fuzz.files import Worker, judge_all, trap

BLOCK = 60


@pytest.mark.parametrize("first", range(0, 4 * BLOCK, BLOCK))
def test_a_damaged_file_is_answered(first, tmp_path):
    """`python -m tests.fuzz.files --count 5000` does many more."""
    for seed, what, found in judge_all(range(first, first + BLOCK), trap(tmp_path)):
        assert not found["wrong"], (seed, what, found)


def test_the_watch_sees_a_read_outside(tmp_path):
    """The command line is given a file there: this it must open, and the watch must see it."""
    folder = trap(tmp_path)
    worker = Worker(folder)
    try:
        found = worker.judge(tmp_path / "outside.bin")
    finally:
        worker.close()
    assert any("opened" in one for one in found["wrong"])


def test_a_crash_and_a_hang_are_found(tmp_path, monkeypatch):
    worker = Worker(trap(tmp_path))
    nothing = tmp_path / "files" / "none.onnx"
    assert worker.judge(nothing) == {"codes": [2, 2], "wrong": []}
    worker.process.kill()
    assert worker.judge(nothing)["wrong"] == ["a crash, status -9"]
    monkeypatch.setattr("tests.fuzz.files.SECONDS", 0.0)
    assert worker.judge(nothing)["wrong"] == ["a hang"]


@pytest.mark.parametrize("way", sorted({way.__name__ for way in mutations.WAYS}))
def test_damage_is_done(way):
    """Nearly every time, and the same for the same seed."""
    data = next(iter(mutations.bases().values()))
    done = [
        getattr(mutations, way)(random.Random(seed), data, [data[::-1]]) != data
        for seed in range(40)
    ]
    assert sum(done) > 25
