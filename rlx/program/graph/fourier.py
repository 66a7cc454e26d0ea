"""A graph's Fourier transforms, along the last axis, by ONNX's DFT.

Norms follow pyrlx, not NumPy: no direction is scaled under `backward` (so that a round trip
multiplies by n), the inverse by 1/n under `forward`, and both by 1/√n under `ortho`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import helper

from rlx.errors import GraphError
from rlx.program.graph.arguments import alike, flag, ranked, sized, takes, whole
from rlx.program.graph.names import FLOATS, NORMS, look_up
from rlx.program.graph.nodes import Nodes
from rlx.program.graph.operands import NodeId, Operand

LONGEST = 1 << 27
"""Frequencies that one node may hold: a gigabyte."""


class Fourier(Nodes):
    """f32 f16 bf16 f64; axes before the last are batches."""

    def fft(self, x: int, inverse: bool = False) -> NodeId:
        """The discrete Fourier transform of complex numbers, in neither direction scaled.

        The last axis holds 2n numbers: n real parts, then n imaginary parts; so does the result.

        Raises:
            GraphError: an odd size, or another dtype.
        """
        return self._fft("fft", x, inverse, "backward")

    def fft_norm(self, x: int, inverse: bool = False, norm: str = "backward") -> NodeId:
        """As `fft`, scaled as `norm` says.

        `backward` (or `none`): neither direction; `forward`: the inverse by 1/n; `ortho` (or
        `orthonormal`): both by 1/√n.

        Raises:
            GraphError: an unknown norm, an odd size, or another dtype.
        """
        return self._fft("fft_norm", x, inverse, norm)

    def rfft(self, x: int, norm: str = "backward") -> tuple[NodeId, NodeId]:
        """The real and imaginary parts of the transform of n real numbers: n//2 + 1 of each.

        `norm` as `fft_norm`, for the forward direction.

        Raises:
            GraphError: an unknown norm, no axis, or another dtype.
        """
        return self._rfft("rfft", x, norm)

    def irfft(self, re: int, im: int, n: int, norm: str = "backward") -> NodeId:
        """The n real numbers whose transform `rfft` gives as `re` and `im`.

        `norm` as `fft_norm`, for the inverse direction: not scaled unless it is stated.

        Raises:
            GraphError: not n//2 + 1 parts of each, unequal shapes, an unknown norm, another dtype.
        """
        scale = _scale("irfft", norm, inverse=True)
        length = whole("irfft", "n", n, least=1)
        parts = self._operand("irfft", "re", re), self._operand("irfft", "im", im)
        alike("irfft", *parts)
        for one in parts:
            takes("irfft", one, FLOATS)
            if ranked("irfft", one)[-1:] != (length // 2 + 1,):
                raise GraphError(
                    f"irfft: {one}, its last axis must have n//2 + 1 = {length // 2 + 1}"
                )
        if parts[0].dims != parts[1].dims:
            raise GraphError(f"irfft: {parts[0]} and {parts[1]}, their shapes must be equal")
        joined = self._join("irfft", parts)
        size = self._constant(np.int64(length))
        made = self._chain("irfft", "DFT", joined, size, inverse=1, onesided=1)
        last = self._constant(np.array([-1], np.int64))
        real = self._emit("irfft", "Squeeze", made, last)
        return self._scaled("irfft", real, scale(length) * length)

    def fftfreq(self, n: int) -> NodeId:
        """The frequencies of the parts of an `fft` of n, in cycles per sample: f64[n].

        0, 1/n … below 1/2, then the negative ones from -1/2 up, as `numpy.fft.fftfreq(n)`.

        Raises:
            GraphError: n is no whole number above 0.
        """
        found = np.fft.fftfreq(_many("fftfreq", n))
        return NodeId.of(self._constant(found).id, self._owner)

    def rfftfreq(self, n: int) -> NodeId:
        """The frequencies of the parts of an `rfft` of n, in cycles per sample: f64[n//2 + 1].

        Raises:
            GraphError: n is no whole number above 0.
        """
        found = np.fft.rfftfreq(_many("rfftfreq", n))
        return NodeId.of(self._constant(found).id, self._owner)

    def psd_real(self, x: int, norm: str = "backward") -> NodeId:
        """The power of each part of the `rfft`: (re² + im²) / (n//2 + 1), the number of parts.

        Raises:
            GraphError: as `rfft`.
        """
        re, im = (self._of(one) for one in self._rfft("psd_real", x, norm))
        squares = [self._chain("psd_real", "Mul", one, one) for one in (re, im)]
        power = self._emit("psd_real", "Add", *squares)
        return self._scaled("psd_real", power, 1 / sized("psd_real", re, -1))

    def _fft(self, method: str, x: int, inverse: bool, norm: str) -> NodeId:
        operand = self._operand(method, "x", x)
        back = flag(method, "inverse", inverse)
        scale = _scale(method, norm, inverse=back)
        takes(method, operand, FLOATS)
        dims = ranked(method, operand)
        size = sized(method, operand, -1) if dims else 0
        if not size or size % 2:
            raise GraphError(
                f"{method}: {operand}, its last axis must hold 2n numbers: n real, n imaginary"
            )
        keep, length = [0] * (len(dims) - 1), size // 2
        swap = [*range(len(dims) - 1), len(dims), len(dims) - 1]
        pairs = self._chain(
            method, "Reshape", operand, self._constant(np.array([*keep, 2, length], np.int64))
        )
        columns = self._chain(method, "Transpose", pairs, perm=swap)
        made = self._chain(method, "DFT", columns, inverse=int(back))
        rows = self._chain(method, "Transpose", made, perm=swap)
        block = self._emit(
            method, "Reshape", rows, self._constant(np.array([*keep, size], np.int64))
        )
        return self._scaled(method, block, scale(length) * (length if back else 1))

    def _rfft(self, method: str, x: int, norm: str) -> tuple[NodeId, NodeId]:
        operand = self._operand(method, "x", x)
        scale = _scale(method, norm, inverse=False)
        takes(method, operand, FLOATS)
        if not ranked(method, operand) or not sized(method, operand, -1):
            raise GraphError(f"{method}: {operand}, it has no numbers to transform")
        length = sized(method, operand, -1)
        column = self._chain(method, "Unsqueeze", operand, self._constant(np.array([-1], np.int64)))
        made = self._chain(method, "DFT", column, onesided=1)
        parts = [
            self._emit(
                method,
                "Gather",
                made,
                self._constant(np.int64(part)),
                axis=len(made.dims or ()) - 1,
            )
            for part in (0, 1)
        ]
        factor = scale(length)
        return self._scaled(method, parts[0], factor), self._scaled(method, parts[1], factor)

    def _join(self, method: str, parts: tuple[Operand, Operand]) -> Operand:
        """Real and imaginary parts as the last axis, of size 2."""
        last = self._constant(np.array([-1], np.int64))
        columns = [self._chain(method, "Unsqueeze", one, last) for one in parts]
        return self._chain(method, "Concat", *columns, axis=-1)

    def _scaled(self, method: str, node: NodeId, factor: float) -> NodeId:
        """The node, times a factor that is not 1."""
        if factor == 1:
            return node
        operand = self._of(node)
        dtype = _numpy_dtype(operand)
        return self._emit(method, "Mul", operand, self._constant(np.asarray(factor).astype(dtype)))


def _numpy_dtype(operand: Operand) -> np.dtype[np.generic]:
    found: np.dtype[np.generic] = helper.tensor_dtype_to_np_dtype(
        operand.type.tensor_type.elem_type
    )
    return found


def _many(method: str, n: object) -> int:
    """The length of a constant that is worked out now, and kept in the program."""
    number = whole(method, "n", n, least=1)
    if number > LONGEST:
        raise GraphError(f"{method}: n may be {LONGEST} at most, got {number}")
    return number


def _scale(method: str, norm: object, *, inverse: bool) -> Callable[[int], float]:
    """By the length, the factor of one direction, over a transform that is not scaled."""
    kind = look_up(method, "norm", norm, NORMS)
    if kind == "ortho":
        return lambda length: length**-0.5
    if kind == "forward" and inverse:
        return lambda length: 1 / length
    return lambda length: 1  # noqa: ARG005 - one of three
