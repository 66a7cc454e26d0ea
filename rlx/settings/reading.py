"""The environment as rlx reads it: checked at first use, and kept until it changes."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.errors import SettingError, printable
from rlx.registration import Setting
from rlx.settings.variables import VARIABLES
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PREFIX = "RLX_"
_LEFT_ALONE = "RLX_TEST_"
_NAMES = tuple(variable.name for variable in VARIABLES)
_ROUTING_NAMES = tuple(variable.name for variable in VARIABLES if variable.routes)
_warned: set[str] = set()


class UnknownSetting(UserWarning):
    """A variable begins with `RLX_` and means nothing to rlx."""

    code = "unknown-setting"
    fix = "unset it; `rlx env` lists those that rlx reads."


@dataclass(frozen=True, slots=True)
class Environment:
    """The variables that are set, each with its value and its place; the rest are not listed."""

    settings: tuple[tuple[str, Setting], ...] = ()

    def get(self, name: str) -> Setting | None:
        """The variable's value and place; None where it is not set."""
        for key, setting in self.settings:
            if key == name:
                return setting
        return None

    def value(self, name: str, default: Any = None) -> Any:
        """The variable's value, else `default`."""
        setting = self.get(name)
        return default if setting is None else setting.value


_kept: tuple[tuple[str | None, ...], int, Environment] | None = None


def environment(environ: Mapping[str, str] | None = None) -> Environment:
    """A checked snapshot of the variables; of `os.environ`, the last one while nothing changed.

    Names are looked at again when a value of a known variable or the number of variables has
    changed: a misspelt variable that takes the place of another is seen at the next change.

    Raises:
        SettingError: a value is bad, or a name is within two edits of a known one.
    """
    global _kept
    if environ is not None:
        return _read(environ)
    raw = tuple(map(os.environ.get, _NAMES))
    size = len(os.environ)
    kept = _kept
    if kept is None or kept[0] != raw or kept[1] != size:
        kept = _kept = (raw, size, _read(os.environ))
    return kept[2]


def routing_stamp() -> tuple[object, ...]:
    """What changes when a variable that routing depends on changes; cheap, and checks nothing."""
    return (len(os.environ), *map(os.environ.get, _ROUTING_NAMES))


def configuration(environ: Mapping[str, str] | None = None) -> tuple[str | None, bool]:
    """`RLX_CONFIG` and `RLX_CONFIG_ONLY`."""
    read = environment(environ)
    return read.value("RLX_CONFIG"), read.value("RLX_CONFIG_ONLY", False)


def cache_folder() -> Path:
    """Where rlx keeps what it can make again: `RLX_CACHE_DIR`, or the user's folder for caches."""
    folder = environment().value("RLX_CACHE_DIR")
    if folder is None:
        import platformdirs

        folder = platformdirs.user_cache_dir("rlx", appauthor=False)
    return Path(folder)


def _read(environ: Mapping[str, str]) -> Environment:
    faults = list(_misspelt(environ))
    settings = []
    for variable in VARIABLES:
        try:
            value = variable.parse(environ.get(variable.name))
        except SettingError as error:
            faults.append(error)
            continue
        if value is not None:
            settings.append((variable.name, Setting(value, variable.origin)))
    if faults:
        raise faults[0] if len(faults) == 1 else _together(faults)
    return Environment(tuple(settings))


def _together(faults: list[SettingError]) -> SettingError:
    """One error for several variables: each on its line, the last one's fix at the end."""
    lines = [*map(str, faults[:-1]), str(faults[-1]).removesuffix(f". Fix: {faults[-1].fix}")]
    return SettingError("\n".join(lines), fix=faults[-1].fix)


def _misspelt(names: Iterable[str]) -> Iterator[SettingError]:
    """Names that were probably meant to be known ones; of other unknown names it warns once."""
    unknown = [
        name
        for name in names
        if name[:4].upper() == PREFIX
        and name not in _NAMES
        and name[: len(_LEFT_ALONE)].upper() != _LEFT_ALONE
    ]
    for name in sorted(unknown):
        near = nearest(name, _NAMES)
        if near is not None:
            yield SettingError(
                f"unknown variable {printable(name)}", fix=f"did you mean {near}? Else unset it."
            )
        elif name not in _warned:
            _warned.add(name)
            warnings.warn(
                f"unknown variable {printable(name)} is ignored. Fix: {UnknownSetting.fix}",
                UnknownSetting,
                stacklevel=2,
            )
