"""ImageDecoder, by Pillow."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np

from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site
from rlx.errors import Unavailable

FORMATS = ("BMP", "JPEG", "JPEG2000", "TIFF", "PNG", "WEBP", "PPM")
"""The formats that ONNX names; PPM is the portable image formats'."""
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, struct.error)
"""What Pillow raises for a stream that it cannot decode."""


def _pillow() -> Any:
    try:
        import PIL.Image
    except ImportError as error:
        raise Unavailable(
            "ImageDecoder needs Pillow, which is not installed", fix="pip install 'rlx[images]'."
        ) from error
    return PIL.Image


def _image_decoder(site: Site) -> Kernel:
    """Pixels (height, width, channels) of an encoded image; (0, 0, channels) of what is none.

    Raises:
        Unavailable: Pillow is not installed.
        NotImplementedError: an unknown pixel format.
    """
    pixels = site.attributes["pixel_format"]
    if pixels not in {"RGB", "BGR", "Grayscale"}:
        raise NotImplementedError(f"pixel_format {pixels!r}")
    image = _pillow()
    mode, channels = ("L", 1) if pixels == "Grayscale" else ("RGB", 3)

    def decode(encoded: Array) -> Array:
        try:
            with image.open(io.BytesIO(encoded.tobytes()), formats=FORMATS) as opened:
                found = np.asarray(opened.convert(mode), np.uint8)
        except _BROKEN:
            return np.zeros((0, 0, channels), np.uint8)
        found = found.reshape(*found.shape[:2], channels)
        return np.array(found[..., ::-1] if pixels == "BGR" else found)

    return Fresh(decode)


KERNELS: dict[str, Builder] = {"ImageDecoder": _image_decoder}
HOSTED = dict.fromkeys(KERNELS)
