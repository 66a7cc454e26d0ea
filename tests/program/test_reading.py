"""What `load` accepts, and what it says of everything else."""

import os
import pickle
import zipfile
from pathlib import Path

import onnx
import pytest

from rlx.errors import ProgramError
from rlx.program import load

TEXT = (
    '<ir_version: 8, opset_import: ["" : 17]>\ng (float[N,4] x) => (float[N,4] y) { y = Relu(x) }'
)


@pytest.fixture
def model() -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT)


def message(source: object) -> str:
    with pytest.raises(ProgramError) as caught:
        load(source)  # type: ignore[arg-type]
    return str(caught.value)


def test_a_path_bytes_text_a_model_and_a_program_are_the_same_program(model, tmp_path):
    file, text = tmp_path / "relu.onnx", tmp_path / "relu.onnxtxt"
    onnx.save(model, file)
    text.write_text(TEXT)
    sources = [file, str(file), text, file.read_bytes(), TEXT.encode(), model, load(model)]
    assert len({load(source).digest for source in sources}) == 1


def test_a_program_is_named_after_its_file_else_its_graph(model, tmp_path):
    onnx.save(model, tmp_path / "relu.onnx")
    assert (load(tmp_path / "relu.onnx").name, load(model).name) == ("relu", "g")
    assert load(tmp_path / "relu.onnx").path == str(tmp_path / "relu.onnx")
    assert load(model).path is None


def test_the_model_passed_in_is_not_changed(model):
    before = model.SerializeToString(deterministic=True)
    load(model)
    assert model.SerializeToString(deterministic=True) == before


def test_another_type_is_refused_with_those_that_are_accepted():
    assert message(3) == (
        "cannot load a int. Fix: pass a path, bytes, an onnx.ModelProto or a Program."
    )


def test_a_missing_file(tmp_path):
    path = tmp_path / "no.onnx"
    assert message(path) == f"{path}: no such file. Fix: check the path."


def test_a_folder(tmp_path):
    assert message(tmp_path) == (
        f"{tmp_path}: a folder, not a file. Fix: pass the .onnx file that is in it."
    )


def test_a_path_with_a_nul():
    assert "cannot be opened: embedded null byte" in message("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "not a plain file (a pipe, a socket or a device)" in message(tmp_path / "pipe")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
def test_a_device_is_refused_without_reading_it():
    assert message("/dev/zero") == (
        "/dev/zero: not a plain file (a pipe, a socket or a device). "
        "Fix: save the model to a file and pass that."
    )


def test_a_file_over_two_gib_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "large.onnx"
    with path.open("wb") as file:
        file.truncate(2**31)
    assert "2147483648 bytes, over the 2 GiB that protobuf allows" in message(path)


def test_an_empty_file(tmp_path):
    (tmp_path / "e.onnx").write_bytes(b"")
    assert (
        message(tmp_path / "e.onnx")
        == f"{tmp_path / 'e.onnx'}: empty. Fix: export the model again."
    )


def test_a_file_that_was_cut_off(model, tmp_path):
    data = model.SerializeToString()
    (tmp_path / "cut.onnx").write_bytes(data[:-3])
    size = len(data) - 3
    assert f"not an ONNX model, or cut off after {size} bytes" in message(tmp_path / "cut.onnx")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (pickle.dumps({"weights": [1, 2]}), "a Python pickle"),
        (b"\x1f\x8b\x08\x00", "a gzip file"),
        (b"\x89HDF\r\n", "an HDF5 file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b"<!DOCTYPE html><html></html>", "a web page"),
    ],
)
def test_other_formats_are_named(data, name):
    assert message(data).startswith(f"{name}, not an ONNX model. Fix: ")


def test_a_zip_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
        archive.writestr("data.pkl", "x")
    assert "a zip archive, not an ONNX model" in message(tmp_path / "model.pt")


def test_text_errors_have_a_line_and_a_column(tmp_path):
    path = tmp_path / "bad.onnxtxt"
    path.write_text(TEXT.replace("Relu(x)", "Relu(x"))
    assert message(path) == (
        f"{path}:2:49: not valid ONNX text near 'g (float[N,4] x) => (float[N,4] y) "
        "{ y = Relu(x }': Expected character ) not found. "
        "Fix: correct the ONNX text at that place."
    )


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "bad.onnxtxt").write_bytes(b"<ir_version: \xff>")
    assert "ONNX text that is not UTF-8 (byte 13)" in message(tmp_path / "bad.onnxtxt")


def test_a_model_without_a_graph():
    assert message(onnx.ModelProto(ir_version=8)) == (
        "not an ONNX model: it holds no graph. Fix: export the model again."
    )


def test_names_that_are_not_utf8(model):
    data = model.SerializeToString().replace(b"Relu", b"Re\xff\xfe")
    assert "is not UTF-8" in message(data)


@pytest.mark.parametrize("depths", [200, 1000])
def test_nesting_beyond_what_protobuf_reads(model, depths):
    graph = model.graph
    for depth in range(depths):
        node = graph.node.add(op_type="If", input=["x"], output=[f"o{depth}"])
        graph = node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH).g
        graph.name = "inner"
    assert message(model) == (
        "graphs or types within each other, over 100 levels deep. Fix: flatten the model."
    )
