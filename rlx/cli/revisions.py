"""A manifest as a git commit has it, with the coverage files that it refers to."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import click

from rlx.errors import ConfigError, printable
from rlx.manifest.text import MAX_BYTES

_FORM = re.compile(r"(?P<revision>[A-Za-z0-9_@][^:\s]+|@):(?P<path>[^\r\n\0]+)")
"""One letter before the colon is a drive of Windows."""
SECONDS = 30


def split(text: str) -> tuple[str, str] | None:
    """The revision and the path of `REV:path`; None: it is a path."""
    found = None if os.path.lexists(text) else _FORM.fullmatch(text)
    return None if found is None else (found["revision"], found["path"])


def write(revision: str, path: str, folder: Path) -> Path:
    """Write the manifest, and what it refers to, below a folder; returns the manifest's place.

    The path is git's: from the top of the repository, or from here where it starts with `./`.

    Raises:
        click.UsageError: git has no such file.
    """
    data = blob(revision, path)
    if data is None:
        raise click.UsageError(
            f"git has no file {printable(path)!r} at {printable(revision)!r}. Fix: name a commit "
            "and a path from the repository's top, such as HEAD:backends.yaml."
        )
    manifest = folder / (posixpath.basename(path) or "manifest")
    manifest.write_bytes(data)
    for written in _references(manifest):
        found = blob(revision, posixpath.join(posixpath.dirname(path), written))
        target = folder / written
        # What is not there, loading says with its place: so it does of a name that can't be.
        with suppress(OSError):
            if found is not None and target != manifest:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(found)
    return manifest


def _references(manifest: Path) -> list[str]:
    """The coverage files below the manifest's folder that it names; what is wrong, loading says."""
    from rlx.manifest.loader import is_below, named_files, read_file

    try:
        named = named_files(read_file(manifest))
    except ConfigError:
        return []
    return [written for written in dict.fromkeys(one for one, _ in named) if is_below(written)]


def blob(revision: str, path: str) -> bytes | None:
    """A file's bytes, one more than a manifest may have at most; None: there is none.

    Git is asked on its standard input, so that no name can be taken for an option; no shell, no
    filter and no network takes part.

    Raises:
        click.UsageError: git is not installed, or this is no repository.
    """
    if "\n" in path or "\r" in path:
        return None
    command = ["git", "cat-file", "--batch"]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        ) as process:
            try:
                assert process.stdin is not None and process.stdout is not None  # noqa: PT018
                with suppress(BrokenPipeError):  # it has ended, and says why below
                    process.stdin.write(f"{revision}:{path}\n".encode(errors="surrogateescape"))
                    process.stdin.close()
                head = process.stdout.readline().split()
                if len(head) == 3 and head[1] == b"blob" and head[2].isdigit():
                    return process.stdout.read(min(int(head[2]), MAX_BYTES + 1))
                if head:
                    return None
                process.wait(SECONDS)
                message = process.stderr.read(2000) if process.stderr else b""
            finally:
                process.kill()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(printable(str(error))) from error
    raise _refused(printable(message.decode(errors="replace").strip().partition("\n")[0]))


def _refused(why: str) -> click.UsageError:
    return click.UsageError(
        f"git can't be asked: {why}. Fix: run this inside the repository, or save the file: "
        "`git show HEAD:backends.yaml > old.yaml`."
    )


def top() -> Path | None:
    """The folder that paths of revisions start from; None: this is no repository."""
    command = ["git", "rev-parse", "--show-toplevel"]
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, timeout=SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return Path(os.fsdecode(done.stdout.rstrip(b"\r\n")))
