"""What has no elements is settled when compiling: providers refuse an axis of size 0, or worse.

OpenVINO answers with memory that nobody wrote, QNN's emulation divides by zero. But a value whose
shape is known to hold no element is known whole, and no device computes it. So a node with nothing
else to give is taken out, and one whose operands are all known is computed now, as onnxruntime does
with constants; what is left becomes what it comes to, or is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.errors import ExecutionError, printable
from rlx.program.structure import OWN, keep

if TYPE_CHECKING:
    import onnx

    from rlx.program import Program, ValueType

    Nodes = list[onnx.NodeProto]

DTYPES = {"float32": "FLOAT", "float64": "DOUBLE"}
"""Names of dtypes that are not ONNX's own in capitals."""


def settle(model: onnx.ModelProto, program: Program, engine: Any, id: str) -> None:
    """Take what has no elements out of the model, where it `has_empties`.

    Raises:
        ExecutionError: a node computes something of an operand without elements, and of others.
    """
    if has_empties(program):
        inputs = [value.name for value in program.body.inputs]
        _Settling(model, _types(program), engine, id).settle(inputs)


def has_empties(program: Program) -> bool:
    """Whether shapes tell that some value has no elements."""
    return any(map(_is_empty, _types(program).values()))


def _types(program: Program) -> dict[str, ValueType]:
    body = program.body
    return {value.name: value.type for value in (*body.inputs, *body.outputs)} | dict(body.types)


def _is_empty(kind: ValueType) -> bool:
    return kind.kind == "tensor" and kind.shape is not None and 0 in kind.shape


class _Settling:
    """A graph on its way; `known` are its values that are constants."""

    def __init__(self, model: onnx.ModelProto, types: dict[str, ValueType], engine: Any, id: str):
        self.model, self.types, self.engine, self.id = model, types, engine, id
        self.known = {tensor.name: tensor for tensor in model.graph.initializer}
        self.renamed: dict[str, str] = {}

    def settle(self, inputs: list[str]) -> None:
        graph = self.model.graph
        for name in filter(self.empty, inputs):
            # An initializer of an input's own name would be no more than its default.
            self.renamed[name] = f"{name}@empty"
            self.types[self.renamed[name]] = self.types[name]
            self.know(_zeros(self.renamed[name], self.types[name]))
        keep(graph.node, [one for node in list(graph.node) for one in self.settled(node)])

    def empty(self, name: str) -> bool:
        return name in self.types and _is_empty(self.types[name])

    def know(self, tensor: onnx.TensorProto) -> str:
        self.model.graph.initializer.append(tensor)
        self.known[tensor.name] = tensor
        return str(tensor.name)

    def settled(self, node: onnx.NodeProto) -> Nodes:
        """What takes the node's place: nothing, itself, or one that comes to the same."""
        outputs, inputs = ([name for name in side if name] for side in (node.output, node.input))
        for name in filter(self.empty, outputs):
            self.know(_zeros(name, self.types[name]))
        left = [name for name in outputs if name not in self.known]
        if not left:
            return []
        some = [name for name in inputs if not self.empty(name)]
        if len(some) == len(inputs) and len(left) == len(outputs) and node.op_type != "Constant":
            return [node]
        for place, name in enumerate(node.input):
            node.input[place] = self.renamed.get(name, name)
        if all(name in self.known for name in node.input if name):
            self.fold(node, left)
            return []
        made = self.remade(node, some, left) if node.domain in OWN else None
        if made is None:
            raise ExecutionError(
                f"{self.id} does not compute node {printable(node.name)!r} {node.op_type}: "
                "an operand or a result has no elements",
                fix="choose another backend for this program: try `rlx explain --all`.",
            )
        return made

    def fold(self, node: onnx.NodeProto, left: list[str]) -> None:
        """Compute the node now: all that it reads is constant."""
        from onnx import helper, numpy_helper

        results = [helper.make_empty_tensor_value_info(name) for name in left]
        held = {name: self.known[name] for name in node.input if name}
        graph = helper.make_graph([node], "constant", [], results, list(held.values()))
        single = helper.make_model(
            graph, opset_imports=self.model.opset_import, ir_version=self.model.ir_version
        )
        options = self.engine.SessionOptions()
        options.log_severity_level = 4
        session = self.engine.InferenceSession(
            single.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        for name, array in zip(left, session.run(left, {}), strict=True):
            self.know(numpy_helper.from_array(array, name))

    def remade(self, node: onnx.NodeProto, some: list[str], left: list[str]) -> Nodes | None:
        """The node without what is empty, for the operations that can do so; None for others."""
        from onnx import helper

        if node.op_type == "Concat":
            node.input[:] = some
            return [node] if len(some) > 1 else [_same(node, some[0], left[0])]
        if node.op_type == "Split" and len(left) == 1:
            return [_same(node, node.input[0], left[0])]
        shape = self.types[left[0]].shape or ()
        if (
            node.op_type == "Gemm"
            and all(isinstance(size, int) for size in shape)
            and not {"alpha", "beta"} & {a.name for a in node.attribute}
        ):
            zeros = self.know(_zeros(f"{left[0]}@zeros", self.types[left[0]]))
            return [helper.make_node("Add", [zeros, node.input[2]], left, node.name)]
        return None


def _same(node: onnx.NodeProto, value: str, result: str) -> onnx.NodeProto:
    from onnx import helper

    return helper.make_node("Identity", [value], [result], node.name)


def _zeros(name: str, kind: ValueType) -> onnx.TensorProto:
    """A constant of this type, of zeros if it has elements."""
    import numpy as np
    import onnx

    dtype = onnx.TensorProto.DataType.Value(DTYPES.get(kind.dtype, kind.dtype.upper()))
    if _is_empty(kind):
        return onnx.TensorProto(name=name, data_type=dtype, dims=kind.shape)
    sizes = [size for size in kind.shape or () if isinstance(size, int)]
    zeros = np.zeros(sizes, onnx.helper.tensor_dtype_to_np_dtype(dtype))
    return onnx.numpy_helper.from_array(zeros, name)
