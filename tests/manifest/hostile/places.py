"""Hostile places: files that are no plain files, or that lead elsewhere, written below a folder."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.manifest.hostile import texts

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Hostile:
    """One file to validate, by the path that is given to the command line."""

    name: str
    path: str
    unprivileged: bool = False
    """True: it is readable by root only, so that it is judged as a user without rights."""


def write(folder: Path) -> list[Hostile]:
    """Write every hostile file below the folder, which must be empty."""
    made = []
    for number, (name, data) in enumerate(texts.cases()):
        path = folder / f"text-{number}.yaml"
        path.write_bytes(data)
        made.append(Hostile(name, str(path)))
    canary = "open('pwned', 'w').close()\ndef run(*_): pass\n"
    (folder / f"{texts.CANARY}.py").write_text(canary)
    place = folder / "places"
    place.mkdir()
    made += [Hostile(name, path, "unreadable" in name) for name, path in places(place)]
    return made


def places(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and path of every place that this machine can have."""
    good = folder / "good.yaml"
    good.write_bytes(texts.manifest(""))
    yield "no such file", str(folder / "none.yaml")
    yield "below a file", str(good / "x.yaml")
    yield "a path of 5,000 characters", str(folder / "/".join(["x" * 200] * 25))
    yield "a name of 300 characters", str(folder / ("x" * 300))
    yield "a name with a line break", str(folder / "a\nb.yaml")
    yield "a name that turns text round", str(folder / "a\u202eb.yaml")
    yield "a name that clears the screen", str(folder / "\x1b[2J.yaml")
    for name, target in (
        ("zero", "/dev/zero"), ("full", "/dev/full"), ("null", "/dev/null"),
        ("random", "/dev/urandom"), ("memory", "/proc/self/mem"), ("tty", "/dev/tty"),
        ("folder", str(folder)), ("nothing", "gone"), ("descriptors", "/proc/self/fd"),
        ("executable", "/proc/self/exe"), ("map", "/proc/self/pagemap"),
    ):  # fmt: skip
        yield (
            f"the place /{name}: {Path(target).name}",
            target if target[0] == "/" else str(folder / target),
        )
        with suppress(OSError, NotImplementedError):
            link = folder / f"link-{name}.yaml"
            link.symlink_to(target)
            yield f"a link to {name}", str(link)
    yield from _links(folder)
    yield from _special(folder)
    sparse = folder / "sparse.yaml"
    with sparse.open("wb") as file:
        file.truncate(1 << 40)
    yield "a file of a TiB", str(sparse)
    closed = folder / "closed.yaml"
    closed.write_bytes(texts.manifest(""))
    closed.chmod(0)
    yield "an unreadable file", str(closed)
    kept = folder / "kept"
    kept.mkdir()
    (kept / "backends.yaml").write_bytes(texts.manifest(""))
    kept.chmod(0)
    yield "an unreadable folder's file", str(kept / "backends.yaml")


def _links(folder: Path) -> Iterator[tuple[str, str]]:
    one, other = folder / "loop-a.yaml", folder / "loop-b.yaml"
    own = folder / "own.yaml"
    with suppress(OSError, NotImplementedError):
        one.symlink_to(other)
        other.symlink_to(one)
        own.symlink_to(own)
        yield "a loop of two links", str(one)
        yield "a link to itself", str(own)
        last = folder / "good.yaml"
        for step in range(60):
            link = folder / f"chain-{step}.yaml"
            link.symlink_to(last)
            last = link
        yield "a chain of 60 links", str(last)
        deep = folder / "deep"
        deep.mkdir()
        (deep / "up").symlink_to(deep)
        yield "a folder in itself", str(deep.joinpath(*["up"] * 100, "x.yaml"))
    for name, target in (("passwd", "/etc/passwd"), ("zero", "/dev/zero"), ("loop", "loop-a.yaml")):
        with suppress(OSError, NotImplementedError):
            (folder / f"cover-{name}.yaml").symlink_to(target)
            yield _covered(folder, f"cover-{name}.yaml")


def _covered(folder: Path, coverage: str) -> tuple[str, str]:
    """A manifest that is right, with coverage that is hostile."""
    path = folder / f"uses-{coverage}"
    body = f"backends: [{{id: a, device: cpu, coverage: {coverage}}}]\n"
    path.write_bytes(texts.manifest(body))
    return f"coverage in {coverage}", str(path)


def _special(folder: Path) -> Iterator[tuple[str, str]]:
    (folder / "folder.yaml").mkdir()
    yield _covered(folder, "folder.yaml")
    inner = folder / "outer"
    (inner / "backends.yaml").mkdir(parents=True)
    yield "a folder with the name of a file", str(inner / "backends.yaml")
    with suppress(OSError, AttributeError):
        os.mkfifo(folder / "pipe.yaml")
        yield "a pipe", str(folder / "pipe.yaml")
        yield _covered(folder, "pipe.yaml")
    with suppress(OSError, AttributeError):
        here = Path.cwd()
        os.chdir(folder)  # a socket's path must be short
        try:
            socket.socket(socket.AF_UNIX).bind("socket.yaml")
        finally:
            os.chdir(here)
        yield "a socket", str(folder / "socket.yaml")
        yield _covered(folder, "socket.yaml")
    (folder / "bomb.yaml").write_bytes(b"[" * 100_000)
    yield _covered(folder, "bomb.yaml")
    (folder / "large.yaml").write_bytes(b"#" * (texts.MIB + 1))
    yield _covered(folder, "large.yaml")
    path = folder / "cover-itself.yaml"
    path.write_bytes(
        texts.manifest("backends: [{id: a, device: cpu, coverage: cover-itself.yaml}]\n")
    )
    yield "coverage in the file itself", str(path)
