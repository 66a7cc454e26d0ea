"""DFT, STFT, the window functions and MelWeightMatrix."""

from __future__ import annotations

from math import expm1, log, log1p, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.dtypes import CODES, numpy_dtype
from rlx.backends.array.kernels.operands import axis_within
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site


def to_complex(xp: Any, x: Any) -> Any:
    """A trailing axis of (real) or (real, imaginary) as complex numbers of the same precision."""
    kind = xp.complex128 if x.dtype == xp.float64 else xp.complex64
    real = xp.astype(x[..., 0], kind)
    return real if x.shape[-1] == 1 else real + 1j * xp.astype(x[..., 1], kind)


def to_pairs(xp: Any, y: Any, dtype: Any) -> Any:
    """Complex values as a trailing axis of (real, imaginary)."""
    return xp.astype(xp.stack((xp.real(y), xp.imag(y)), axis=-1), dtype)


def dft(site: Site) -> Kernel:
    """Build DFT."""
    xp = site.xp
    inverse = bool(site.attributes.get("inverse", 0))
    onesided = bool(site.attributes.get("onesided", 0))

    def run(x: Any, length: Any = None, axis: Any = None) -> Any:
        where = axis_within(-2 if axis is None else int(axis), x.ndim)
        halved = inverse and onesided
        default = 2 * (x.shape[where] - 1) if halved else x.shape[where]
        size = default if length is None else int(length)
        signal = to_complex(xp, x)
        if halved:
            return xp.astype(xp.fft.irfft(signal, n=size, axis=where)[..., None], x.dtype)
        if inverse:
            return to_pairs(xp, xp.fft.ifft(signal, n=size, axis=where), x.dtype)
        y = xp.fft.fft(signal, n=size, axis=where)
        if onesided:
            y = y[(*(slice(None),) * where, slice(size // 2 + 1), ...)]
        return to_pairs(xp, y, x.dtype)

    return Fresh(run)


def frames_of(signal: Any, hop: int, window: Any, length: Any) -> tuple[int, int, int]:
    """Of a short-time transform: the size of a frame, how many there are, and what each reads."""
    if length is not None:
        size = int(length)
    else:
        size = signal.shape[1] if window is None else window.shape[0]
    frames = max(1 + (signal.shape[1] - size) // hop, 0)
    return size, frames, size if window is None else min(window.shape[0], size)


def stft(site: Site) -> Kernel:
    """Build STFT."""
    xp = site.xp
    onesided = bool(site.attributes.get("onesided", 1))

    def run(signal: Any, step: Any, window: Any = None, length: Any = None) -> Any:
        hop = int(step)
        size, frames, reach = frames_of(signal, hop, window, length)
        starts = xp.arange(frames, dtype=xp.int64) * hop
        places = xp.reshape(starts[:, None] + xp.arange(reach, dtype=xp.int64), (-1,))
        line = to_complex(xp, signal)
        cut = xp.reshape(xp.take(line, places, axis=1), (line.shape[0], frames, reach))
        if window is not None:
            cut = cut * window[:reach]
        y = xp.fft.fft(cut, n=size, axis=2)
        if onesided:
            y = y[:, :, : size // 2 + 1]
        return to_pairs(xp, y, signal.dtype)

    return Fresh(run)


def cosine_window(*terms: float) -> Builder:
    """The builder of a window that sums terms[k] · cos(2πkn/N), which is NaN where N is 0."""

    def build(site: Site) -> Kernel:
        periodic = bool(site.attributes.get("periodic", 1))
        to_native = site.library.to_native
        dtype = numpy_dtype(CODES[site.attributes.get("output_datatype", 1)])

        def run(size: Any) -> Any:
            n = int(size)
            angle = np.arange(n, dtype=np.float64) * (2 * pi) / (n if periodic else n - 1)
            y = np.zeros_like(angle)
            for k, term in enumerate(terms):
                y = y + term * np.cos(k * angle)
            return to_native(y.astype(dtype))

        return Fresh(run)

    return build


def mel_weight_matrix(site: Site) -> Kernel:
    """Build MelWeightMatrix: triangles over spectrogram bins, evenly spaced on the mel scale."""
    to_native = site.library.to_native
    dtype = numpy_dtype(CODES[site.attributes.get("output_datatype", 1)])

    def run(bins: Any, length: Any, rate: Any, low: Any, high: Any) -> Any:
        count, size, sample_rate = int(bins), int(length), int(rate)
        lowest, highest = (2595 * log1p(float(hertz) / 700) / log(10) for hertz in (low, high))
        step = (highest - lowest) / (count + 2)
        mels = [lowest + step * i for i in range(count + 2)]
        hertz = [700 * expm1(mel / 2595 * log(10)) for mel in mels]
        edges = [int((size + 1) * value // sample_rate) for value in hertz]
        weights = np.zeros((size // 2 + 1, count))
        for i in range(count):
            left, center, right = edges[i : i + 3]
            if left == center:
                weights[center, i] = 1
            else:
                weights[left : center + 1, i] = np.arange(center - left + 1) / (center - left)
            if right > center:
                weights[center:right, i] = np.arange(right - center, 0, -1) / (right - center)
        return to_native(weights.astype(dtype))

    return Fresh(run)


HOST = {
    "DFT": (1, 2),
    "STFT": (1, 3),
    "HannWindow": (0,),
    "HammingWindow": (0,),
    "BlackmanWindow": (0,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
}
KERNELS: dict[str, Builder] = {
    "DFT": widened(dft),
    "STFT": widened(stft),
    "HannWindow": cosine_window(0.5, -0.5),
    "HammingWindow": cosine_window(25 / 46, -21 / 46),
    "BlackmanWindow": cosine_window(0.42, -0.5, 0.08),
    "MelWeightMatrix": mel_weight_matrix,
}
