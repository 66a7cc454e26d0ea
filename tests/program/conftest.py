"""Programs written in ONNX's text syntax, for the tests of rlx.program."""

from collections.abc import Callable

import onnx
import pytest

Parse = Callable[..., onnx.ModelProto]


@pytest.fixture
def parse() -> Parse:
    """`parse(graph, opset=17)`: a model from the text of its graph, in one line of set-up."""

    def make(graph: str, opset: int = 17, ir: int = 8, more: str = "") -> onnx.ModelProto:
        header = f'<ir_version: {ir}, opset_import: ["" : {opset}{more}]>'
        return onnx.parser.parse_model(f"{header}\n{graph}")

    return make


@pytest.fixture
def run() -> Callable[..., list[object]]:
    """`run(model, x=…)`: the outputs of a model once loaded, by ONNX's evaluator at opset 28."""
    from onnx.reference import ReferenceEvaluator

    from rlx.program import load

    def evaluate(model: onnx.ModelProto, **inputs: object) -> list[object]:
        return ReferenceEvaluator(load(model).to_onnx(28)).run(None, inputs)

    return evaluate


@pytest.fixture
def refused() -> Callable[[object], str]:
    """`refused(model)`: the message of the ProgramError that loading it raises."""
    from rlx.errors import ProgramError
    from rlx.program import load

    def message(model: object) -> str:
        with pytest.raises(ProgramError) as caught:
            load(model)  # type: ignore[arg-type]
        return caught.value.message

    return message
