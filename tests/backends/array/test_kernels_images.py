"""ImageDecoder: pixels of every format, what cannot be decoded, and Pillow's absence."""

from __future__ import annotations

import io
import sys

import numpy as np
import onnx
import pytest

from rlx.errors import Unavailable

UINT8 = onnx.TensorProto.UINT8
PIXELS = np.array([[[255, 0, 0], [0, 0, 255]]], np.uint8)


def encoded(kind, pixels=PIXELS, **options):
    image = pytest.importorskip("PIL.Image")
    stream = io.BytesIO()
    image.fromarray(pixels).save(stream, format=kind, **options)
    return np.frombuffer(stream.getvalue(), np.uint8)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "PPM", "TIFF"])
def test_pixels_come_out_as_they_went_in(kind, run_typed):
    (found,) = run_typed("ImageDecoder", {}, [encoded(kind)], [UINT8])
    np.testing.assert_array_equal(found, PIXELS, strict=True)


def test_channels_in_the_other_order(run_typed):
    (found,) = run_typed("ImageDecoder", {"pixel_format": "BGR"}, [encoded("PNG")], [UINT8])
    np.testing.assert_array_equal(found, PIXELS[..., ::-1], strict=True)
    assert found.flags.c_contiguous


def test_gray_has_one_channel_and_stays_gray(run_typed):
    gray = np.array([[7, 200]], np.uint8)
    given = [encoded("PNG", gray)]
    (found,) = run_typed("ImageDecoder", {"pixel_format": "Grayscale"}, given, [UINT8])
    np.testing.assert_array_equal(found, gray[..., None], strict=True)
    (found,) = run_typed("ImageDecoder", {}, given, [UINT8])
    np.testing.assert_array_equal(found, np.stack([gray] * 3, axis=2), strict=True)


@pytest.mark.parametrize("form", ["RGB", "Grayscale"])
@pytest.mark.parametrize(
    "stream", [b"", b"no image", b"\x89PNG\r\n\x1a\n\0\0", b"GIF89a\1\0\1\0\0\0\0"]
)
def test_what_is_no_image_is_empty(form, stream, run_typed):
    pytest.importorskip("PIL.Image")
    given = [np.frombuffer(stream, np.uint8)]
    (found,) = run_typed("ImageDecoder", {"pixel_format": form}, given, [UINT8])
    assert (found.shape, found.dtype) == ((0, 0, 3 if form == "RGB" else 1), np.uint8)


@pytest.mark.parametrize("cut", [20, 60, 70])
def test_a_broken_stream_is_empty(cut, run_typed):
    (found,) = run_typed("ImageDecoder", {}, [encoded("PNG")[:cut]], [UINT8])
    assert found.shape in ((0, 0, 3), (1, 2, 3))


def test_without_pillow_the_program_is_refused(monkeypatch, run_typed):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(Unavailable) as caught:
        run_typed("ImageDecoder", {}, [np.zeros(3, np.uint8)], [UINT8])
    assert str(caught.value) == (
        "node 'ImageDecoder_0': ImageDecoder needs Pillow, which is not installed. "
        "Fix: pip install 'rlx[images]'."
    )
