"""A program as tinygrad's ONNX runner, which keeps nothing from one run to the next."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.errors import ExecutionError, printable, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import onnx

    from rlx.backends.tinygrad_place import Place
    from rlx.program import Program

DTYPES = frozenset({"bool", "float32", "int32", "int64", "uint8"})
"""dtypes that are exchanged, by ONNX's names, which are tinygrad's as well: those of most networks.

tinygrad has others. They are left out because what is claimed has been measured, and each dtype of
each operation is a kernel to compile: with float16 and int8 as well, twice as many. float64 and
bfloat16 also depend on the device."""
SIZES = frozenset({"Shape", "Size"})
"""Operations whose results depend on sizes alone."""
SMALL = 4096
"""Constants of so many elements at most are sizes, axes and the like."""
FAULTY = frozenset({"Attention"})
"""Operations that tinygrad does not compute as ONNX says, and that come out right when lowered.

Attention pairs the heads of fewer keys with the wrong queries, and masks in another order."""
WRITERS = frozenset({"Adagrad", "Adam", "Momentum", "ScatterND", "TensorScatter"})
"""Operations that tinygrad computes in the memory of their inputs, which others may read."""


def check_exchanged(program: Program, id: str) -> None:
    """Inputs and outputs are tensors of dtypes that are exchanged.

    Raises:
        ExecutionError: one is not.
    """
    for value in (*program.inputs, *program.outputs):
        if value.type.kind != "tensor" or value.type.dtype not in DTYPES:
            raise ExecutionError(
                f"{id} can't exchange {printable(value.name)}, which is {value.type.dtype}",
                fix="choose another backend: run `rlx explain --all`.",
            )


class Runner:
    """The runner, and its constants on the device; use it under the place's settings."""

    def __init__(self, program: Program, place: Place, id: str):
        from tinygrad import Tensor
        from tinygrad.nn.onnx import OnnxRunner

        with tempfile.TemporaryDirectory(prefix="rlx-tinygrad-") as folder:
            file = Path(folder) / "model.onnx"
            file.write_bytes(_with_named_sizes(program.to_onnx()).SerializeToString())
            try:
                self._runner = OnnxRunner(file).to(place.name)
            except Exception as error:
                raise ExecutionError(
                    f"{id} can't read {printable(program.name)}: {told(error)}",
                    fix="choose another backend: run `rlx explain --all`.",
                ) from error
            self._all = list(_runners(self._runner))
            self._constants = [dict(one.graph_values) for one in self._all]
            kept = [value for one in self._all for value in _tensors(one)]
            stored = [one for one in kept if one.uop.device is not None and one.numel()]
            if stored:
                Tensor.realize(*stored)
        missing = sorted(set(_unknown(self._all)))
        if missing:
            raise ExecutionError(
                f"{id} lacks {', '.join(missing)}, which {printable(program.name)} needs",
                fix="choose another backend: run `rlx explain --all`.",
            )
        for one in self._all:
            one.onnx_ops = _own_memory(one.onnx_ops)
        self.devices = {one.uop.device for one in stored}
        """Where the constants are."""
        self._known = dict(_values(program))

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name, not computed yet."""
        return dict(self._runner(dict(inputs)))

    def forget(self) -> None:
        """Forget the values of the last run, and what was read of them."""
        for one, constants in zip(self._all, self._constants, strict=True):
            one.graph_values = dict(constants)
            one.variable_dims = {}
            one._python_const_cache.clear()
        self._runner._python_const_cache.update(self._known)

    def depends_on_data(self, inputs: Sequence[str]) -> bool:
        """Whether the last run read values that come from these inputs, not from their sizes.

        Such a run can't be recorded: the recording would keep the values. Branches count as such.
        """
        if len(self._all) > 1:
            return True
        tainted = set(inputs)
        for node in self._runner.graph_nodes:
            if node.op not in SIZES and tainted.intersection(node.inputs):
                tainted.update(node.outputs)
        return bool(tainted.intersection(self._runner._python_const_cache))


def _with_named_sizes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, each unknown size of its inputs a name: tinygrad would accept no size there."""
    for value in model.graph.input:
        for axis, size in enumerate(value.type.tensor_type.shape.dim):
            if size.WhichOneof("value") is None:
                size.dim_param = f"{value.name}@{axis}"
    return model


def _values(program: Program) -> Iterator[tuple[str, Any]]:
    """Small constants by name, as tinygrad's runner reads them.

    It would read those without memory by way of its device for the processor, whatever the device.
    """
    for name, array in program.body.constants:
        if array.size <= SMALL and array.dtype.kind in "biuf":
            yield name, _plain(array)
    for node in program.body.nodes:
        for name, value in node.attributes if node.operation == "Constant" else ():
            if name == "value" and value.size <= SMALL and value.dtype.kind in "biuf":
                yield node.outputs[0], _plain(value)
            elif name in ("value_int", "value_float"):
                yield node.outputs[0], value
            elif name in ("value_ints", "value_floats"):
                yield node.outputs[0], list(value)


def _plain(array: Any) -> Any:
    return array.tobytes() if array.dtype == "uint8" else array.tolist()


def _runners(runner: Any) -> Iterator[Any]:
    """The runner, and those of branches."""
    yield runner
    for node in runner.graph_nodes:
        for value in node.opts.values():
            if isinstance(value, type(runner)):
                yield from _runners(value)


def _tensors(runner: Any) -> Iterator[Any]:
    """The constants of a runner: initializers, and tensors in attributes."""
    from tinygrad import Tensor

    values = [*runner.graph_values.values()]
    values += [value for node in runner.graph_nodes for value in node.opts.values()]
    yield from (value for value in values if isinstance(value, Tensor))


def _unknown(runners: Sequence[Any]) -> Iterator[str]:
    """The operations that it has not, or not as ONNX has them."""
    for runner in runners:
        for node in runner.graph_nodes:
            try:
                runner._select_op(node.op, node.opset_id)
            except NotImplementedError:
                yield node.op
            else:
                if node.op in FAULTY:
                    yield node.op


def _own_memory(operations: Mapping[str, Any]) -> dict[str, Any]:
    """The operations, with those that write given copies of what they would write to."""
    from types import FunctionType

    changed = {name: operations[name] for name in WRITERS if name in operations}
    wrapped = {
        name: _copying(made) for name, made in changed.items() if isinstance(made, FunctionType)
    }
    return {**operations, **wrapped}


def _copying(function: Callable[..., Any]) -> Any:
    from tinygrad import Tensor

    def own(value: Any) -> Any:
        return value.clone() if isinstance(value, Tensor) else value

    def call(*inputs: Any, **attributes: Any) -> Any:
        return function(*map(own, inputs), **attributes)

    # tinygrad takes only plain functions for operations.
    return functools.wraps(function)(call)
