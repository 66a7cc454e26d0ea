"""From a path, bytes or text to a `ModelProto`, without ever reading what is not a plain file."""

from __future__ import annotations

import os
import re

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from rlx.errors import ProgramError
from rlx.files import NotPlain, open_plain
from rlx.origin import Origin

LARGEST_FILE = 2**31 - 1
"""Bytes; protobuf allows no more, and larger weights go into external data."""

_OTHER_FORMATS: tuple[tuple[bytes, str, str], ...] = (
    (b"\x89RLX", "an artifact of `rlx build`", "run it with `rlx payload run`."),
    (b"PK\x03\x04", "a zip archive", "unpack it, or export the model with torch.onnx.export."),
    (b"\x80\x02", "a Python pickle", "export the model with torch.onnx.export."),
    (b"\x80\x03", "a Python pickle", "export the model with torch.onnx.export."),
    (b"\x80\x04", "a Python pickle", "export the model with torch.onnx.export."),
    (b"\x80\x05", "a Python pickle", "export the model with torch.onnx.export."),
    (b"\x1f\x8b", "a gzip file", "unpack it first."),
    (b"\x89HDF", "an HDF5 file", "convert the model with tf2onnx."),
    (b"\x93NUMPY", "a NumPy array", "pass the program, and the array as an input."),
    (b"version https://git-lfs", "a Git LFS pointer", "fetch the file itself with `git lfs pull`."),
    (b"<!DOCTYPE", "a web page", "download the file itself."),
    (b"<html", "a web page", "download the file itself."),
)
_TEXT_ERROR = re.compile(
    r"\[ParseError at position \(line: (\d+) column: (\d+)\)\]\s*"
    r"(?:Error context: (?P<context>.*?)\n)?(?P<message>.*)",
    re.DOTALL,
)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file of at most 2 GiB; anything else is a `ProgramError`."""
    try:
        opened = open_plain(path)
    except NotPlain as error:
        raise _other(error.kind) from error
    except FileNotFoundError as error:
        raise ProgramError("no such file", fix="check the path.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ProgramError(
            f"cannot be opened: {reason}", fix="check the path and the file's permissions."
        ) from error
    with opened as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST_FILE:
            raise ProgramError(
                f"{size} bytes, over the 2 GiB that protobuf allows",
                fix="save the weights as external data: "
                "onnx.save(model, path, save_as_external_data=True).",
            )
        return file.read(LARGEST_FILE)


def _other(kind: str) -> ProgramError:
    if kind == "a folder":
        return ProgramError("a folder, not a file", fix="pass the .onnx file that is in it.")
    return ProgramError(
        "not a plain file (a pipe, a socket or a device)",
        fix="save the model to a file and pass that.",
    )


def parse(data: bytes, *, text: bool | None = None) -> onnx.ModelProto:
    """A model from serialised bytes or from ONNX's text syntax, which begins with `<`.

    `text` forces one of the two (a file's suffix says it).
    """
    if not data.strip():
        raise ProgramError("empty", fix="export the model again.")
    for magic, name, fix in _OTHER_FORMATS:
        if data.startswith(magic):
            raise ProgramError(f"{name}, not an ONNX model", fix=fix)
    if text or (text is None and data.lstrip()[:1] == b"<"):
        return _parse_text(data)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, RecursionError) as error:
        raise ProgramError(
            f"not an ONNX model, or cut off after {len(data)} bytes",
            fix="export or download the file again.",
        ) from error
    return model


def _parse_text(data: bytes) -> onnx.ModelProto:
    try:
        source = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProgramError(
            f"ONNX text that is not UTF-8 (byte {error.start})", fix="save the file as UTF-8."
        ) from error
    if "\0" in source:
        raise ProgramError("ONNX text with a NUL character", fix="remove it.")
    try:
        return onnx.parser.parse_model(source)
    except (onnx.parser.ParseError, DecodeError) as error:
        raise _text_error(error) from error


def _text_error(error: Exception) -> ProgramError:
    """ONNX's parse error as ours: the place as an origin, the rest in one line."""
    text = str(error)
    if text[:2] in ("b'", 'b"'):  # ONNX wraps the repr of its bytes
        text = text[2:-1].encode("latin-1", "replace").decode("unicode_escape", "replace")
    found = _TEXT_ERROR.search(text)
    fix = "correct the ONNX text at that place."
    if not found:
        return ProgramError(f"not valid ONNX text: {one_line(text)}", fix=fix)
    near = one_line(found["context"] or "")
    message = one_line(found["message"]).rstrip(".")
    shown = f" near '{near}'" if near else ""
    origin = Origin("", int(found[1]), int(found[2]))
    return ProgramError(f"not valid ONNX text{shown}: {message}", fix=fix, origin=origin)


def one_line(text: str, limit: int = 300) -> str:
    """Foreign text on one line, without control characters, cut where it gets long."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"
