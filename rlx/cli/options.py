"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.registries import Registry

Command = Any


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


def registry(config: tuple[str, ...]) -> Registry:
    """The registry that a command works with: the default one, or one with `--config` on top."""
    from rlx.session.default import default_registry, load_registry

    return load_registry(config) if config else default_registry()
