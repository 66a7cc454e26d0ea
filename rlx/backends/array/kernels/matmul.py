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
    addend: Array = site.constants[2] if beta is not None else None
    if addend is not None and beta is not None and beta != 1:
        addend = addend * beta

    def gemm(a: Array, b: Array, c: Array = None) -> Array:
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
    "Einsum": widened(_einsum),
}
