"""A graph's operations that move elements: reshape, transpose, narrow, concat, gather."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from rlx.errors import GraphError
from rlx.program.graph.arguments import MOST, axes_of, axis_of, integers, listed, ranked, whole
from rlx.program.graph.nodes import Nodes
from rlx.program.graph.operands import NodeId, differ


class Layout(Nodes):
    """Any dtype; axes count from 0, negative ones from the last."""

    def reshape(self, x: int, new_shape: Sequence[int]) -> NodeId:
        """The same elements, in row-major order, in another shape; one size may be -1 (the rest).

        Raises:
            GraphError: another number of elements, or two sizes of -1.
        """
        operand = self._operand("reshape", "x", x)
        sizes = integers("reshape", "new_shape", new_shape, least=-1)
        dims = operand.dims or ()
        if sizes.count(-1) > 1:
            raise GraphError(f"reshape: new_shape has -1 more than once, got {sizes}")
        if operand.dims is not None and all(isinstance(size, int) for size in dims):
            count = prod(size for size in dims if isinstance(size, int))
            known = prod(size for size in sizes if size != -1)
            fits = count == known if -1 not in sizes else known and count % known == 0
            if not fits:
                raise GraphError(
                    f"reshape: {operand}, whose elements ({count}) do not fill new_shape {sizes}"
                )
        shape = self._constant(np.array(sizes, np.int64))
        return self._emit("reshape", "Reshape", operand, shape, allowzero=int(0 in sizes))

    def transpose(self, x: int, perm: Sequence[int]) -> NodeId:
        """The axes in another order: the result's axis i is the node's axis `perm[i]`.

        Raises:
            GraphError: `perm` does not name every axis once.
        """
        operand = self._operand("transpose", "x", x)
        order = axes_of("transpose", "perm", perm, operand)
        if len(order) != operand.ndim:
            raise GraphError(
                f"transpose: {operand}, so perm must name {operand.ndim} axes, got {order}"
            )
        return self._emit("transpose", "Transpose", operand, perm=order)

    def narrow(self, x: int, axis: int, start: int, length: int) -> NodeId:
        """`length` elements from `start` along `axis`; the others stay whole.

        Raises:
            GraphError: there is no such axis, or they reach beyond it.
        """
        operand = self._operand("narrow", "x", x)
        place = axis_of("narrow", "axis", axis, operand)
        first = whole("narrow", "start", start, least=0)
        last = first + whole("narrow", "length", length, least=0)
        size = ranked("narrow", operand)[place]
        if last > MOST or (isinstance(size, int) and last > size):
            raise GraphError(f"narrow: {operand}, {first} to {last} is beyond its axis {place}")
        bounds = [self._constant(np.array([one], np.int64)) for one in (first, last, place)]
        return self._emit("narrow", "Slice", operand, *bounds)

    def concat(self, inputs: Sequence[int], axis: int) -> NodeId:
        """Nodes of one dtype after each other along `axis`; their other sizes are equal.

        Raises:
            GraphError: no nodes, unequal dtypes or sizes, or there is no such axis.
        """
        given = listed("concat", "inputs", inputs, "nodes")
        operands = [
            self._operand("concat", f"inputs[{place}]", one) for place, one in enumerate(given)
        ]
        if not operands:
            raise GraphError("concat: inputs has no node", fix="pass at least one node.")
        first = operands[0]
        place = axis_of("concat", "axis", axis, first)
        for one in operands[1:]:
            dims, other = ranked("concat", first), ranked("concat", one)
            same = len(dims) == len(other) and not any(
                differ(size, got)
                for at, (size, got) in enumerate(zip(dims, other, strict=True))
                if at != place
            )
            if not same:
                raise GraphError(f"concat: {first} and {one}, they must agree but for axis {place}")
        return self._emit("concat", "Concat", *operands, axis=place)

    def gather(self, table: int, indices: int, axis: int) -> NodeId:
        """The slices of `table` along `axis` that `indices` (i32 or i64) name.

        The axis gives way to the shape of `indices`. Negative indices count from the last.

        Raises:
            GraphError: there is no such axis, or indices of another dtype.
        """
        operand = self._operand("gather", "table", table)
        chosen = self._operand("gather", "indices", indices)
        place = axis_of("gather", "axis", axis, operand)
        return self._emit("gather", "Gather", operand, chosen, axis=place)
