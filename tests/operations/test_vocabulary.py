"""`configs/operations.yaml`: generated, compiled, and what a person can check by hand."""

import json
from pathlib import Path

import pytest

from rlx import resources
from rlx.freeze import vocabulary
from rlx.operations import Formal, FormalAttribute, Vocabulary, encoding, generate
from rlx.operations import __main__ as command
from rlx.program import CANONICAL_OPSET


def test_it_is_at_the_canonical_opset(words):
    assert words.opset == CANONICAL_OPSET == 28


def test_it_is_what_the_installed_onnx_says(words):
    assert words.operations == generate.operations()
    assert generate.opset() == CANONICAL_OPSET


def test_compiled_and_yaml_are_the_same(words):
    parsed = vocabulary.parsed(resources.configs())
    assert parsed == words
    origins = [str(one.origin) for one in parsed.operations]
    assert origins == [str(one.origin) for one in words.operations]
    assert origins[0].startswith("packaged operations.yaml:")


def test_it_holds_every_live_operation_of_onnx(words):
    domains = [one.domain for one in words.operations]
    assert {name: domains.count(name) for name in sorted(set(domains))} == {
        "ai.onnx": 201,
        "ai.onnx.ml": 17,
        "ai.onnx.preview": 1,
        "ai.onnx.preview.training": 4,
    }
    assert words.get("Upsample") is None


def test_one_operation_by_hand(words):
    pad = words.get("ai.onnx::Pad")
    assert pad is words.get("Pad")
    assert pad.inputs == (
        Formal("data", "T"),
        Formal("pads", "int64"),
        Formal("constant_value", "T", "optional"),
        Formal("axes", "Tind", "optional"),
    )
    assert pad.outputs == (Formal("output", "T"),)
    assert pad.attributes == (FormalAttribute("mode", "STRING", False, "constant"),)
    assert pad.open_variables == ("T", "Tind")
    assert pad.dtypes("Tind") == ("int32", "int64")
    assert (pad.deterministic, pad.body) == (True, False)


def test_floats_are_those_of_32_bits(words):
    assert words.get("LayerNormalization").attribute("epsilon").default == 9.999999747378752e-06


def test_a_variable_of_one_dtype_is_not_open(words):
    assert words.get("Equal").open_variables == ("T",)
    assert words.get("Equal").dtypes("T1") == ("bool",)
    assert words.get("Equal").dtypes("U") is None


@pytest.mark.parametrize(
    ("onnx_name", "ours"),
    [
        ("tensor(float)", "float32"),
        ("tensor(double)", "float64"),
        ("tensor(float16)", "float16"),
        ("tensor(float8e4m3fn)", "float8e4m3fn"),
        ("seq(tensor(float))", "seq(float32)"),
        ("optional(seq(tensor(double)))", "optional(seq(float64))"),
        ("map(int64, float)", "map(int64,float32)"),
        ("seq(map(string, float))", "seq(map(string,float32))"),
    ],
)
def test_dtypes_have_our_names(onnx_name, ours):
    assert generate.dtype_name(onnx_name) == ours


def test_the_digest_is_that_of_the_content_alone(words):
    backwards = tuple(reversed(words.operations))
    assert encoding.digest(backwards, words.opset) == words.digest
    assert encoding.digest(words.operations[1:], words.opset) != words.digest
    assert encoding.digest(words.operations, 27) != words.digest


def test_json_is_the_inverse(words):
    text = encoding.to_json(words, "source")
    again = encoding.from_json(json.loads(text))
    assert again == words
    assert encoding.to_json(again, "source") == text


def test_extending_leaves_the_old_one_as_it_is():
    old = Vocabulary((), 28)
    assert old.canonical("ai.onnx::Add") == "Add"
    assert (old.names, old.known_dtypes, old.get("Add")) == ((), frozenset(), None)


def test_check_accepts_the_shipped_file(capsys):
    assert command.main(["--check"]) == 0
    assert capsys.readouterr().err == ""


def test_check_names_the_commands_to_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(resources, "configs", lambda: tmp_path)
    assert command.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "configs/operations.yaml is not what the installed onnx's schemas say. Fix: run"
        " `python -m rlx.operations --write`, then `python -m rlx.freeze --write`.\n"
    )
    assert command.main(["--write"]) == 0
    shipped = Path(__file__).parents[2] / "configs" / "operations.yaml"
    assert (tmp_path / "operations.yaml").read_bytes() == shipped.read_bytes()
    assert command.main(["--check"]) == 0
