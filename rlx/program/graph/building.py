"""`Graph`: a program built node by node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import onnx
from onnx import helper

from rlx.device import shown
from rlx.errors import GraphError, printable
from rlx.program.graph import arguments, names
from rlx.program.graph.elementwise import Elementwise
from rlx.program.graph.fences import Fences
from rlx.program.graph.fourier import Fourier
from rlx.program.graph.layout import Layout
from rlx.program.graph.operands import NodeId, shape_text
from rlx.program.graph.products import Products
from rlx.program.graph.reductions import Reductions
from rlx.program.loading import load
from rlx.program.program import Program
from rlx.program.types import CANONICAL_OPSET


class Graph(Elementwise, Reductions, Layout, Products, Fourier, Fences):
    """A program under construction: each method adds nodes, and returns a node's id.

    Ids are ints, from 0, of this graph only. Shapes and dtypes are inferred as nodes are added,
    so that what does not fit is refused where it is written. dtypes are f32 f16 bf16 f64 i8 u8
    i16 i32 u32 i64 bool. `Session.compile` consumes the graph: nothing can be added to it then,
    and compiling it again is an error. Graphs can be pickled.

    Every method raises `GraphError` (a ValueError) for an argument that it does not take, and
    `GraphConsumed` (a RuntimeError) once the graph was compiled.
    """

    def __init__(self, name: str):
        super().__init__(arguments.text("Graph", "name", name))

    def input(self, name: str, shape: Sequence[int | str], dtype: str) -> NodeId:
        """Declare an input, which each run is given; a size may be a name: it may vary then.

        Raises:
            GraphError: a name that is taken, a size below 0, or an unknown dtype.
        """
        dims = arguments.shape("input", shape, symbols=True)
        made = self._declare("input", name, dims, dtype)
        self._inputs.append(int(made))
        return made

    def param(self, name: str, shape: Sequence[int], dtype: str) -> NodeId:
        """Declare a parameter, which `set_param` of the compiled program sets once for all runs.

        Raises:
            GraphError: a name that is taken, a size below 0, or an unknown dtype.
        """
        made = self._declare("param", name, arguments.shape("param", shape), dtype)
        self._params.append(int(made))
        return made

    def set_outputs(self, outputs: Sequence[int]) -> None:
        """State the nodes that a run returns, in this order; a later call replaces it.

        Raises:
            GraphError: there are none.
        """
        self._check_open()
        given = arguments.listed("set_outputs", "outputs", outputs, "nodes")
        found = [
            self._operand("set_outputs", f"outputs[{place}]", one).id
            for place, one in enumerate(given)
        ]
        if not found:
            raise GraphError("set_outputs: outputs has no node", fix="pass at least one node.")
        self._outputs, self._program = found, None

    def shape_of(self, id: int) -> tuple[list[int | str | None], str]:
        """A node's sizes and dtype, such as `([2, 3], "f32")`.

        A size that may vary is its name, or None where none was given.

        Raises:
            GraphError: there is no such node, or its number of dimensions is not known.
        """
        operand = self._operand("shape_of", "id", id)
        return list(arguments.ranked("shape_of", operand)), operand.dtype

    @property
    def params(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of their declaration."""
        return tuple(self._names[one] for one in self._params)

    def to_program(self) -> Program:
        """The graph as a program, whose inputs are the inputs and then the parameters.

        Nodes that no output needs are left out. The graph is not consumed.

        Raises:
            GraphError: no outputs were set.
        """
        self._check_open()
        if self._program is None:
            program = load(self._model())
            self._program = replace(program, name=self._name)
        found: Program = self._program
        return found

    def consume(self) -> None:
        """Mark the graph as compiled; `Session.compile` does."""
        self._check_open()
        self._consumed, self._program = True, None

    def _declare(self, method: str, name: str, dims: tuple[Any, ...], dtype: str) -> NodeId:
        self._check_open()
        text = arguments.text(method, "name", name)
        number = names.dtype_number(method, dtype)
        if text in self._taken:
            raise GraphError(
                f"{method}: the name {shown(text)} is taken", fix="choose another name."
            )
        return self._number(text, helper.make_tensor_type_proto(number, dims))

    def _model(self) -> onnx.ModelProto:
        if not self._outputs:
            raise GraphError(
                f"the graph {printable(self._name)!r} has no outputs",
                fix="state them with set_outputs([...]).",
            )
        needed = self._needed()
        by_name = {
            self._nodes[one].name: self._nodes[one] for one in sorted(needed & self._nodes.keys())
        }
        nodes = list(by_name.values())
        outputs, seen = [], set(self._inputs) | set(self._params) | set(self._constants)
        for place, one in enumerate(self._outputs):
            name = self._names[one]
            if one in seen:  # an output of its own, as ONNX wants
                name = self._free(f"output_{place}")
                nodes.append(helper.make_node("Identity", [self._names[one]], [name], name=name))
            seen.add(one)
            outputs.append(onnx.ValueInfoProto(name=name, type=self._types[one]))
        graph = helper.make_graph(
            nodes,
            self._name,
            [
                onnx.ValueInfoProto(name=self._names[one], type=self._types[one])
                for one in (*self._inputs, *self._params)
            ],
            outputs,
            [self._constants[one] for one in sorted(needed) if one in self._constants],
        )
        return helper.make_model(
            graph,
            ir_version=onnx.IR_VERSION,
            opset_imports=[
                helper.make_opsetid("", CANONICAL_OPSET),
                *([helper.make_opsetid("rlx", 1)] if any(one.domain for one in nodes) else []),
            ],
        )

    def _needed(self) -> set[int]:
        """The nodes that the outputs rest on."""
        ids = {name: number for number, name in enumerate(self._names)}
        found, open_ = set(self._outputs), list(self._outputs)
        while open_:
            node = self._nodes.get(open_.pop())
            for name in node.input if node is not None else ():
                if name and ids[name] not in found:
                    found.add(ids[name])
                    open_.append(ids[name])
        return found

    def __len__(self) -> int:
        return len(self._types)

    def __repr__(self) -> str:
        name = printable(self._name)
        if self._consumed:
            return f"<Graph {name}, compiled>"
        outputs = [self._of(one) for one in self._outputs]
        gives = ", ".join(shape_text(one.dtype, one.dims) for one in outputs) or "no outputs"
        return f"<Graph {name}, {len(self)} nodes -> {gives}>"
