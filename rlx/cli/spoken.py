"""Messages in the words of the command line: what Python calls an argument is a flag here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from rlx.settings import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

ARGUMENTS = ("device", "backend", "require", "precision", "precision_policy", "kernel_dispatch")
"""Of sessions and `rlx.route`."""
_WORD = re.compile(rf"\bthe ({'|'.join(ARGUMENTS)}) argument\b|\b(precision_policy)\b")


def spoken(text: str, flags: Collection[str]) -> str:
    """The text, naming flags where the command has them, and else variables."""

    def word(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        flag, variable = f"--{name.replace('_', '-')}", f"RLX_{name.upper()}"
        if flag in flags:
            return flag
        return variable if any(one.name == variable for one in VARIABLES) else found[0]

    return _WORD.sub(word, text)


def flags(command: click.Command | None = None) -> frozenset[str]:
    """The flags of a command; by default of the one that runs."""
    if command is None:
        context = click.get_current_context(silent=True)
        if context is None:
            return frozenset()
        command = context.command
    return frozenset(name for one in command.params for name in one.opts)


def flags_of(group: click.Group, arguments: Sequence[str]) -> frozenset[str]:
    """The flags of the command that a command line names."""
    found: click.Command | None = group
    for word in arguments:
        if not isinstance(found, click.Group):
            break
        found = found.get_command(click.Context(found), word)
    return frozenset() if found is None else flags(found)
