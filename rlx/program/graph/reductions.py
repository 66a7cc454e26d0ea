"""A graph's operations along axes: reductions, softmax, running sums, normalisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.errors import GraphError
from rlx.program.graph import names
from rlx.program.graph.arguments import alike, axes_of, axis_of, flag, ranked, real, takes
from rlx.program.graph.names import FLOATS
from rlx.program.graph.nodes import Nodes
from rlx.program.graph.operands import NodeId, Operand, differ


class Reductions(Nodes):
    """Axes count from 0; negative ones from the last."""

    def reduce(
        self, input: int, op: str, axes: list[int] | tuple[int, ...], keep_dim: bool = False
    ) -> NodeId:
        """sum, mean, max, min or prod over axes, which stay as size 1 with `keep_dim`.

        No axes: the node as it is. f32 f16 bf16 f64 i32 u32 i64; max and min also i8 u8 bool.

        Raises:
            GraphError: an unknown `op`, an axis that is not there or named twice, another dtype.
        """
        operation = names.look_up("reduce", "op", op, names.REDUCTIONS)
        return self._reduce("reduce", operation, ("input", input), axes, keep_dim)

    def sum(self, x: int, axes: list[int] | tuple[int, ...], keep_dim: bool = False) -> NodeId:
        """The sum over axes; as `reduce`."""
        return self._reduce("sum", "ReduceSum", ("x", x), axes, keep_dim)

    def mean(self, x: int, axes: list[int] | tuple[int, ...], keep_dim: bool = False) -> NodeId:
        """The mean over axes; as `reduce`."""
        return self._reduce("mean", "ReduceMean", ("x", x), axes, keep_dim)

    def softmax(self, input: int, axis: int = -1) -> NodeId:
        """exp(x) over its sum along `axis`; same shape and dtype, f32 f16 bf16 f64.

        Raises:
            GraphError: there is no such axis, or another dtype.
        """
        operand = self._operand("softmax", "input", input)
        return self._emit(
            "softmax", "Softmax", operand, axis=axis_of("softmax", "axis", axis, operand)
        )

    def cumsum(self, input: int, axis: int, exclusive: bool = False) -> NodeId:
        """Running sums along `axis`; `exclusive`: of the elements before each.

        Same shape and dtype; f32 f16 bf16 f64 i32 u32 i64.

        Raises:
            GraphError: there is no such axis, or another dtype.
        """
        operand = self._operand("cumsum", "input", input)
        along = self._constant(np.int64(axis_of("cumsum", "axis", axis, operand)))
        exclusive = flag("cumsum", "exclusive", exclusive)
        return self._emit("cumsum", "CumSum", operand, along, exclusive=int(exclusive))

    def layer_norm(
        self, input: int, gamma: int, beta: int, axis: int = -1, eps: float = 1e-5
    ) -> NodeId:
        """(x - mean) / √(variance + eps) · gamma + beta, over the axes from `axis` to the last.

        `gamma` and `beta` have the shape of those axes. f32 f16 bf16 f64, all of one dtype.

        Raises:
            GraphError: there is no such axis, or other shapes or dtypes.
        """
        method = "layer_norm"
        operand, scale, shift = self._three(method, input, gamma, beta)
        place = axis_of(method, "axis", axis, operand)
        _check_tail(method, operand, scale, place)
        _check_tail(method, operand, shift, place)
        epsilon = real(method, "eps", eps)
        return self._emit(
            method, "LayerNormalization", operand, scale, shift, axis=place, epsilon=epsilon
        )

    def rms_norm(self, input: int, gamma: int, beta: int, eps: float = 1e-5) -> NodeId:
        """x / √(mean(x²) + eps) · gamma + beta, over the last axis.

        `gamma` and `beta` have one dimension, of the last axis' size; dtypes as `layer_norm`.

        Raises:
            GraphError: other shapes or dtypes.
        """
        method = "rms_norm"
        operand, scale, shift = self._three(method, input, gamma, beta)
        place = axis_of(method, "axis", -1, operand)
        _check_tail(method, operand, scale, place)
        _check_tail(method, operand, shift, place)
        epsilon = real(method, "eps", eps)
        scaled = self._chain(
            method, "RMSNormalization", operand, scale, axis=place, epsilon=epsilon
        )
        return self._emit(method, "Add", scaled, shift)

    def _reduce(
        self, method: str, operation: str, given: tuple[str, int], axes: Any, keep_dim: bool
    ) -> NodeId:
        operand = self._operand(method, *given)
        keep = flag(method, "keep_dim", keep_dim)
        places = axes_of(method, "axes", axes, operand)
        if not places:
            return self._emit(method, "Identity", operand)
        along = self._constant(np.array(places, np.int64))
        return self._emit(method, operation, operand, along, keepdims=int(keep))

    def _three(self, method: str, input: int, gamma: int, beta: int) -> tuple[Operand, ...]:
        operand = self._operand(method, "input", input)
        scale = self._operand(method, "gamma", gamma)
        shift = self._operand(method, "beta", beta)
        takes(method, operand, FLOATS)
        for one in (scale, shift):
            alike(method, operand, one)
        return operand, scale, shift


def _check_tail(method: str, operand: Operand, one: Operand, axis: int) -> None:
    """Refuse a scale or a shift whose shape is not that of the axes that are normalised."""
    wanted, got = ranked(method, operand)[axis:], ranked(method, one)
    if len(wanted) != len(got) or any(map(differ, wanted, got)):
        sizes = ",".join("?" if size is None else str(size) for size in wanted)
        raise GraphError(f"{method}: {operand}, so {one.argument} must be [{sizes}], but {one}")
