"""Compilers and materializers that lie, fail or leave, and places that no file can be in."""

import os

import pytest

from rlx.artifact.artifact import read_artifact
from rlx.artifact.build import build
from rlx.artifact.checking import check
from rlx.errors import ArtifactError, ContractError, ExecutionError, RlxError
from rlx.session.artifacts import load_artifact
from tests.artifact.test_artifacts import FORMAT, registered

ID = "onnxruntime-cpu"


class Honest:
    """A compiler and a materializer, whose answers the tests change."""

    payload_format = FORMAT
    toolchain = "honest 1"
    parts = {"model": b"x"}  # noqa: RUF012

    def compile(self, program, target):
        return self.parts

    def accepts(self, toolchain):
        return None

    def materialize(self, payload, spec):
        raise SystemExit(7)


class Leaving(Honest):
    def compile(self, program, target):
        raise SystemExit(7)

    def accepts(self, toolchain):
        raise SystemExit(7)


class Nameless(Honest):
    toolchain = ""


class Misnaming(Honest):
    parts = {"Model A": b"x"}  # noqa: RUF012


class Numbering(Honest):
    toolchain = 3


class Answering(Honest):
    def accepts(self, toolchain):
        return 3


MADE = "the compiler of onnxruntime-cpu made what no artifact can hold: "


@pytest.mark.parametrize(
    ("compiler", "kind", "message"),
    [
        ("Nameless", ContractError, f"{MADE}the header.toolchain must be text, got text"),
        ("Numbering", ContractError, f"{MADE}the header.toolchain must be text, got the number 3"),
        (
            "Misnaming",
            ContractError,
            f"{MADE}the header.parts[0].name is 'Model A', which is no part's name",
        ),
        (
            "Leaving",
            ExecutionError,
            "the compiler of onnxruntime-cpu failed on small: SystemExit: 7",
        ),
    ],
)
def test_what_a_compiler_makes_can_be_read_back(program, compiler, kind, message):
    registry = registered(compiler=f"{__name__}:{compiler}")
    with pytest.raises(kind) as caught:
        build(program, registry.get(ID), registry)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("materializer", "message"),
    [
        ("Leaving", "failed on the toolchain honest 1: SystemExit: 7"),
        ("Answering", "answered int to `accepts`, which is to give a reason or None"),
    ],
)
def test_a_materializer_answers_whether_it_takes_a_toolchain(program, materializer, message):
    fields = {"compiler": f"{__name__}:Honest", "materializer": f"{__name__}:{materializer}"}
    registry = registered(**fields)
    made = build(program, registry.get(ID), registry)
    with pytest.raises(ContractError) as caught:
        check(made.header, registry)
    assert caught.value.message == f"the materializer of onnxruntime-cpu {message}"


@pytest.mark.needs("onnxruntime")
def test_a_materializer_that_leaves_ends_nothing(program):
    facets = {"compiler": f"{__name__}:Honest", "materializer": f"{__name__}:Honest"}
    registry = registered(**facets)
    with pytest.raises(ExecutionError, match="can't load the artifact of small: SystemExit: 7"):
        load_artifact(build(program, registry.get(ID), registry), registry)


def test_a_path_that_no_file_can_have(artifact):
    for call in (artifact.write, read_artifact):
        with pytest.raises(ArtifactError, match=r"can't be (written|read): embedded null"):
            call("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_replaced(artifact, tmp_path):
    """As root, a device would be taken from the whole system."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(RlxError) as caught:
            artifact.write(path)
        assert caught.value.message == (
            f"{path} can't be written: it is a device, a pipe or a socket, not a file"
        )
    assert pipe.is_fifo()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "pipe"]
