"""Bytes to text: UTF-8 only, no control characters, no directives; before any YAML is read."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from rlx.manifest.faults import show

if TYPE_CHECKING:
    from rlx.manifest.faults import Faults

MAX_BYTES = 1 << 20

_RAW = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_ESCAPED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE = re.compile("\r\n|\r|\n")
_DIRECTIVE = re.compile(r"(?:[ \t]*+(?:#[^\r\n]*+)?(?:\r\n|\r|\n))*+(%[^\r\n]*+)")
"""Possessive: a line that was skipped is never tried again as two, so it takes linear time."""
_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def decode(data: bytes, faults: Faults) -> str:
    """The file's text, without its byte order mark.

    Raises:
        ConfigError: too large, not UTF-8, or a character that no manifest may hold.
    """
    if len(data) > MAX_BYTES:
        faults.add("file-too-large", f"a manifest may have {MAX_BYTES} bytes, got more", _SPLIT)
        faults.stop()
    for bom, name in _BOMS:
        if data.startswith(bom):
            faults.add("file-not-utf8", f"the file must be UTF-8, got {name}", "save it as UTF-8.")
            faults.stop()
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        got = f"byte 0x{data[error.start]:02x}"
        place = position(before, len(before))
        faults.add(
            "file-not-utf8", f"the file must be UTF-8, got {got}", "save it as UTF-8.", place
        )
        faults.stop()
    for found in _RAW.finditer(text):
        if faults.full:
            faults.count(len(_RAW.findall(text, found.start())))
            break
        _refuse(found.group(), position(text, found.start()), faults)
    directive = _DIRECTIVE.match(text)
    if directive is not None:
        got = show(directive.group(1).split()[0])[1:-1]
        place = position(text, directive.start(1))
        message = f"directives are not allowed, got {got}"
        faults.add("yaml-directive", message, "remove the line: manifests are YAML 1.2.", place)
    if faults:
        faults.stop()
    return text


_SPLIT = "split it: devices, capabilities and backends may come from several layers."


def _refuse(char: str, place: tuple[int, int], faults: Faults) -> None:
    name = f"U+{ord(char):04X}"
    if char in "\x85\u2028\u2029":
        message = f"a line may not end in {name}"
        faults.add("line-separator", message, "end it with LF; in a value, write an escape.", place)
        return
    message = f"control characters are not allowed, got {name}"
    faults.add("control-character", message, "remove it.", place)


def escaped_control(value: str) -> str | None:
    """The name of a control character or half surrogate that a value holds by an escape."""
    found = _ESCAPED.search(value)
    return None if found is None else f"U+{ord(found.group()):04X}"


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    line, start = 1, 0
    for found in _LINE.finditer(text, 0, offset):
        line, start = line + 1, found.end()
    return line, offset - start + 1
