"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rlx.errors import printable
from rlx.settings.variables import PRECISION, PRECISION_POLICY

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.registries import Registry


class Whole(click.IntRange):
    """An integer within bounds; what is something else is told which integers are expected."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The integer, or bad usage."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            bounds = (
                f"from {self.min} to {self.max}"
                if self.max is not None
                else f"of {self.min} or more"
            )
            got = printable(str(value))
            self.fail(f"must be an integer {bounds}, got {got!r}", param, ctx)


def as_json(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--json`, the same as `--format json`."""
    function = click.option(
        "--format",
        "as_format",
        type=click.Choice(["text", "json"]),
        default="text",
        help="What to print.",
        show_default=True,
    )(function)
    return click.option("--json", "as_json", is_flag=True, help="The same as --format json.")(
        function
    )


def config(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--config FILE`, layered above everything else."""
    return click.option(
        "--config",
        "config",
        multiple=True,
        metavar="FILE",
        help="A manifest layered above all others; may be given several times.",
    )(function)


def request(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--device`, `--backend` and `--require`: what is asked for."""
    for option in (
        click.option(
            "--require", multiple=True, metavar="CAPABILITY", help="A capability it must have."
        ),
        click.option("--backend", metavar="ID", help="A backend's id; see `rlx backends`."),
        click.option(
            "--device",
            metavar="SPEC",
            help="A device, as cuda or cuda:1; a list is tried in order.",
        ),
    ):
        function = option(function)
    return function


def precision(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--precision` and `--precision-policy`: what is computed in, and where less is used."""
    function = click.option(
        "--precision-policy",
        type=click.Choice(PRECISION_POLICY),
        help="What happens where the engine would use less; default: error.",
    )(function)
    return click.option(
        "--precision", type=click.Choice(PRECISION), help="Compute in this; default: as it says."
    )(function)


def registry(config: tuple[str, ...]) -> Registry:
    """The registry that a command works with: the default one, or one with `--config` on top."""
    from rlx.session.default import default_registry, load_registry

    return load_registry(config) if config else default_registry()
