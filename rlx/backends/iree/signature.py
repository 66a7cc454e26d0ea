"""What a module is called with, and what it gives; read and written without any engine."""

from __future__ import annotations

import json
from dataclasses import dataclass

Types = tuple[tuple[str, tuple[int, ...]], ...]
"""Per tensor its dtype, by ONNX's name, and its shape."""
ELEMENTS = {
    "bool": "BOOL_8",
    "int8": "INT_8",
    "int16": "INT_16",
    "int32": "INT_32",
    "int64": "INT_64",
    "uint8": "UINT_8",
    "uint16": "UINT_16",
    "uint32": "UINT_32",
    "uint64": "UINT_64",
    "float16": "FLOAT_16",
    "float32": "FLOAT_32",
    "float64": "FLOAT_64",
    "bfloat16": "BFLOAT_16",
    "complex64": "COMPLEX_64",
    "complex128": "COMPLEX_128",
}
"""IREE's element types by dtype; what is narrower than a byte, or a float of 8 bits, has none."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a module is called with, and what it gives."""

    weights: Types
    inputs: Types
    outputs: Types

    def to_bytes(self) -> bytes:
        """As JSON with sorted keys and no blanks."""
        plain = {side: getattr(self, side) for side in self.__slots__}
        return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> Signature:
        """What `to_bytes` made.

        Raises:
            ValueError, KeyError, TypeError: it did not.
        """
        plain = json.loads(data)
        sides = (
            tuple((str(dtype), tuple(map(int, shape))) for dtype, shape in plain[side])
            for side in cls.__slots__
        )
        return cls(*sides)
