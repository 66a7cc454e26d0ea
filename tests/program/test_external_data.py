"""Weights beside the model: read when they are safe to read, refused by name when not."""

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from rlx.errors import ProgramError, UnsafeProgram
from rlx.program import load
from rlx.program.external import ExternalData

WEIGHTS = np.arange(8, dtype=np.float32).reshape(4, 2)
WHERE = "initializer 'w'"


def tensor(shape: tuple[int, ...] = (4, 2), **entries: object) -> TensorProto:
    made = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=shape)
    made.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "w.bin", **entries}.items():
        made.external_data.add(key=key, value=str(value))
    return made


def model(weights: TensorProto) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "mm", [x], [y], [weights]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "model"
    inside.mkdir()
    (inside / "w.bin").write_bytes(WEIGHTS.tobytes())
    (tmp_path / "secret.bin").write_bytes(bytes(32))
    return inside


def refusal(folder: Path, weights: TensorProto) -> str:
    path = folder / "m.onnx"
    path.write_bytes(model(weights).SerializeToString())
    with pytest.raises(UnsafeProgram) as caught:
        load(path)
    return caught.value.message


def test_external_and_inline_weights_are_the_same_program(folder):
    path = folder / "m.onnx"
    path.write_bytes(model(tensor(offset=0, length=32)).SerializeToString())
    inline = model(onnx.numpy_helper.from_array(WEIGHTS, "w"))
    assert load(path) == load(inline)
    assert not load(path).body.constants[0][1].flags.writeable


def test_a_model_in_memory_needs_a_folder(folder):
    assert load(model(tensor()), folder=folder).digest
    with pytest.raises(UnsafeProgram) as caught:
        load(model(tensor()))
    assert str(caught.value) == (
        f"{WHERE} is stored in another file, and the program has no folder. "
        "Fix: load the model by its path, or pass folder=."
    )


@pytest.mark.parametrize(
    ("location", "problem"),
    [
        ("../secret.bin", "must not contain '..'"),
        ("a/../../secret.bin", "must not contain '..'"),
        ("/etc/passwd", "must be a relative path with /"),
        ("C:/secret.bin", "must be a relative path with /"),
        ("..\\secret.bin", "must be a relative path with /"),
        ("a\0b", "must be a relative path with /"),
        ("", "must be a relative path with /"),
        (".", "must name a file"),
    ],
)
def test_a_location_outside_the_folder(folder, location, problem):
    assert refusal(folder, tensor(location=location)) == (
        f"{WHERE}: the location of its external data {problem}, got {location!r}"
    )


def test_a_symbolic_link_is_not_followed(folder):
    (folder / "link.bin").symlink_to(folder.parent / "secret.bin")
    assert refusal(folder, tensor(location="link.bin")) == (
        f"{WHERE}: 'link.bin' is or passes through a symbolic link"
    )


def test_a_linked_folder_is_not_entered(folder):
    (folder / "sub").symlink_to(folder.parent)
    assert refusal(folder, tensor(location="sub/secret.bin")) == (
        f"{WHERE}: 'sub/secret.bin' is or passes through a symbolic link"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_read(folder):
    os.mkfifo(folder / "pipe")
    assert refusal(folder, tensor(location="pipe")) == f"{WHERE}: 'pipe' is not a plain file"


def test_a_folder_is_not_read(folder):
    (folder / "sub").mkdir()
    assert refusal(folder, tensor(location="sub")) == f"{WHERE}: 'sub' is not a plain file"


def test_bytes_beyond_the_file(folder):
    assert refusal(folder, tensor(offset=4)) == (
        f"{WHERE}: bytes 4 to 36 of 'w.bin' are asked for, which has 32"
    )


@pytest.mark.parametrize("offset", ["-1", "1.5", "0x10", "٣", "9" * 30, ""])
def test_an_offset_that_is_no_number(folder, offset):
    assert refusal(folder, tensor(offset=offset)) == (
        f"{WHERE}: the offset of its external data must be a whole number, got {offset!r}"
    )


def test_a_length_that_the_shape_does_not_take(folder):
    with pytest.raises(ProgramError) as caught:
        load(model(tensor(length=16)), folder=folder)
    assert caught.value.message == (
        f"{WHERE} is float32[4, 2], which takes 32 bytes, but 16 are stored"
    )


@pytest.mark.parametrize("location", ["a" * 5000, "/".join(["a"] * 3000)], ids=["name", "path"])
def test_a_location_that_no_file_can_have(folder, location):
    with pytest.raises(ProgramError) as caught:
        load(model(tensor(location=location)), folder=folder)
    assert caught.value.message.startswith(f"{WHERE}: ")


def test_a_missing_file(folder):
    with pytest.raises(ProgramError) as caught:
        load(model(tensor(location="none.bin")), folder=folder)
    assert caught.value.message == (
        f"{WHERE}: its external data file 'none.bin' is not beside the model"
    )


def test_a_shape_of_absurd_size_is_refused_before_anything_is_read(folder):
    weights = tensor(shape=(2**40, 2**40))
    assert refusal(folder, weights) == (
        f"{WHERE} claims the shape [1099511627776, 1099511627776], which is over 68719476736 bytes"
    )


def test_the_total_is_limited(folder):
    external = ExternalData(folder, largest=40)
    external.array(tensor(), WHERE)
    with pytest.raises(UnsafeProgram, match="the external data is over 40 bytes in all"):
        external.array(tensor(), WHERE)


def test_external_data_in_a_subgraph(folder, parse):
    source = parse(
        """g (bool b) => (float[4,2] y) {
        y = If (b) <then_branch = t () => (float[4,2] a) <float[4,2] w = {0,0,0,0,0,0,0,0}>
                     { a = Identity(w) },
                    else_branch = e () => (float[4,2] c) <float[4,2] v = {0,0,0,0,0,0,0,0}>
                     { c = Identity(v) }> }"""
    )
    source.graph.node[0].attribute[0].g.initializer[0].CopyFrom(tensor())
    (_, block) = load(source, folder=folder).body.nodes[0].blocks()
    np.testing.assert_array_equal(block.constants[0][1], WEIGHTS)
