"""Files judged one by one, each above what is installed, which is read once for all of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rlx import resources
from rlx.errors import ConfigError, printable
from rlx.freeze import loading
from rlx.manifest.discovery import LayerPath

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.freeze.content import Content
    from rlx.manifest.plugins.finding import Plugin

LAYER = "argument"


class Overlay:
    """The packaged layer and the plugins, and what each file makes of them.

    Raises:
        ConfigError: the packaged layer is broken itself.
    """

    def __init__(self) -> None:
        self._below = loading.load((), only=True, plugins=True)
        self._plugins = {_real(str(file.path)) for one in self._below.plugins for file in one.files}
        self._packaged = f"{_real(str(resources.configs()))}{os.sep}"

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plugins that are installed."""
        return self._below.plugins

    def of_file(self, path: str) -> Content:
        """The content with one file on top.

        A file of the layers below is judged as what it is; it can't stand above itself.

        Raises:
            ConfigError: every fault of the stage that fails.
        """
        real = _real(path)
        if real.startswith(self._packaged):
            from rlx.manifest.loader import read_file

            read_file(path, "packaged")
            return self._below
        if real in self._plugins:
            return loading.load((path,), only=True, plugins=True)
        return self._above(lambda: loading.parsed((_layer(path),), self._below))

    def of_bytes(self, data: bytes, name: str) -> Content:
        """The content with a file on top that stands nowhere yet, as an editor has it.

        Raises:
            ConfigError: every fault of the stage that fails.
        """
        from rlx.freeze.merge import merge
        from rlx.manifest.layers import manifest

        made = manifest(data, _layer(name))
        assert made is not None  # a file that was named is never another tool's
        return self._above(lambda: merge((made,), self._below))

    def _above(self, make: Callable[[], Content]) -> Content:
        """What is wrong with a plugin is said beside what is wrong with a file that needs it."""
        try:
            return make()
        except ConfigError as error:
            if not self._below.plugins:
                raise
            from rlx.freeze.plugins import explained

            raise explained(error, self._below.plugins) from None


def _real(path: str) -> str:
    """The path without links; the path itself where it leads nowhere: reading it says so."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # relative to a folder that was removed; a NUL
        return path


def _layer(path: str) -> LayerPath:
    return LayerPath(LAYER, Path(path), printable(path) or ".")
