"""Every command that reads a file refuses a pipe, and waits for nobody who might write to it."""

import os
import signal

import pytest

from tests.cli.conftest import MLP

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")

ARTIFACT = "pipe can't be read: it is a pipe, not a file. Fix: check the path.\n"
MANIFEST = "p.yaml: a manifest must be a plain file, got a pipe. Fix: name a plain YAML file.\n"
PROGRAM = (
    "p.onnx: not a plain file (a pipe, a socket or a device). "
    "Fix: save the model to a file and pass that.\n"
)


@pytest.fixture
def impatient():
    """What waits is interrupted, and fails."""

    def waited(*_):
        raise AssertionError("it waits for a writer")

    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("payload check pipe", ARTIFACT),
        ("payload show pipe", ARTIFACT),
        ("payload run pipe", ARTIFACT),
        ("payload check pipe --program p.onnx", PROGRAM),
        ("explain p.onnx", PROGRAM),
        ("run p.onnx --random", PROGRAM),
        ("build p.onnx --target onnxruntime-cpu", PROGRAM),
        ("diff p.yaml p.yaml " + MLP, MANIFEST),
        ("explain --config p.yaml " + MLP, MANIFEST),
        ("validate p.yaml", MANIFEST),
        ("trust p.yaml", MANIFEST),
        ("rank numpy --to 5 --file p.yaml", MANIFEST),
        (f"run {MLP} --input x=pipe", "pipe can't be read as an array: it is a pipe, not a file. "),
        (f"explain {MLP} --facts pipe", "pipe is not a facts file: it is a pipe, not a file. "),
    ],
)
def test_a_pipe_is_refused(rlx, impatient, tmp_path, arguments, said):
    for name in ("pipe", "p.onnx", "p.yaml"):
        os.mkfifo(tmp_path / name)
    done = rlx(*arguments.split())
    assert done.code != 0
    assert said in done.err + done.out
