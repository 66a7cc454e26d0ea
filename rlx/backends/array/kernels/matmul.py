"""Matrix products; the narrow floats are summed in float32."""

from __future__ import annotations

from collections.abc import Callable

from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.native import function, is_numpy
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def _matmul(site: Site) -> Kernel:
    return Fresh(function(site.xp, "matmul").call)


def _side(transposed: int) -> Callable[[Array], Array]:
    return (lambda x: x.T) if transposed else (lambda x: x)


def _gemm(site: Site) -> Kernel:
    """alpha * A' * B' + beta * C; numbers that are integers keep their dtype."""
    xp = site.xp
    attributes = site.attributes
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    left, right = _side(attributes.get("transA", 0)), _side(attributes.get("transB", 0))
    biased = len(site.inputs) > 2 and site.inputs[2] is not None and beta != 0
    first = site.inputs[0]
    if first is None or first.dtype not in {"float32", "float64"}:
        return Fresh(_exact_gemm(site, left, right, alpha, beta))
    if is_numpy(xp):
        return Fresh(_in_place_gemm(site, left, right, alpha, beta if biased else None))

    def gemm(a: Array, b: Array, c: Array | None = None) -> Array:
        product = xp.matmul(left(a), right(b)) * alpha
        return product if not biased else product + c * beta

    return Fresh(gemm)


def _in_place_gemm(
    site: Site,
    left: Callable[[Array], Array],
    right: Callable[[Array], Array],
    alpha: float,
    beta: float | None,
) -> Kernel:
    """Scales and adds in the product's own memory; scaled constants are made here, once."""
    xp = site.xp
    matmul, add, multiply = xp.matmul, xp.add, xp.multiply
    known = site.constants[2] if beta is not None else None
    addend = known * beta if known is not None and beta != 1 else known

    def gemm(a: Array, b: Array, c: Array | None = None) -> Array:
        product = matmul(left(a), right(b))
        if alpha != 1:
            multiply(product, alpha, product)
        if beta is None:
            return product
        if addend is not None:
            return add(product, addend, product)
        return add(product, c if beta == 1 else c * beta, product)

    return gemm


def _exact_gemm(
    site: Site,
    left: Callable[[Array], Array],
    right: Callable[[Array], Array],
    alpha: float,
    beta: float,
) -> Kernel:
    xp = site.xp

    def scaled(x: Array, factor: float) -> Array:
        if factor == int(factor):
            return x * int(factor)
        return xp.astype(xp.astype(x, xp.float64) * factor, x.dtype)

    def gemm(a: Array, b: Array, c: Array | None = None) -> Array:
        product = scaled(xp.matmul(left(a), right(b)), alpha)
        return product if c is None else product + scaled(c, beta)

    return gemm


def _matmul_integer(site: Site) -> Kernel:
    """Products of 8-bit integers, summed in 32 bits.

    Differences fit 9 bits, so products fit 18 and float64 sums of up to 2^35 of them are exact;
    floating point is what matrix hardware is fast at.
    """
    xp = site.xp

    def shifted(x: Array, point: Array | None, axis: int) -> Array:
        x = xp.astype(x, xp.float64)
        if point is None:
            return x
        if point.ndim == 1 and point.size > 1 and x.ndim > 1:
            point = xp.expand_dims(point, axis=axis)
        return x - xp.astype(point, xp.float64)

    def product(
        a: Array, b: Array, a_point: Array | None = None, b_point: Array | None = None
    ) -> Array:
        exact = xp.matmul(shifted(a, a_point, 1), shifted(b, b_point, 0))
        return xp.astype(xp.astype(exact, xp.int64), xp.int32)

    return Fresh(product)


def _einsum(site: Site) -> Kernel:
    xp = site.xp
    equation = site.attributes["equation"]
    if not hasattr(xp, "einsum"):
        raise NotImplementedError(f"{xp.__name__} has no einsum")
    optimize = {"optimize": True} if is_numpy(xp) and len(site.inputs) > 1 else {}
    return lambda *inputs: xp.einsum(equation, *inputs, **optimize)


KERNELS: dict[str, Builder] = {
    "MatMul": widened(_matmul),
    "Gemm": widened(_gemm),
    "MatMulInteger": _matmul_integer,
    "Einsum": widened(_einsum),
}
