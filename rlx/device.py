"""Devices and device specs: one parser for YAML, environment and API."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rlx.errors import InvalidDevice, UnknownDevice
from rlx.spelling import nearest

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Container, Iterable

MAX_INDEX = 65535
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_INDEX = re.compile(r"0|[1-9][0-9]{0,4}", re.ASCII)
_QUOTES = "\"'`\u201c\u201d\u2018\u2019"
_BLANKS = " \t"


@dataclass(frozen=True, slots=True)
class Device:
    """A kind of hardware, as a manifest declares it."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    """The variables by which engines hide hardware of this kind: another value, another answer."""
    pci: tuple[str, ...] = ()
    """What such hardware is on a PCI bus, as `lspci -d` has it: `10de::03xx`."""


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """What a caller asks for: a device by name, and one of several by index.

    `index` None means any; the session opens index 0 then.
    """

    name: str
    index: int | None = None

    def __str__(self) -> str:
        return self.name if self.index is None else f"{self.name}:{self.index}"

    @classmethod
    def parse(cls, text: str) -> DeviceSpec:
        """Read `name[:index]`; outer blanks are trimmed and the name's case does not matter.

        The name need not be registered: that is the registry's question.

        Raises:
            InvalidDevice: the text is not a device spec; the message says which part is wrong.
        """
        _require_text(text)
        parts = _parts(text)
        if parts is None:
            raise _refused(text)
        return cls(*parts)

    @classmethod
    def parse_request(cls, text: str) -> tuple[DeviceSpec, ...]:
        """Read a comma-separated list of device specs, in order of preference.

        Raises:
            InvalidDevice: a member is empty, given twice, or not a device spec.
        """
        _require_text(text)
        if "," not in text:
            return (cls.parse(text),)
        specs: list[DeviceSpec] = []
        for member in text.split(","):
            if not member.strip(_BLANKS):
                raise InvalidDevice(
                    f"the device list {shown(text)} has an empty member",
                    fix="write one device between two commas, such as metal,cpu.",
                )
            spec = cls.parse(member)
            if spec in specs:
                raise InvalidDevice(
                    f"the device list {shown(text)} names {spec} twice",
                    fix="name each device once.",
                )
            specs.append(spec)
        return tuple(specs)


def shown(text: object) -> str:
    """A value as a message quotes it: on one line, every character visible, at most 60 of them."""
    try:
        quoted = repr(text)
    except Exception:  # noqa: BLE001 - what is wrong with the value is what the message is of
        quoted = f"<{type(text).__name__}, whose repr() fails>"
    return quoted if len(quoted) <= 60 else f"{quoted[:57]}..."


def _require_text(text: object) -> None:
    if not isinstance(text, str):
        raise InvalidDevice(f"a device must be text, got {shown(text)}")


def _parts(text: str) -> tuple[str, int | None] | None:
    """The name and the index, where the text is a device spec."""
    name, colon, index = text.strip(_BLANKS).partition(":")
    lowered = name.lower() if name.isascii() else name
    if not _NAME.fullmatch(lowered):
        return None
    if not colon:
        return lowered, None
    if not _INDEX.fullmatch(index) or int(index) > MAX_INDEX:
        return None
    return lowered, int(index)


def _refused(text: str) -> InvalidDevice:
    """The error for a text that is not a device spec: which part is wrong, and what to write."""
    what, fix = _fault(text.strip(_BLANKS))
    return InvalidDevice(f"the device {shown(text)} {what}", fix=fix)


def _fault(bare: str) -> tuple[str, str | None]:
    name, colon, index = bare.partition(":")
    if not bare:
        return "is empty", None
    if any(char in _QUOTES for char in bare):
        return "holds a quote", f"leave the quotes away{_such_as(bare.strip(_QUOTES))}."
    if not bare.replace("\t", "").isprintable():
        return "holds a character that cannot be seen", None
    if "," in bare:
        return (
            "is a list, and one device is meant here",
            "name one; RLX_DEVICE, --device and routing.device take a list.",
        )
    parts = bare.split()
    if len(parts) > 1:
        if ":" in (parts[0][-1], parts[1][0]):
            return "holds a blank", f"leave it away{_such_as(''.join(parts))}."
        if parts[1].isdecimal():
            return "holds a blank", f"write name:index{_such_as(':'.join(parts))}."
        return "holds a blank", f"write a comma between devices{_such_as(','.join(parts))}."
    if not name:
        fix = f"write the device's name too{_such_as(f'cuda:{index}') or ': cuda:0'}."
        return "has no name before ':'", fix
    if bare.isdecimal():
        return "is only an index", f"write the device's name too{_such_as(f'cuda:{bare}')}."
    if not _NAME.fullmatch(name.lower() if name.isascii() else name):
        return (
            f"has the name {shown(name)}",
            "a name begins with a letter and has only a-z, 0-9 and single hyphens inside.",
        )
    return _index_fault(name.lower(), index) if colon else ("is not a device", None)


def _index_fault(name: str, index: str) -> tuple[str, str | None]:
    if not index:
        return "has no index after ':'", f"write {name} for any, or {name}:0 for the first."
    if ":" in index:
        first, _, rest = index.partition(":")
        fix = f"{name}:{rest}" if first.lower() == name else f"{name}:{first}"
        return "has more than one ':'", f"write name:index{_such_as(fix)}."
    if index.isascii() and index.isdigit():
        if index[0] == "0":
            return (
                f"has the index {shown(index)}, which begins with a zero",
                f"write the index without it{_such_as(f'{name}:{index.lstrip(chr(48)) or 0}')}.",
            )
        return f"has an index over {MAX_INDEX}", f"write an index from 0 to {MAX_INDEX}."
    what = f"has the index {shown(index)}"
    if index[0] == "-":
        return f"{what}, which is negative", f"write {name} for any, or an index from 0."
    if index.isdigit():
        return f"{what}, whose digits are not 0-9", "write the index in the digits 0-9."
    return f"{what}, which is not a number", f"write {name} for any, or {name}:0 for the first."


def _such_as(text: str) -> str:
    """`: write this`, where `this` would be accepted; else nothing."""
    members = text.split(",")
    return f": {text.lower()}" if all(map(_parts, members)) else ""


def unknown_device(
    name: str, known: Iterable[Device], backends: Container[str] = ()
) -> UnknownDevice:
    """The error for a name that no device has: lists what there is, and what was probably meant."""
    devices = sorted(known, key=lambda device: device.id)
    names = [name for device in devices for name in (device.id, *device.aliases)]
    listed = ", ".join(
        f"{device.id} ({', '.join(device.aliases)})" if device.aliases else device.id
        for device in devices
    )
    stem = name.lower().rstrip("0123456789")
    digits = name[len(stem) :]
    guess: str | None
    if stem in names and _INDEX.fullmatch(digits) and int(digits) <= MAX_INDEX:
        guess = f"{stem}:{digits}"
    else:
        guess = nearest(name, names)
    if name in backends:
        fix = "it is a backend: ask for it by RLX_BACKEND, or by the backend argument."
    elif guess:
        fix = f"did you mean {guess}?"
    else:
        fix = "name one of these, or declare the device in a manifest."
    return UnknownDevice(
        f"no device is named {shown(name)}; known: {listed or 'none'}",
        fix=fix,
    )


__all__ = ["MAX_INDEX", "Device", "DeviceSpec", "InvalidDevice", "shown", "unknown_device"]
