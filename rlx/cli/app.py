"""The `rlx` group: finds commands lazily, and turns errors into messages and exit codes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import click

import rlx
from rlx import errors
from rlx.cli import output
from rlx.cli.spoken import flags_of
from rlx.settings import UnknownSetting

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "run": "Route a program, compile it, and run it.",
    "explain": "Say where a program would run, and why not elsewhere.",
    "backends": "List the registry in order of precedence.",
    "devices": "Say what can run here, and why the rest can't.",
    "validate": "Check manifests; show every fault with its place.",
    "conform": "Hold the claims of backends against what they do.",
    "build": "Compile a program for a target, into one file.",
    "payload": "Check, show or run what `rlx build` wrote.",
    "diff": "Say which programs would run elsewhere, and why.",
    "schema": "Write or check the generated JSON Schemas.",
    "env": "Show every setting, its value and its source.",
    "rank": "Put a backend before or after another, in the YAML itself.",
    "enable": "Let routing choose a backend again, in the YAML itself.",
    "disable": "Keep routing from choosing a backend, in the YAML itself.",
    "trust": "Let a project's file name what runs.",
    "init": "Write a starter backends.yaml into this folder.",
    "explain-code": "Say what a code means, with an example and what to do.",
    "demo": "Route and run a real network that ships with onnx.",
}
"""Each command's module in this folder is its name, with `_` for `-`; the text is in the help."""

NO, USAGE, NO_BACKEND, BROKEN_CONFIG, INTERRUPTED = 1, 2, 3, 4, 130

EXIT_CODES: tuple[tuple[type[errors.RlxError], int], ...] = (
    (errors.ConfigError, BROKEN_CONFIG),
    (errors.OpenFailed, NO_BACKEND),
    (errors.Unavailable, NO_BACKEND),
    (errors.SettingError, USAGE),
    (errors.InvalidDevice, USAGE),
    (errors.UnknownDevice, USAGE),
    (errors.UnknownBackend, USAGE),
    (errors.ProgramError, USAGE),
    (errors.InputError, USAGE),
    (errors.RlxError, NO),
)
"""The first class that an error is an instance of gives the exit code."""

EXITS: dict[int, errors.Code] = {
    0: errors.Code("done", "nothing is wrong."),
    NO: errors.Code("the answer is no", "see what the command printed."),
    USAGE: errors.Code("usage", "see `rlx COMMAND --help`, or `rlx env` for RLX_* variables."),
    NO_BACKEND: errors.Code("no backend", "follow a fix that the message lists."),
    BROKEN_CONFIG: errors.Code("broken configuration", "correct it, then run `rlx validate`."),
    INTERRUPTED: errors.Code("interrupted", "run it again."),
}
"""What each exit code means."""


class Commands(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        """The commands in the order of the table."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        cmd_name: str,
    ) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        module = cmd_name.replace("-", "_")
        command: click.Command = importlib.import_module(f"rlx.cli.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command with the nearest name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean 'rlx {near[0]}'?" if near else "run `rlx --help` for the list."
            ctx.fail(f"no command {output.printable(args[0])!r}. Fix: {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"Exit codes: {'; '.join(f'{n} {one.meaning}' for n, one in EXITS.items())}.",
)
@click.version_option(rlx.__version__, prog_name="rlx")
def group() -> None:
    """Choose where tensor programs run, from YAML, and say why.

    \b
    rlx demo                               see a real network routed and run
    rlx explain model.onnx                 where would this run, and why?
    RLX_DEVICE=cuda rlx run model.onnx     ask for a device
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit code. A user's mistake never prints a traceback."""
    output.prepare_streams()
    try:
        with output.plain_warnings(UnknownSetting):
            return _run(arguments, output.wants_json(arguments), output.wants_all(arguments))
    finally:
        output.settle()


def _run(arguments: Sequence[str], as_json: bool, whole: bool) -> int:
    try:
        result = group.main(list(arguments), prog_name="rlx", standalone_mode=False)
    except errors.RlxError as error:
        flags = flags_of(group, arguments)
        output.error(error, as_json=as_json, whole=whole, flags=flags)
        return next(code for kind, code in EXIT_CODES if isinstance(error, kind))
    except click.exceptions.NoArgsIsHelpError as error:
        output.text(error.ctx.get_help() if error.ctx else error.format_message(), err=True)
        return USAGE
    except click.ClickException as error:
        output.usage(error, as_json=as_json)
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        output.text("interrupted", err=True)
        return INTERRUPTED
    except UnknownSetting as error:  # Python was told to make warnings errors
        message, _, fix = str(error).partition(". Fix: ")
        output.refuse("setting", message, fix, as_json)
        return USAGE
    except (OSError, MemoryError) as error:
        message = str(error) or "there is not enough memory"
        as_json = as_json and not isinstance(error, output.Unwritable)
        fix = output.CODES["system"].fix
        output.refuse("system", output.printable(message), fix, as_json)
        return NO
    return result if isinstance(result, int) else 0
