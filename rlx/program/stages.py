"""A program with barriers as the programs of its stages, for backends that have no barrier."""

from __future__ import annotations

from dataclasses import dataclass

import onnx
from onnx import helper

from rlx.errors import ProgramError, printable
from rlx.program.cuts import Barrier, Cut, cuts, reads
from rlx.program.program import Program
from rlx.program.schemas import DTYPE_NUMBERS, canonical_schema, value_type
from rlx.program.tensors import Array
from rlx.program.types import ValueType

SCHEMAS = "schemas"
"""Where a program's variants hold what finds its schemas, if those are not ONNX's alone."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage, whose inputs and outputs are values of the whole program, under their names."""

    program: Program | None
    """None: there is no node between its barriers."""
    dead: tuple[str, ...]
    """The values that nobody reads once it, and what repeats it, is over."""
    barrier: Barrier | None
    """What it ends at; None: it is the last one."""


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of a program, in order, and the constants that barriers give on."""

    stages: tuple[Stage, ...]
    constants: tuple[tuple[str, Array], ...]
    """Those that barriers read, or that are outputs of the program."""


def stages(program: Program) -> Stages:
    """The stages of a program; made once, and kept with it.

    Raises:
        ProgramError: a value's type is not known, so that no stage can be handed it.
    """
    kept = program.variants.get("stages")
    if isinstance(kept, Stages):
        return kept
    model = onnx.ModelProto()
    model.ParseFromString(program.skeleton)
    parts = cuts(program.body)
    whole = _Whole(program, model)
    made = tuple(Stage(whole.part(cut), cut.dead, cut.barrier) for cut in parts)
    read = {value.name for value in program.outputs}
    read.update(*(cut.barrier.inputs for cut in parts if cut.barrier is not None))
    constants = tuple((name, array) for name, array in program.body.constants if name in read)
    found = program.variants["stages"] = Stages(made, constants)
    return found


class _Whole:
    """The program that is cut, with what its parts are made of."""

    def __init__(self, program: Program, model: onnx.ModelProto):
        self._program, self._model = program, model
        graph = model.graph
        self._stated = {
            value.name: value for value in (*graph.value_info, *graph.output, *graph.input)
        }
        self._types = dict(program.body.types)

    def part(self, cut: Cut) -> Program | None:
        if cut.first == cut.end:
            return None
        program = self._program
        nodes = program.body.nodes[cut.first : cut.end]
        made = {name for node in nodes for name in node.outputs if name}
        model = onnx.ModelProto(
            ir_version=self._model.ir_version, opset_import=self._model.opset_import
        )
        graph = model.graph
        graph.name = self._model.graph.name
        graph.node.extend(self._model.graph.node[cut.first : cut.end])
        graph.input.extend(map(self._value, cut.reads))
        graph.output.extend(map(self._value, cut.gives))
        inner = made.difference(cut.gives)
        graph.value_info.extend(one for name, one in self._stated.items() if name in inner)
        held = {name for node in nodes for name in reads(node)}
        constants = {name: array for name, array in program.body.constants if name in held}
        schemas = program.variants.get(SCHEMAS, canonical_schema)
        return Program.from_canonical(
            model.SerializeToString(deterministic=True),
            constants,
            program.name,
            program.path,
            schemas,
        )

    def _value(self, name: str) -> onnx.ValueInfoProto:
        """A value with its type."""
        kind = self._types.get(name) or ValueType("")
        if not kind.dtype:
            raise ProgramError(
                f"{printable(self._program.name)} can't be cut at its barriers: the type of "
                f"'{printable(name)}', which a stage is handed or gives, is not known",
                fix="declare what makes it in an Operations manifest, or state its type in "
                "the program's value_info.",
            )
        stated = self._stated.get(name)
        if stated is not None and value_type(stated.type).dtype == kind.dtype:
            return stated
        return helper.make_tensor_value_info(name, DTYPE_NUMBERS[kind.dtype], kind.shape)
