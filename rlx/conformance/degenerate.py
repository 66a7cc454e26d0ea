"""Nodes of operations that have operands of several kinds, with an axis that has no elements."""

from __future__ import annotations

from typing import Any

Operand = tuple[int, ...] | list[Any] | None
"""The shape of an operand of the varied dtype; indices, sizes or flags as they are; or left out."""
Node = tuple[list[Operand], dict[str, Any]]

KERNEL: dict[str, Any] = {"kernel_shape": [2]}
EMPTY: dict[str, list[Node]] = {
    "AveragePool": [([(0, 1, 4)], KERNEL)],
    "BatchNormalization": [([(0, 2, 3), (2,), (2,), (2,), (2,)], {})],
    "Compress": [([(2, 0), [True, False]], {"axis": 0}), ([(2,), [False, False]], {})],
    "Concat": [([(0, 3), (2, 3)], {"axis": 0}), ([(0, 3), (0, 3)], {"axis": 1})],
    "Conv": [([(0, 1, 4), (2, 1, 2)], {})],
    "ConvTranspose": [([(0, 1, 4), (1, 2, 2)], {})],
    "DepthToSpace": [([(0, 4, 2, 2)], {"blocksize": 2})],
    "Einsum": [
        ([(0, 3), (3, 2)], {"equation": "ij,jk"}),
        ([(2, 0), (0, 3)], {"equation": "ij,jk"}),
    ],
    "Expand": [([(0, 1), [0, 3]], {}), ([(1,), [0]], {})],
    "Flatten": [([(2, 0, 3)], {}), ([(0, 2)], {"axis": 0})],
    "Gather": [([(0, 3), []], {"axis": 0}), ([(3, 2), []], {"axis": 1})],
    "Gemm": [([(0, 3), (3, 2)], {}), ([(2, 0), (0, 3)], {}), ([(2, 0), (0, 3), (3,)], {})],
    "GlobalAveragePool": [([(0, 2, 3)], {})],
    "GlobalMaxPool": [([(0, 2, 3)], {})],
    "GroupNormalization": [([(0, 2, 3), (2,), (2,)], {"num_groups": 1})],
    "InstanceNormalization": [([(0, 2, 3), (2,), (2,)], {})],
    "LRN": [([(0, 2, 3, 3)], {"size": 3})],
    "LayerNormalization": [([(0, 3), (3,)], {})],
    "MatMul": [([(0, 3), (3, 2)], {}), ([(2, 0), (0, 3)], {}), ([(0, 2, 3), (3, 2)], {})],
    "MaxPool": [([(0, 1, 4)], KERNEL)],
    "NonZero": [([(0,)], {}), ([(2, 0)], {})],
    "Pad": [([(0, 2), [1, 0, 0, 0]], {}), ([(2, 0), [0, 1, 0, 1]], {})],
    "RMSNormalization": [([(0, 3), (3,)], {})],
    "Reshape": [([(0, 3), [3, 0]], {"allowzero": 1}), ([(2, 0), [0, 0]], {})],
    "Resize": [([(0, 1, 2, 2), None, None, [0, 1, 4, 4]], {})],
    "Slice": [([(3, 2), [2], [1], [0]], {}), ([(0, 2), [0], [1], [0]], {})],
    "SpaceToDepth": [([(0, 1, 2, 2)], {"blocksize": 2})],
    "Split": [([(0, 2), [0, 0]], {"axis": 0}), ([(2,), [2, 0]], {"axis": 0})],
    "Squeeze": [([(1, 0), [0]], {})],
    "Tile": [([(2,), [0]], {}), ([(0, 2), [2, 1]], {})],
    "TopK": [([(2, 3), [0]], {}), ([(0, 3), [2]], {})],
    "Transpose": [([(2, 0, 3)], {}), ([(0, 1)], {"perm": [1, 0]})],
    "Trilu": [([(0, 3)], {}), ([(2, 0, 3)], {})],
    "Unique": [([(2, 0, 3)], {"axis": 1}), ([(2, 0, 3)], {"axis": 0}), ([(0,)], {})],
    "Unsqueeze": [([(0,), [0]], {}), ([(0, 2), [1]], {})],
}
"""Per operation, its nodes."""
