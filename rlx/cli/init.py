"""`rlx init`: a starter backends.yaml in the working folder."""

from __future__ import annotations

from pathlib import Path

import click

from rlx.cli import options, output
from rlx.errors import printable

HEAD = """\
# yaml-language-server: $schema=.rlx/backends.schema.json
# For editors: mkdir -p .rlx && rlx schema backends > .rlx/backends.schema.json
#
# Which backend runs our programs; see `rlx backends` for the order in force and `rlx validate`
# to check this file. Everything here changes the packaged configuration; what is absent stays.
apiVersion: rlx/v1
kind: Backends
"""
STARTER = f"""\
{HEAD}
overrides:
  # The lowest rank is tried first. `rlx backends --why numpy` shows where a rank came from.
  - {{id: numpy, rank: 5}}
  # - {{id: onnxruntime-cpu, enabled: false}}

# A backend of your own: a factory in a module that Python can import. It needs trust: run
# `rlx trust`, again after each edit.
# backends:
#   - id: mine
#     device: cpu
#     rank: 60
#     dispatches: true
#     factory: "my_package.my_module:open_backend"
#     coverage: {{rows: [{{operations: [Add, Mul], types: {{T: [float32]}}}}]}}

# routing:
#   device: cpu                       # as RLX_DEVICE; a list such as cuda,cpu is tried in order
#   kernel_dispatch: prefer-native    # native | prefer-native | common
"""


@click.command("init", short_help="Write a starter backends.yaml into this folder.")
@click.argument("path", default="backends.yaml", metavar="[FILE]")
@options.as_json
def command(path: str, as_json: bool, as_format: str) -> int:
    """Write a starter manifest to FILE (default: backends.yaml); an existing file is left alone.

    \b
    rlx init && rlx validate backends.yaml && rlx backends
    """
    try:
        with Path(path).open("x", encoding="utf-8", newline="\n") as file:
            file.write(STARTER)
    except FileExistsError:
        raise click.UsageError(
            f"{printable(path)} exists already. Fix: edit it, or name another file."
        ) from None
    if as_json or as_format == "json":
        output.dump({"file": path})
    else:
        output.text(f"wrote {printable(path)}: numpy now has rank 5 here. Next: rlx backends")
    return 0
