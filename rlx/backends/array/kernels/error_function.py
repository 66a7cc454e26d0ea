"""The error function by rational approximation, which the array API standard lacks.

float32: the approximation of XLA and Eigen; beyond its range exactly 1, so that 1 - erf(x) is 0.
float64: W. J. Cody, Rational Chebyshev approximations for the error function (1969).
"""

from __future__ import annotations

from typing import Any

from rlx.backends.array.native import is_numpy

_LIMIT = 3.7439211627767994
_ALPHA: tuple[float, ...] = (
    0.00022905065861350646,
    0.0034082910107109506,
    0.050955695062380861,
    0.18520832239976145,
    1.128379143519084,
)
_BETA: tuple[float, ...] = (
    -1.1791602954361697e-7,
    0.000023547966471313185,
    0.0010179625278914885,
    0.014070470171167667,
    0.11098505178285362,
    0.49746925110067538,
    1.0,
)

_A: tuple[float, ...] = (
    3.16112374387056560e00,
    1.13864154151050156e02,
    3.77485237685302021e02,
    3.20937758913846947e03,
    1.85777706184603153e-1,
)
_B: tuple[float, ...] = (
    2.36012909523441209e01,
    2.44024637934444173e02,
    1.28261652607737228e03,
    2.84423683343917062e03,
)
_C: tuple[float, ...] = (
    5.64188496988670089e-1,
    8.88314979438837594e00,
    6.61191906371416295e01,
    2.98635138197400131e02,
    8.81952221241769090e02,
    1.71204761263407058e03,
    2.05107837782607147e03,
    1.23033935479799725e03,
    2.15311535474403846e-8,
)
_D: tuple[float, ...] = (
    1.57449261107098347e01,
    1.17693950891312499e02,
    5.37181101862009858e02,
    1.62138957456669019e03,
    3.29079923573345963e03,
    4.36261909014324716e03,
    3.43936767414372164e03,
    1.23033935480374942e03,
)


def erf(xp: Any, x: Any) -> Any:
    """The error function of a float32 or float64 array."""
    return _erf64(xp, x) if x.dtype == xp.float64 else _erf32(xp, x)


def _horner(x: Any, coefficients: tuple[float, ...]) -> Any:
    total = x * coefficients[0]
    total += coefficients[1]
    for coefficient in coefficients[2:]:
        total *= x
        total += coefficient
    return total


def _erf32(xp: Any, x: Any) -> Any:
    near = xp.minimum(xp.maximum(x, -_LIMIT), _LIMIT)
    square = near * near
    y = near * _horner(square, _ALPHA) / _horner(square, _BETA)
    inside = near == x
    return y if is_numpy(xp) and xp.all(inside) else xp.where(inside, y, xp.sign(x))


def _erf64(xp: Any, x: Any) -> Any:
    size = xp.minimum(xp.abs(x), 6.0)
    square = size * size
    top, bottom = _A[4] * square, square
    for a, b in zip(_A[:3], _B[:3], strict=True):
        top, bottom = (top + a) * square, (bottom + b) * square
    near = size * (top + _A[3]) / (bottom + _B[3])
    top, bottom = _C[8] * size, size
    for c, d in zip(_C[:7], _D[:7], strict=True):
        top, bottom = (top + c) * size, (bottom + d) * size
    far = 1.0 - xp.exp(-square) * (top + _C[7]) / (bottom + _D[7])
    result = xp.where(size <= 0.46875, near, far)
    return xp.where(x < 0, -result, result)
