"""The content digest of a program: what it computes, not how a file happens to store it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rlx.program.tensors import Array
from rlx.program.types import Attribute, Block, ValueType

if TYPE_CHECKING:
    from typing_extensions import Buffer


class _Hash(Protocol):
    def update(self, data: Buffer, /) -> None: ...


def content_digest(body: Block, imports: Mapping[str, int]) -> str:
    """SHA-256, as hexadecimal, over every node, name, type and constant of a program.

    Independent of the file, of how constants are stored and in what order, of doc strings, of
    the program's name and of the opset and IR version that it was written in.
    """
    found = hashlib.sha256(b"rlx program 1\n")
    _text(found, repr(sorted(imports.items())))
    _block(found, body)
    return found.hexdigest()


def _text(found: _Hash, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    found.update(b"%d:" % len(data))
    found.update(data)


def _block(found: _Hash, block: Block) -> None:
    _text(found, repr([(v.name, _type(v.type)) for v in block.inputs]))
    _text(found, repr([(v.name, _type(v.type)) for v in block.outputs]))
    for name, array in block.constants:
        _text(found, name)
        _array(found, array)
    for node in block.nodes:
        _text(found, repr((node.name, node.operation, node.inputs, node.outputs)))
        for name, value in node.attributes:
            _text(found, name)
            _attribute(found, value)
    found.update(b"end")


def _type(found: ValueType) -> tuple[object, ...]:
    return (found.kind, found.dtype, found.shape)


def _attribute(found: _Hash, value: Attribute) -> None:
    if isinstance(value, Block):
        _block(found, value)
    elif isinstance(value, np.ndarray):
        _array(found, value)
    elif isinstance(value, tuple):
        _text(found, f"tuple {len(value)}")
        for item in value:
            _attribute(found, item)
    else:
        _text(found, f"{type(value).__name__} {value!r}")


def _array(found: _Hash, array: Array) -> None:
    _text(found, f"{array.dtype.name}{list(array.shape)}")
    if array.dtype == object:
        for item in array.flat:
            _text(found, str(item))
    else:
        plain = np.ascontiguousarray(array)
        if plain.size:
            found.update(plain.reshape(-1).view(np.uint8).data)
