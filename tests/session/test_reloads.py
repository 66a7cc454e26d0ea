"""Reloading while others route: only whole registries are seen, and what is held stays."""

import gc
import os
import sys
import threading
from itertools import cycle
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

import rlx
from rlx.errors import ConfigError

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"
WHOLES = {
    "numpy": HEAD + "overrides: [{id: numpy, rank: 5}, {id: onnxruntime-cpu, rank: 500}]\n",
    "onnxruntime-cpu": HEAD
    + "overrides: [{id: numpy, rank: 500}, {id: onnxruntime-cpu, rank: 5}]\n",
}
"""By the backend that wins under it: neither file's half alone makes another winner."""
RELOADS, THREADS = 1_000, 8
TEXT = '<ir_version: 10, opset_import: ["" : 21]> f (float[2] x) => (float[2] y) { y = Relu(x) }'


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """Work in a project of its own; write its backends.yaml, as an editor does, in one step."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        Path("new").write_text(text, encoding="utf-8")
        os.replace("new", "backends.yaml")  # noqa: PTH105 - as the editor does

    return write


@pytest.fixture
def relu():
    return rlx.load(onnx.parser.parse_model(TEXT))


@pytest.fixture
def often():
    """Threads take turns so often that any moment of a reload is one that another thread sees."""
    gc.collect()  # what other tests left, such as drivers of GPUs, goes here and in no thread
    gc.freeze()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)
    gc.unfreeze()


@pytest.mark.needs("onnxruntime")
def test_eight_threads_through_a_thousand_reloads_see_only_whole_registries(project, relu, often):
    """Every route is the one of the registry that it says it rests on, and that is one of two."""
    digests = {}
    for winner, text in WHOLES.items():
        project(text)
        digests[rlx.reload().digest] = winner
    stop, seen, failures = threading.Event(), [set() for _ in range(THREADS)], []

    def ask(mine):
        try:
            while not stop.is_set():
                route = rlx.route(relu)
                mine.add((route.question.registry.digest, route.backend))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported below
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(mine,)) for mine in seen]
    for one in threads:
        one.start()
    try:
        for _, text in zip(range(RELOADS), cycle(WHOLES.values()), strict=False):
            project(text)
            rlx.reload()
    finally:
        stop.set()
        for one in threads:
            one.join(30)
    assert failures == []
    assert [mine - set(digests.items()) for mine in seen] == [set()] * THREADS
    assert all(len(mine) == 2 for mine in seen), "a thread that saw one registry tested nothing"


def test_what_runs_is_untouched_and_keeps_its_registry(project, relu):
    project(WHOLES["numpy"])
    rlx.reload()
    with rlx.Session() as session:
        model = session.compile(relu)
        before = session.route(relu)
        project(WHOLES["onnxruntime-cpu"])
        assert rlx.reload() is rlx.default_registry()
        assert session.route(relu).question.registry is before.question.registry
        assert session.route(relu).backend == before.backend == "numpy"
        assert model(np.array([-1, 2], np.float32))[0].tolist() == [0, 2]


def test_a_broken_edit_is_reported_and_routes_stay_as_they_were(project, relu):
    project(WHOLES["numpy"])
    good, route = rlx.reload(), rlx.route(relu)
    project(HEAD + "overrides: [{id: nunpy, rank: 5}]\n")
    with pytest.raises(ConfigError) as caught:
        rlx.reload()
    assert str(caught.value) == (
        "backends.yaml:3:18: override of unknown backend 'nunpy'. Fix: did you mean 'numpy'? "
        "If a plugin shipped it, install the plugin again, or delete the override."
    )
    assert rlx.default_registry() is good
    assert rlx.route(relu) is route


def test_the_packaged_layer_is_read_once_while_its_files_stay_as_they_are(project):
    project(WHOLES["numpy"])
    first = rlx.reload().get("reference")
    project(WHOLES["onnxruntime-cpu"])
    assert rlx.reload().get("reference") is first
