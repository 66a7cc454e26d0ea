"""ONNX's own suite: every case is read, and where it was rewritten it still gives its outputs."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator

from rlx.program import load
from rlx.program.upgrading import needs_rewriting

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
NO_INFERENCE = {"ai.onnx.preview.training::Gradient"}
"""Operations whose outputs ONNX's inference leaves without a type."""


def cases(kind: str) -> Iterator[tuple[str, onnx.ModelProto, TestCase]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load_model_tests(kind=kind)
    for case in found:
        model = case.model
        if model is None:
            model = onnx.load(Path(case.model_dir) / "model.onnx")
        yield case.name, model, case


def data_sets(case: TestCase) -> Iterator[tuple[list[np.ndarray], list[np.ndarray]]]:
    if case.data_sets is not None:
        yield from case.data_sets
        return
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        yield tuple(
            [
                numpy_helper.to_array(onnx.TensorProto.FromString((folder / name).read_bytes()))
                for name in (f"{what}_{n}.pb" for n in range(len(list(folder.glob(f"{what}_*")))))
            ]
            for what in ("input", "output")
        )


def opset(model: onnx.ModelProto) -> int:
    return max((e.version for e in model.opset_import if e.domain in ("", "ai.onnx")), default=0)


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_is_read_typed_and_written(kind):
    """No case is refused, and every signature is known."""
    for name, model, _ in cases(kind):
        program = load(model)
        unknown = {s.operation for s in program.requirements.signatures if not s.known}
        assert unknown <= NO_INFERENCE, name
        assert len(program.inputs) <= len(model.graph.input), name
        assert program.to_onnx().graph.name, name


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_that_was_rewritten_gives_its_outputs(kind):
    for name, model, case in cases(kind):
        if not needs_rewriting(model.graph.node, opset(model)) or "sequence" in name:
            continue
        program = load(model)
        evaluator = ReferenceEvaluator(program.to_onnx(28))
        for inputs, outputs in data_sets(case):
            feeds = dict(zip([value.name for value in program.inputs], inputs, strict=False))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = evaluator.run(None, feeds)
            for one, expected in zip(got, outputs, strict=True):
                np.testing.assert_allclose(one, expected, case.rtol, case.atol, err_msg=name)


def test_the_shipped_networks_are_read_and_have_typed_nodes():
    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    sizes = {path.stem: load(path).node_count for path in folder.glob("*.onnx")}
    assert len(sizes) == 9
    assert sizes["light_resnet50"] == 415
