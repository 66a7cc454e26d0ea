"""Devices and device specs: one parser for YAML, environment and API."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rlx.errors import InvalidDevice

MAX_INDEX = 65535
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_INDEX = re.compile(r"0|[1-9][0-9]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Device:
    """A kind of hardware, as a manifest declares it."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()


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
        raise NotImplementedError

    @classmethod
    def parse_request(cls, text: str) -> tuple[DeviceSpec, ...]:
        """Read a comma-separated list of device specs, in order of preference.

        Raises:
            InvalidDevice: a member is empty, given twice, or not a device spec.
        """
        raise NotImplementedError


__all__ = ["MAX_INDEX", "Device", "DeviceSpec", "InvalidDevice"]
