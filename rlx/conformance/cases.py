"""ONNX's own suite as data: a case is a model, its inputs, and what must come out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from rlx.conformance.compare import Tolerance
from rlx.conformance.tolerances import tolerance

Array = Any
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
TOTAL = 2033
"""How many cases the pinned onnx has; a test counts them."""
UNJUDGED = {
    "test_loop16_seq_none": "ONNX's runner compares no array without axes inside a sequence",
}
"""Cases that ONNX's runner fails whatever comes out: what they alone show is not claimed."""
_LIGHT = "onnx/backend/test/data/light/"


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One case. `read` gives the model, its inputs and its outputs, in the model's order."""

    name: str
    kind: str
    read: Callable[[], tuple[onnx.ModelProto, list[Array], list[Array]]]
    rtol: float = 1e-3
    atol: float = 1e-7
    expanded: bool = False
    """True when ONNX made it from another case, by an operation's function body."""


def load_cases(kinds: tuple[str, ...] = KINDS) -> list[Case]:
    """All cases of these kinds, in a fixed order; the node cases take seconds to generate."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the generators overflow on purpose
        return [
            Case(
                name=test.name,
                kind=kind,
                read=_reader(test),
                rtol=test.rtol,
                atol=test.atol,
                expanded=test.name.endswith(("_expanded", "_expanded_ver18")),
            )
            for kind in kinds
            for test in sorted(load_model_tests(kind=kind), key=lambda test: str(test.name))
        ]


def allowed(case: Case, model: onnx.ModelProto) -> Tolerance:
    """The tolerance that the case is judged by."""
    return tolerance(operations_of(model), Tolerance(case.rtol, case.atol))


def runner_arguments(cases: Iterable[Case]) -> dict[str, dict[str, float]]:
    """`test_kwargs` of ONNX's own runner: the tolerances that differ from a case's own."""
    found = {}
    for case in cases:
        judged = allowed(case, case.read()[0])
        if (judged.rtol, judged.atol) != (case.rtol, case.atol):
            found[case.name] = {"rtol": judged.rtol, "atol": judged.atol}
    return found


def operations_of(model: onnx.ModelProto) -> set[str]:
    """The operations that a model names, subgraphs and functions included."""
    found: set[str] = set()
    pending = [model.graph.node, *(function.node for function in model.functions)]
    while pending:
        for node in pending.pop():
            domain = "" if node.domain in ("", "ai.onnx") else f"{node.domain}::"
            found.add(domain + node.op_type)
            pending += [a.g.node for a in node.attribute if a.HasField("g")]
    return found


def _reader(test: Any) -> Callable[[], tuple[onnx.ModelProto, list[Array], list[Array]]]:
    if test.model is not None:
        ((inputs, outputs),) = test.data_sets
        return lambda: (test.model, [plain(x) for x in inputs], [plain(x) for x in outputs])
    if test.model_dir is not None:
        return lambda: _read_folder(Path(test.model_dir))
    if test.url.startswith(_LIGHT):
        light = Path(onnx.__file__).parent / test.url.removeprefix("onnx/")
        return lambda: _read_light(light)
    raise ValueError(f"{test.name} would have to be downloaded from {test.url}")


def plain(value: Any) -> Any:
    """An array for a tensor or a NumPy scalar, and a list of them for a sequence."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, onnx.SequenceProto):
        return numpy_helper.to_list(value)
    if isinstance(value, onnx.OptionalProto):
        return numpy_helper.to_optional(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return np.asarray(value) if isinstance(value, np.generic | int | float) else value


def _read_folder(folder: Path) -> tuple[onnx.ModelProto, list[Array], list[Array]]:
    """A model with its stored inputs and outputs."""
    model = onnx.load(folder / "model.onnx")
    (data,) = folder.glob("test_data_set*")
    inputs = list(_read_protos(data, "input", model.graph.input))
    return model, inputs, list(_read_protos(data, "output", model.graph.output))


def _read_protos(folder: Path, stem: str, values: Any) -> Iterator[Array]:
    for index in range(len(list(folder.glob(f"{stem}_*.pb")))):
        kind = values[index].type
        message: Any = onnx.TensorProto()
        if kind.HasField("sequence_type"):
            message = onnx.SequenceProto()
        elif kind.HasField("optional_type"):
            message = onnx.OptionalProto()
        message.ParseFromString((folder / f"{stem}_{index}.pb").read_bytes())
        yield plain(message)


def _read_light(path: Path) -> tuple[onnx.ModelProto, list[Array], list[Array]]:
    """A real network, whose weights it makes itself, with its stored output."""
    model = onnx.load(path)
    named = {tensor.name for tensor in model.graph.initializer}
    inputs = [
        Runner.generate_dummy_data(value) for value in model.graph.input if value.name not in named
    ]
    outputs = []
    for index in range(len(model.graph.output)):
        tensor = onnx.TensorProto()
        stored = path.with_name(f"{path.stem}_output_{index}.pb")
        tensor.ParseFromString(stored.read_bytes())
        outputs.append(plain(tensor))
    return model, inputs, outputs
