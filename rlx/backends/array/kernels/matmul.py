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
    """Whole factors keep the dtype; others take the sum through float64, rounded toward zero."""
    xp = site.xp
    whole = alpha == int(alpha) and beta == int(beta)

    def gemm(a: Array, b: Array, c: Array = None) -> Array:
        product = xp.matmul(left(a), right(b))
        if whole:
            total = product * int(alpha)
            return total if c is None else total + c * int(beta)
        total = xp.astype(product, xp.float64) * alpha
        if c is not None:
            total = total + xp.astype(c, xp.float64) * beta
        return xp.astype(total, a.dtype)

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
