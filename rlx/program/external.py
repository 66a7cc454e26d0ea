"""Tensors stored beside the model: read safely, never through a path that leaves its folder."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path

import onnx

from rlx.errors import ProgramError, UnsafeProgram
from rlx.program.schemas import DTYPE_NAMES
from rlx.program.tensors import Array, elements, raw_array, stored_bytes, tensor_array

LARGEST_TOTAL = 64 * 2**30
"""Bytes of external data that one program may hold."""

_KEYS = frozenset({"location", "offset", "length", "checksum", "basepath"})


class ExternalData:
    """Reads the external tensors of one model from one folder."""

    def __init__(self, folder: Path | None, largest: int = LARGEST_TOTAL):
        self.folder = folder
        self.largest = largest
        self.total = 0

    def array(self, tensor: onnx.TensorProto, where: str) -> Array:
        """The tensor's values, from the model itself or from the file that it names."""
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            if tensor.external_data:
                raise ProgramError(f"{where} names external data but is not stored there")
            return tensor_array(tensor, where)
        if self.folder is None:
            raise UnsafeProgram(
                f"{where} is stored in another file, and the program has no folder",
                fix="load the model by its path, or pass folder=.",
            )
        return raw_array(tensor.data_type, tuple(tensor.dims), self._read(tensor, where), where)

    def _read(self, tensor: onnx.TensorProto, where: str) -> bytes:
        needed = stored_bytes(elements(tensor, where), DTYPE_NAMES[tensor.data_type])
        if DTYPE_NAMES[tensor.data_type] == "string":
            raise ProgramError(f"{where} is a string tensor, which external data cannot hold")
        entries = {entry.key: entry.value for entry in tensor.external_data}
        if len(entries) != len(tensor.external_data):
            raise ProgramError(f"{where} states an entry of its external data twice")
        unknown = sorted(set(entries) - _KEYS)
        if unknown:
            raise ProgramError(f"{where} has the unknown external data entry {unknown[0]!r}")
        offset = _number(entries, "offset", 0, where)
        length = _number(entries, "length", needed, where)
        if length != needed:
            shape = f"{DTYPE_NAMES[tensor.data_type]}{list(tensor.dims)}"
            raise ProgramError(
                f"{where} is {shape}, which takes {needed} bytes, but {length} are stored"
            )
        self.total += length
        if self.total > self.largest:
            raise UnsafeProgram(
                f"{where}: the external data is over {self.largest} bytes in all",
                fix="check where the file comes from; rlx reads no more than that.",
            )
        location = entries.get("location", "")
        with self._open(location, where) as file:
            size = os.fstat(file.fileno()).st_size
            if offset + length > size:
                raise UnsafeProgram(
                    f"{where}: bytes {offset} to {offset + length} of {location!r} are asked for, "
                    f"which has {size}",
                    fix="the file is cut off or belongs to another model: get it again.",
                )
            file.seek(offset)
            data = file.read(length)
        if len(data) != length:
            raise ProgramError(f"{where}: {location!r} became shorter while it was read")
        return data

    def _open(self, location: str, where: str) -> BufferedReader:
        parts = _parts(location, where)
        assert self.folder is not None
        try:
            descriptor = _descend(self.folder, parts)
        except (OSError, ValueError) as error:
            raise self._refusal(parts, location, where, error) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise UnsafeProgram(f"{where}: {location!r} is not a plain file")
        return os.fdopen(descriptor, "rb")

    def _refusal(
        self, parts: tuple[str, ...], location: str, where: str, error: OSError | ValueError
    ) -> ProgramError:
        """Says why a location could not be opened: a link, nothing there, or something else."""
        place = self.folder or Path()
        for part in parts:
            place = place / part
            if os.path.islink(place):  # noqa: PTH114 - Path's raises where a name is too long
                return UnsafeProgram(
                    f"{where}: {location!r} is or passes through a symbolic link",
                    fix="put a plain file in its place (a copy of what it points at).",
                )
        if isinstance(error, FileNotFoundError):
            return ProgramError(
                f"{where}: its external data file {location!r} is not beside the model",
                fix="put the file into the model's folder.",
            )
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return UnsafeProgram(f"{where}: {location!r} cannot be opened: {reason}")


def _number(entries: dict[str, str], key: str, default: int, where: str) -> int:
    text = entries.get(key)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise UnsafeProgram(
            f"{where}: the {key} of its external data must be a whole number, got {text[:40]!r}"
        )
    return int(text)


def _parts(location: str, where: str) -> tuple[str, ...]:
    """The location's steps below the folder; refuses every way of leaving it."""
    steps = location.split("/")
    drive = len(steps[0]) > 1 and steps[0][1] == ":"
    if not location or "\0" in location or "\\" in location or drive or location.startswith("/"):
        problem = "must be a relative path with /"
    elif ".." in steps:
        problem = "must not contain '..'"
    else:
        parts = tuple(step for step in steps if step not in ("", "."))
        if parts:
            return parts
        problem = "must name a file"
    raise UnsafeProgram(f"{where}: the location of its external data {problem}, got {location!r}")


def _descend(folder: Path, parts: tuple[str, ...]) -> int:
    """Open the file below the folder, following no link on the way; a descriptor."""
    final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    final |= getattr(os, "O_BINARY", 0)
    if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
        place = folder
        for part in parts:
            place = place / part
            if place.is_symlink() or not place.resolve().is_relative_to(folder.resolve()):
                raise OSError(f"{place} leaves the folder")
        return os.open(place, final)
    step = os.O_RDONLY | os.O_DIRECTORY
    current = os.open(folder, step)
    try:
        for part in parts[:-1]:
            below = os.open(part, step | os.O_NOFOLLOW, dir_fd=current)
            os.close(current)
            current = below
        return os.open(parts[-1], final, dir_fd=current)
    finally:
        os.close(current)
