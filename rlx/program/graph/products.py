"""A graph's matrix products: matmul, attention, and the rotary embedding that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import helper

from rlx.errors import GraphError
from rlx.program.graph import arguments, names
from rlx.program.graph.heads import check_heads, mask_window
from rlx.program.graph.nodes import Nodes
from rlx.program.graph.operands import NodeId, Operand, broadcast, differ, shape_text


class Products(Nodes):
    """The products of a transformer."""

    def matmul(self, lhs: int, rhs: int) -> NodeId:
        """The matrix product over the last axis of `lhs` and the last but one of `rhs`.

        Axes before the last two broadcast; one dimension is a vector, as in NumPy. f32 f16 bf16
        f64 i32 u32 i64, both of one dtype.

        Raises:
            GraphError: sizes that do not meet, or unequal or other dtypes.
        """
        return self._matmul("matmul", lhs, rhs)

    def matmul_with_shape(self, lhs: int, rhs: int, out_shape: Sequence[int], dtype: str) -> NodeId:
        """As `matmul`, where the result's shape and dtype are stated, and checked.

        Raises:
            GraphError: also where the product has another shape or dtype.
        """
        method = "matmul_with_shape"
        wanted = arguments.shape(method, out_shape, symbols=True)
        names.dtype_number(method, dtype)
        made = self._matmul(method, lhs, rhs)
        arguments.agrees(method, self._of(made), wanted, dtype)
        return made

    def attention(self, q: int, k: int, v: int, mask: int, num_heads: int, head_dim: int) -> NodeId:
        """softmax(q·kᵀ / √head_dim)·v for each head, without the keys that `mask` leaves out.

        Queries are [batch, heads, length, head_dim] or [batch, length, heads·head_dim], keys and
        values alike (with fewer heads, each serves several of q's); the result has the shape of
        q. `mask` is [batch, keys], or broadcasts to [batch, heads, length, keys]; a key takes
        part where it is True, or 0.5 and above. f32 f16 bf16 f64.

        Raises:
            GraphError: other shapes or dtypes.
        """
        operands = self._heads("attention", q, k, v, num_heads, head_dim)
        allowed = self._allowed(self._operand("attention", "mask", mask), operands)
        return self._attend("attention", (*operands, allowed), num_heads)

    def attention_kind(
        self, q: int, k: int, v: int, num_heads: int, head_dim: int, mask_kind: str
    ) -> NodeId:
        """As `attention`, with the mask by its kind.

        `none`: every query sees every key; `causal`: query i the keys up to i; `sliding:W`: the
        keys from i - W to i.

        Raises:
            GraphError: an unknown kind, other shapes or dtypes.
        """
        method = "attention_kind"
        window = mask_window(method, mask_kind)
        operands = self._heads(method, q, k, v, num_heads, head_dim)
        if window is None or window == -1:
            return self._attend(method, operands, num_heads, is_causal=int(window is not None))
        return self._attend(method, (*operands, self._band(method, operands, window)), num_heads)

    def rope(self, x: int, cos: int, sin: int, head_dim: int) -> NodeId:
        """The rotary embedding, of halves: (a, b) of a head become (a·cos - b·sin, b·cos + a·sin).

        `x` is [batch, length, heads·head_dim] or [batch, heads, length, head_dim]; `cos` and
        `sin` are [length, head_dim/2], or [batch, length, head_dim/2]. f32 f16 bf16.

        Raises:
            GraphError: other shapes or dtypes.
        """
        operand = self._operand("rope", "x", x)
        size = arguments.whole("rope", "head_dim", head_dim, least=2)
        dims = arguments.ranked("rope", operand)
        if len(dims) not in (3, 4) or size % 2 or not _holds(dims[-1], size, len(dims) == 3):
            raise GraphError(
                f"rope: {operand}, it takes [batch,length,heads*{size}] or "
                f"[batch,heads,length,{size}], head_dim even"
            )
        tables = [
            self._table(operand, self._operand("rope", argument, one), size // 2)
            for argument, one in (("cos", cos), ("sin", sin))
        ]
        heads = {}
        if len(dims) == 3:
            heads["num_heads"] = arguments.sized("rope", operand, 2) // size
        return self._emit("rope", "RotaryEmbedding", operand, *tables, **heads)

    def _matmul(self, method: str, lhs: int, rhs: int) -> NodeId:
        one, other = self._operand(method, "lhs", lhs), self._operand(method, "rhs", rhs)
        left, right = arguments.ranked(method, one), arguments.ranked(method, other)
        if not left or not right:
            raise GraphError(f"{method}: {one} and {other}, each must have a dimension")
        inner = right[-2] if len(right) > 1 else right[0]
        if differ(left[-1], inner) or not broadcast([left[:-2], right[:-2]]):
            raise GraphError(f"{method}: {one} and {other}, which have no product")
        return self._emit(method, "MatMul", one, other)

    def _heads(
        self, method: str, q: int, k: int, v: int, num_heads: int, head_dim: int
    ) -> tuple[Operand, Operand, Operand]:
        found = (
            self._operand(method, "q", q),
            self._operand(method, "k", k),
            self._operand(method, "v", v),
        )
        check_heads(method, found, num_heads, head_dim)
        return found

    def _attend(
        self, method: str, operands: tuple[Operand, ...], num_heads: int, **attributes: Any
    ) -> NodeId:
        query, key = operands[:2]
        if query.ndim == 3:
            size = arguments.sized(method, query, 2) // num_heads
            attributes["q_num_heads"] = num_heads
            attributes["kv_num_heads"] = arguments.sized(method, key, 2) // size
        return self._emit(method, "Attention", *operands, **attributes)

    def _allowed(self, mask: Operand, operands: tuple[Operand, ...]) -> Operand:
        """The mask as bool, so that it broadcasts to [batch, heads, length, keys]."""
        query, key = (arguments.ranked("attention", one) for one in operands[:2])
        dims = arguments.ranked("attention", mask)
        batch, keys = query[0], key[-2]
        full = (batch, None, query[-2], keys)
        if len(dims) == 2:
            fits = not differ(dims[0], batch) and not differ(dims[1], keys)
        else:
            fits = len(dims) == 4 and broadcast([dims, full]) and not differ(dims[3], keys)
        if not fits:
            shown = shape_text("", full)
            raise GraphError(
                f"attention: {mask}, it must be {shape_text('', (batch, keys))}, or broadcast "
                f"to {shown.replace('?', 'heads', 1)}"
            )
        if mask.dtype != "bool":
            dtype = helper.tensor_dtype_to_np_dtype(mask.type.tensor_type.elem_type)
            least = 0.5 if mask.dtype in ("f32", "f16", "bf16", "f64") else 1
            bound = self._constant(np.asarray(least).astype(dtype))
            mask = self._chain("attention", "GreaterOrEqual", mask, bound)
        if len(dims) == 2:
            axes = self._constant(np.array([1, 2], np.int64))
            mask = self._chain("attention", "Unsqueeze", mask, axes)
        if mask.dims and mask.dims[2] != query[-2]:  # onnxruntime does not broadcast this axis
            target = self._sizes(
                "attention", operands[0], [1, 1, query[-2], 1], axis=len(query) - 2
            )
            mask = self._chain("attention", "Expand", mask, target)
        return mask

    def _band(self, method: str, operands: tuple[Operand, ...], window: int) -> Operand:
        """The constant mask under which query i sees the keys from i - window to i."""
        queries = np.arange(arguments.sized(method, operands[0], -2))[:, None]
        keys = np.arange(arguments.sized(method, operands[1], -2))[None, :]
        return self._constant((keys <= queries) & (keys >= queries - window))

    def _table(self, x: Operand, table: Operand, half: int) -> Operand:
        """A table of cosines or sines as [batch, length, half]."""
        batch, rows = arguments.ranked("rope", x)[0], arguments.ranked("rope", x)[-2]
        dims = arguments.ranked("rope", table)
        wanted = (batch, rows, half)[3 - len(dims) :] if len(dims) in (2, 3) else ()
        if not wanted or any(map(differ, dims, wanted)):
            takes = shape_text("", (rows, half)), shape_text("", (batch, rows, half))
            raise GraphError(
                f"rope: {x}, so {table.argument} must be {' or '.join(takes)}, but {table}"
            )
        if len(dims) == 3:
            return table
        target = self._sizes("rope", x, [batch, 1, 1], axis=0)
        return self._chain("rope", "Expand", table, target)

    def _sizes(
        self, method: str, operand: Operand, sizes: list[int | str | None], axis: int
    ) -> Operand:
        """Sizes as a node; one that is not a number is read at run time, on `axis`."""
        if all(isinstance(size, int) for size in sizes):
            return self._constant(np.array(sizes, np.int64))
        parts = [
            self._constant(np.array([size], np.int64))
            if isinstance(size, int)
            else self._chain(method, "Shape", operand, start=axis, end=axis + 1)
            for size in sizes
        ]
        return self._chain(method, "Concat", *parts, axis=0)


def _holds(size: int | str | None, head: int, several: bool) -> bool:
    """Whether an axis can hold one head, or several."""
    if not isinstance(size, int):
        return not several
    return size % head == 0 and size > 0 if several else size == head
