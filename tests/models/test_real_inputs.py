"""Real models on real inputs, on every backend that runs them."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

from rlx.errors import NoBackend
from tests.models.agreement import LIMIT, beside, error, errors, through
from tests.models.catalogue import MODELS
from tests.models.packages import ROOT
from tests.models.real_inputs import file_features, labels, page, speech_chunks
from tests.models.test_models import everywhere

pytestmark = [pytest.mark.needs("models"), pytest.mark.needs("onnxruntime")]
FILES = {
    ".ci/run": "shell",
    ".gitattributes": "gitattributes",
    ".gitignore": "ignorefile",
    "LICENSE": "txt",
    "Makefile": "makefile",
    "README.md": "markdown",
    "benchmarks/results.svg": "svg",
    "configs/backends.yaml": "yaml",
    "pyproject.toml": "toml",
    "rlx/device.py": "python",
    "schemas/backends.schema.json": "json",
    "tests/models/test_real_inputs.py": "python",
    ".models/skimage/data/page.png": "png",
    ".models/silero-vad.wav": "wav",
    ".models/swift_f0/model.onnx": "onnx",
}
"""Files, and what magika calls files of their kind."""


@pytest.fixture(params=everywhere())
def backend(request):
    return request.param


@contextmanager
def runs(backend, name):
    """The model on the backend; one that refuses it has no answers to be held to."""
    with ExitStack() as stack:
        try:
            run = stack.enter_context(through(backend, MODELS[name]))
        except NoBackend as refusal:
            if backend == "numpy":
                raise
            pytest.skip(f"{backend} refuses {name}: {str(refusal).splitlines()[0]}")
        yield run


def test_the_repositorys_files_are_what_they_are(backend):
    """magika's best label, and all its probabilities as in onnxruntime."""
    names, wanted = labels(), beside(MODELS["magika"])
    with runs(backend, "magika") as run:
        for file, label in FILES.items():
            given = file_features(ROOT / file)
            (found,) = run(given)
            assert names[int(np.argmax(found[0]))] == label
            assert error(found, wanted(given)[0]) <= LIMIT


def test_speech_is_heard_where_onnxruntime_hears_it(backend):
    """A minute in chunks, the state threaded through: as many frames over one half."""
    with runs(backend, "silero-vad") as run:
        found, wanted = heard(run), heard(beside(MODELS["silero-vad"]))
    assert np.mean(found > 0.5) == np.mean(wanted > 0.5)
    assert 0.7 < np.mean(found > 0.5) < 0.85
    assert error(found, wanted) <= LIMIT


def heard(run):
    state, answers = np.zeros((2, 1, 128), np.float32), []
    for audio in speech_chunks():
        answer, state = run({"input": audio, "state": state, "sr": np.array(16000)})
        answers.append(float(np.asarray(answer).item()))
    return np.array(answers)


@pytest.mark.needs("PIL")
def test_text_is_found_on_a_page(backend):
    """The detector's map as onnxruntime draws it; about a quarter of the page is text."""
    given = page()
    with runs(backend, "ocr-detector") as run:
        (found,) = run(given)
        assert max(errors(run, MODELS["ocr-detector"], given)) <= LIMIT
    assert found.max() > 0.99
    assert 0.2 < np.mean(found > 0.3) < 0.3


def test_features_are_the_ends_of_a_file(tmp_path):
    """Stripped, cut to 1024 bytes each, and filled up in the middle."""
    file = tmp_path / "short"
    file.write_bytes(b" \n\xffab \t")
    row = file_features(file)["bytes"][0]
    assert (row.dtype, row.shape) == (np.int32, (2048,))
    assert row[:5].tolist() == [0xFF, 97, 98, 256, 256]
    assert row[-5:].tolist() == [256, 256, 0xFF, 97, 98]
