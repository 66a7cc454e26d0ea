"""Fourier transforms of a graph give NumPy's numbers, scaled as pyrlx's norms say."""

import numpy as np
import pytest

BACKENDS = [
    ("numpy", "float32"),
    ("numpy", "float64"),
    pytest.param(("onnxruntime-cpu", "float64"), marks=pytest.mark.needs("onnxruntime")),
]
"""What onnxruntime computes for float32 is not claimed: too far from ONNX's definition."""
SCALES = {
    ("backward", False): lambda n: 1,
    ("backward", True): lambda n: 1,
    ("none", True): lambda n: 1,
    ("forward", False): lambda n: 1,
    ("forward", True): lambda n: 1 / n,
    ("ortho", False): lambda n: n**-0.5,
    ("ortho", True): lambda n: n**-0.5,
    ("orthonormal", True): lambda n: n**-0.5,
}
"""By norm and direction, the factor over a transform that is not scaled."""


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=5e-6)


def block(values):
    return np.concatenate([values.real, values.imag], -1)


@pytest.mark.parametrize("place", BACKENDS)
@pytest.mark.parametrize(("norm", "inverse"), SCALES)
@pytest.mark.parametrize("n", [1, 4, 6, 7])
def test_a_transform_of_complex_numbers(outputs, numbers, place, norm, inverse, n):
    values = numbers(2, 3, n, dtype=place[1]) + 1j * numbers(2, 3, n, dtype=place[1])
    plain = np.fft.ifft(values) * n if inverse else np.fft.fft(values)
    build = lambda g, x: g.fft_norm(x, inverse=inverse, norm=norm)  # noqa: E731
    found = outputs(place[0], build, block(values).astype(place[1]))[0]
    close(found, block(plain) * SCALES[norm, inverse](n))


@pytest.mark.parametrize("place", BACKENDS)
def test_a_round_trip_is_n_times_as_large(outputs, numbers, place):
    x = numbers(8, dtype=place[1])
    close(outputs(place[0], lambda g, x: g.fft(g.fft(x), inverse=True), x)[0], x * 4)


@pytest.mark.parametrize("place", BACKENDS)
@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_real_transforms(outputs, numbers, place, norm, n):
    x = numbers(2, n, dtype=place[1])
    spectrum = np.fft.rfft(x) * SCALES[norm, False](n)
    re, im, power = outputs(place[0], lambda g, x: (*g.rfft(x, norm), g.psd_real(x, norm)), x)
    close(re, spectrum.real)
    close(im, spectrum.imag)
    close(power, np.abs(spectrum) ** 2 / (n // 2 + 1))


@pytest.mark.parametrize("place", BACKENDS)
@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_inverse_of_a_real_transform(outputs, numbers, place, norm, n):
    bins = n // 2 + 1
    re, im = numbers(3, bins, dtype=place[1]), numbers(3, bins, dtype=place[1])
    wanted = np.fft.irfft(re + 1j * im, n) * n * SCALES[norm, True](n)
    close(outputs(place[0], lambda g, re, im: g.irfft(re, im, n, norm), re, im)[0], wanted)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies_are_numpys(outputs, numbers, n):
    build = lambda g, x: (g.fftfreq(n), g.rfftfreq(n), x)  # noqa: E731
    full, half, _ = outputs("numpy", build, numbers(1))
    np.testing.assert_array_equal(full, np.fft.fftfreq(n))
    np.testing.assert_array_equal(half, np.fft.rfftfreq(n))
