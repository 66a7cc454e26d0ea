"""Editing one graph while its nodes are brought to the canonical opset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

from rlx.errors import ProgramError
from rlx.program.schemas import DTYPE_NAMES, value_type
from rlx.program.structure import all_graphs, label
from rlx.program.tensors import Array, tensor_array
from rlx.program.types import ValueType

Rewrite = Callable[[onnx.NodeProto, "Edit"], None]
"""Turns a node of one schema into the next: in place, and with nodes added around it."""


class Names:
    """Every name in a program, so that a new one is new everywhere."""

    def __init__(self, graph: onnx.GraphProto):
        self._taken: set[str] = set()
        for inner in all_graphs(graph):
            self._taken.update(value.name for value in inner.input)
            self._taken.update(tensor.name for tensor in inner.initializer)
            self._taken.update(name for node in inner.node for name in node.output)

    def fresh(self, stem: str) -> str:
        """A name that nothing has: the stem, or the stem and a number."""
        name, number = stem, 1
        while name in self._taken:
            name, number = f"{stem}_{number}", number + 1
        self._taken.add(name)
        return name


class Edit:
    """One graph, the names in scope, and the place where nodes are added.

    Added nodes are written for the canonical opset; they are not rewritten again.
    """

    def __init__(self, graph: onnx.GraphProto, names: Names, outer: Edit | None = None):
        self.graph = graph
        self.names = names
        self.outer = outer
        self.before: list[onnx.NodeProto] = []
        self.after: list[onnx.NodeProto] = []
        self._read: set[str] | None = None
        self._types = {
            value.name: value.type for value in (*graph.value_info, *graph.output, *graph.input)
        }
        self._tensors = {tensor.name: tensor for tensor in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant" and not node.domain:
                for attribute in node.attribute:
                    if attribute.name == "value" and node.output:
                        self._tensors[node.output[0]] = attribute.t

    def type(self, name: str) -> ValueType:
        """The inferred type of a value, here or in a graph around this one."""
        if name in self._tensors:
            tensor = self._tensors[name]
            return ValueType(DTYPE_NAMES.get(tensor.data_type, ""), tuple(tensor.dims))
        found = self.proto_type(name)
        return ValueType("") if found is None else value_type(found)

    def proto_type(self, name: str) -> onnx.TypeProto | None:
        """The inferred type as ONNX has it; None where it is not known."""
        if name in self._types:
            return self._types[name]
        return self.outer.proto_type(name) if self.outer is not None else None

    def constant(self, name: str) -> Array | None:
        """The value of a small initializer or a Constant node; None where it is not known."""
        if name in self._tensors:
            return tensor_array(self._tensors[name], f"constant '{name}'")
        return self.outer.constant(name) if self.outer is not None else None

    def tensor(self, values: Array | Sequence[int], stem: str) -> str:
        """Add an initializer (int64 for a plain list) and return its name."""
        array = np.asarray(values, np.int64) if not isinstance(values, np.ndarray) else values
        name = self.names.fresh(stem)
        tensor = numpy_helper.from_array(array, name)
        self.graph.initializer.append(tensor)
        self._tensors[name] = tensor
        return name

    def add(self, operation: str, inputs: Sequence[str], stem: str, **attributes: Any) -> str:
        """Add a node with one output before the current one; returns the output's name."""
        output = self.names.fresh(stem)
        self.before.append(helper.make_node(operation, inputs, [output], stem, **attributes))
        return output

    def is_read(self, name: str) -> bool:
        """Whether a node of this graph or of one within it, or an output list, reads the value."""
        if self._read is None:
            graphs = list(all_graphs(self.graph))
            self._read = {name for graph in graphs for node in graph.node for name in node.input}
            self._read.update(value.name for graph in graphs for value in graph.output)
        return name in self._read

    def like(self, value: float, name: str, stem: str) -> str:
        """A scalar of the dtype of the value `name`; by a node where that is not known."""
        dtype = self.type(name).dtype
        with np.errstate(over="ignore"):
            if dtype == "bfloat16":
                return self.tensor(np.array(value, ml_dtypes.bfloat16), stem)
            if dtype:
                return self.tensor(np.array(value).astype(dtype), stem)
        return self.add("CastLike", [self.tensor(np.array(value, np.float32), stem), name], stem)

    def add_after(
        self, operation: str, node: onnx.NodeProto, output: int, *more: str, **attributes: Any
    ) -> None:
        """Pass an output of the node through a further node, which takes over its name."""
        name = node.output[output]
        inner = self.names.fresh(f"{name}_raw")
        node.output[output] = inner
        self.after.append(
            helper.make_node(operation, [inner, *more], [name], f"{name}_{operation}", **attributes)
        )


def take(node: onnx.NodeProto, name: str, default: Any = None) -> Any:
    """The value of an attribute, which is removed; else the default."""
    for position, attribute in enumerate(node.attribute):
        if attribute.name == name:
            value = helper.get_attribute_value(attribute)
            del node.attribute[position]
            return list(value) if isinstance(value, Sequence) and not _text(value) else value
    return default


def _text(value: object) -> bool:
    return isinstance(value, str | bytes)


def peek(node: onnx.NodeProto, name: str, default: Any = None) -> Any:
    """The value of an attribute, which stays; else the default."""
    for attribute in node.attribute:
        if attribute.name == name:
            return helper.get_attribute_value(attribute)
    return default


def put(node: onnx.NodeProto, name: str, value: Any) -> None:
    """Set an attribute, replacing the one that is there."""
    take(node, name)
    node.attribute.append(helper.make_attribute(name, value))


def refuse(node: onnx.NodeProto, opset: int, reason: str) -> ProgramError:
    """The error for a node that means something the canonical opset cannot say."""
    return ProgramError(
        f"{label(node)} as opset {opset} defines it {reason}",
        fix="export the model again, at opset 21 or above.",
    )
