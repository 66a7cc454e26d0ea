"""Matrix products: of integers too, exact and wrapping around."""

from __future__ import annotations

from typing import Any

from rlx.backends.shader.dtypes import promoted
from rlx.backends.shader.namespace.creation import astype, zeros
from rlx.backends.shader.namespace.movement import (
    broadcast_shapes,
    broadcast_to,
    expand_dims,
    matrix_transpose,
    permute_dims,
    reshape,
    squeeze,
)
from rlx.backends.shader.namespace.reduction import sum as sum_of
from rlx.backends.shader.tensor import Tensor, on_device_only


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product over the last two axes; the others are broadcast."""
    dtype = promoted(x1.dtype, x2.dtype)
    a, b = astype(x1, dtype), astype(x2, dtype)
    rows = expand_dims(a, axis=0) if a.ndim == 1 else a
    columns = expand_dims(b, axis=-1) if b.ndim == 1 else b
    if rows.shape[-1] != columns.shape[-2]:
        raise ValueError(f"shapes {x1.shape} and {x2.shape} do not match")
    product = _product(rows, columns)
    if b.ndim == 1:
        product = squeeze(product, -1)
    if a.ndim == 1:
        product = squeeze(product, -2 if b.ndim > 1 else -1)
    return product


def _product(a: Tensor, b: Tensor) -> Tensor:
    lead = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    rows, depth, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    shape = (*lead, rows, columns)
    if 0 in shape or not depth:
        return zeros(shape, dtype=a.dtype)
    if a.host is not None and b.host is not None:
        import numpy as np

        return Tensor.of_host(np.matmul(a.host, b.host))
    on_device_only(a.dtype)
    if a.dtype.kind != "float" or a.dtype.bits != 32:
        return sum_of(expand_dims(a, axis=-1) * expand_dims(b, axis=-3), axis=-2, dtype=a.dtype)
    a = broadcast_to(a, (*lead, rows, depth))
    b = broadcast_to(b, (*lead, depth, columns))
    return Tensor("matmul", (a, b), (), shape, a.dtype)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The sum of products along an axis."""
    product = x1 * x2
    return sum_of(product, axis=axis, dtype=product.dtype)


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products by an equation; narrow integers keep their dtype."""
    inputs, _, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    spans = []
    for term, x in zip(terms, operands, strict=True):
        spans.append(x.ndim - len(term.replace("...", "")) if "..." in term else 0)
    most = max(spans)
    dots = [f"\x00{n}" for n in range(most)]
    letters = [_letters(term, dots, span) for term, span in zip(terms, spans, strict=True)]
    if "->" not in equation:
        every = [one for names in letters for one in names]
        single = sorted(n for n in set(every) if every.count(n) == 1 and n not in dots)
        result = dots + single
    else:
        result = _letters(output, dots, most)
    names = list(dict.fromkeys([*result, *(one for own in letters for one in own)]))
    total: Any = None
    dtype = operands[0].dtype
    for x, own in zip(operands, letters, strict=True):
        dtype = promoted(dtype, x.dtype)
        spread = _aligned(x, own, names)
        total = spread if total is None else total * spread
    summed = tuple(range(len(result), len(names)))
    return sum_of(total, axis=summed, dtype=dtype) if summed else total


def _letters(term: str, dots: list[str], span: int) -> list[str]:
    head, found, tail = term.partition("...")
    return [*head, *(dots[len(dots) - span :] if found else []), *tail]


def _aligned(x: Tensor, own: list[str], names: list[str]) -> Tensor:
    """The array with an axis for each name, in order; a name that comes twice is a diagonal."""
    own = list(own)
    while len(set(own)) < len(own):
        at = next(n for n, name in enumerate(own) if name in own[:n])
        first = own.index(own[at])
        x = _diagonal(x, first, at)
        own.pop(at)
    order = sorted(range(len(own)), key=lambda n: names.index(own[n]))
    x = permute_dims(x, order)
    sizes = dict(zip([own[n] for n in order], x.shape, strict=True))
    return reshape(x, tuple(sizes.get(name, 1) for name in names))


def _diagonal(x: Tensor, first: int, second: int) -> Tensor:
    """The elements whose places along two axes are the same, along the first of them."""
    rest = [n for n in range(x.ndim) if n not in (first, second)]
    size = x.shape[first]
    x = permute_dims(x, (*rest, first, second))
    x = reshape(x, (*x.shape[:-2], size * size))[..., :: size + 1]
    back = list(range(len(rest)))
    back.insert(first, len(rest))
    return permute_dims(x, back)


__all__ = ["einsum", "matmul", "matrix_transpose", "vecdot"]
