"""What a graph holds, and how a node gets into it: checked, typed by ONNX's inference, numbered."""

from __future__ import annotations

import re
import secrets
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import checker, helper, numpy_helper, shape_inference

from rlx.device import shown
from rlx.errors import GraphConsumed, GraphError, printable
from rlx.program.graph.arguments import alike, takes, whole
from rlx.program.graph.names import ONNX_TEXTS, SHORT
from rlx.program.graph.operands import NodeId, Operand, broadcast, dims_of
from rlx.program.schemas import newest_schema
from rlx.program.types import CANONICAL_OPSET

_IMPORTS = [helper.make_opsetid("", CANONICAL_OPSET)]
_NOISE = re.compile(r"^\[\w+\] |\(op_type:\w+(, node name: [^)]*)?\): ")


class Nodes:
    """The nodes of a graph, in the order in which they were added."""

    def __init__(self, name: str):
        self._name = name
        self._owner = (secrets.token_hex(8), name)
        self._names: list[str] = []
        """By id, the name of the value in ONNX."""
        self._types: list[onnx.TypeProto] = []
        self._nodes: dict[int, onnx.NodeProto] = {}
        self._constants: dict[int, onnx.TensorProto] = {}
        self._inputs: list[int] = []
        self._params: list[int] = []
        self._outputs: list[int] = []
        self._taken: set[str] = set()
        self._program: Any = None
        """The program as last made of it; None after a change."""
        self._consumed = False

    def _check_open(self) -> None:
        if self._consumed:
            raise GraphConsumed(f"the graph {printable(self._name)!r} was compiled")

    def _operand(self, method: str, argument: str, value: Any) -> Operand:
        """The node that an argument names.

        Raises:
            GraphError: it is no id, or of another graph.
            GraphConsumed: the graph was compiled.
        """
        self._check_open()
        if isinstance(value, NodeId) and value.owner not in (None, self._owner):
            other = value.owner[1] if value.owner else ""
            raise GraphError(
                f"{method}: {argument} is a node of the graph {printable(other)!r}, "
                f"not of {printable(self._name)!r}"
            )
        number = whole(method, argument, value)
        if not 0 <= number < len(self._types):
            count = len(self._types)
            known = f"has {count} node{'s' * (count != 1)}"
            raise GraphError(
                f"{method}: {argument} is {number}, and the graph {known}",
                fix="pass what a method of this graph returned.",
            )
        return self._of(number, argument)

    def _of(self, number: int, argument: str = "") -> Operand:
        """A node that is known to be of this graph."""
        proto = self._types[number]
        return Operand(argument, int(number), self._names[number], proto, dims_of(proto))

    def _number(self, name: str, proto: onnx.TypeProto) -> NodeId:
        """A new node's id."""
        self._taken.add(name)
        self._names.append(name)
        self._types.append(proto)
        self._program = None
        return NodeId.of(len(self._types) - 1, self._owner)

    def _free(self, stem: str) -> str:
        """A name that no value has: the method's, with the id that comes next."""
        name = f"{stem}_{len(self._types)}"
        while name in self._taken:
            name += "_"
        return name

    def _constant(self, array: Any) -> Operand:
        """A constant, as a node."""
        self._check_open()
        tensor = numpy_helper.from_array(np.asarray(array), self._free("constant"))
        proto = helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
        made = self._number(tensor.name, proto)
        self._constants[int(made)] = tensor
        return self._of(made)

    def _emit(self, method: str, operation: str, *operands: Operand, **attributes: Any) -> NodeId:
        """Add an ONNX node, and return its only output.

        Raises:
            GraphError: the operands' dtypes or shapes are not what the operation takes.
        """
        self._check_open()
        schema = newest_schema("", operation)
        assert schema is not None, operation
        _check_dtypes(method, schema, operands)
        name = self._free(method)
        given = {
            key: value for key, value in attributes.items() if value != []
        }  # ONNX can't tell their type
        node = helper.make_node(
            operation, [one.name for one in operands], [name], name=name, **given
        )
        data = {one.name: self._constants[one.id] for one in operands if one.id in self._constants}
        try:
            found = shape_inference.infer_node_outputs(
                schema,
                node,
                {one.name: one.type for one in operands},
                data,
                {},
                _IMPORTS,
                onnx.IR_VERSION,
            )
        except (shape_inference.InferenceError, checker.ValidationError) as error:
            raise GraphError(_refusal(method, operands, error)) from error
        made = self._number(name, found[name])
        self._nodes[int(made)] = node
        return made

    def _chain(self, method: str, operation: str, *operands: Operand, **attributes: Any) -> Operand:
        """As `_emit`, for a node that the method goes on with."""
        return self._of(self._emit(method, operation, *operands, **attributes))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__, _program=None)
        state["_types"] = [one.SerializeToString() for one in self._types]
        for key in ("_nodes", "_constants"):
            state[key] = {i: one.SerializeToString() for i, one in state[key].items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({key: _own(value) for key, value in state.items()})
        self._types = [onnx.TypeProto.FromString(one) for one in state["_types"]]
        for key, kind in (("_nodes", onnx.NodeProto), ("_constants", onnx.TensorProto)):
            setattr(self, key, {i: kind.FromString(one) for i, one in state[key].items()})


def _own(value: Any) -> Any:
    """A list or a set of its own: `copy.copy` hands over those of the graph that it copies."""
    return value.copy() if isinstance(value, list | set) else value


def _check_dtypes(method: str, schema: onnx.defs.OpSchema, operands: tuple[Operand, ...]) -> None:
    """Refuse dtypes that the operation does not take; name the arguments."""
    bound: dict[str, Operand] = {}
    for place, one in enumerate(operands):
        formal = schema.inputs[min(place, len(schema.inputs) - 1)]
        if one.type.tensor_type.elem_type not in SHORT:  # an intermediate of another dtype
            continue
        if one.dtype not in (allowed := _allowed(schema.name, formal.type_str)):
            takes(method, one, allowed)
        if formal.is_homogeneous:
            alike(method, bound.setdefault(formal.type_str, one), one)


@cache
def _allowed(operation: str, variable: str) -> tuple[str, ...]:
    """The dtypes that an operation's type variable may be, by a graph's names."""
    schema = newest_schema("", operation)
    assert schema is not None, operation
    formal = next(one for one in schema.inputs if one.type_str == variable)
    return tuple(short for text, short in ONNX_TEXTS.items() if text in formal.types)


def _refusal(method: str, operands: tuple[Operand, ...], error: Exception) -> str:
    """What ONNX's inference says, with the operands that it says it of."""
    given = ", ".join(str(one) for one in operands if one.argument)
    dims = [one.dims for one in operands if one.argument and one.dims is not None]
    if not broadcast(dims) and "ncompatible dimensions" in str(error):
        return f"{method}: {given}: these shapes do not go together"
    text = printable(_NOISE.sub("", str(error)).strip().split("\n")[0]).rstrip(".")
    return f"{method}: {given}: {shown(text)[1:-1] if len(text) > 200 else text}"
