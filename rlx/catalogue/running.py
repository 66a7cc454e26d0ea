"""Runs a recipe in a folder of its own, each step in a fork, and gives what was printed.

The packaged layer is that of `rlx.catalogue.packaged`, in a shell's commands too.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rlx import resources
from rlx.catalogue import Example, packaged
from rlx.errors import RlxError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.catalogue.recipes import Recipe

PROGRAM = resources.PACKAGE.parent / "examples" / "mlp.onnxtxt"
_STATUS = "; echo $?"
_RLX = """
import pathlib, sys
from rlx.catalogue import packaged
with packaged.in_force(pathlib.Path(sys.argv.pop(1))):
    from rlx.__main__ import main
    main()
"""
_ROW = re.compile(r"^  \S*\s+([a-z-]+) ")


def run(recipe: Recipe, code: str) -> Example:
    """The recipe's example; of a decision's lines about candidates, those with the code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / ".git").mkdir()
        shutil.copy(PROGRAM, folder)
        for file, text in recipe.files:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        if recipe.language == "python":
            printed = _settled(_forked(lambda: _python(recipe.run), folder), code, folder)
            return Example("python", _with_modules(recipe), printed)
        lines = []
        for command in recipe.run.splitlines():
            lines += [f"$ {command}", _settled(_console(command, folder), code, folder)]
    return Example("console", "\n".join(line for line in lines if line), "")


def _with_modules(recipe: Recipe) -> str:
    modules = [(name, text.strip()) for name, text in recipe.files if name.endswith(".py")]
    return "".join(f"# {name}\n{text}\n\n\n# then\n" for name, text in modules) + recipe.run


def _settled(printed: str, code: str, folder: Path) -> str:
    """Without what is not to the point: of the lines about candidates, all but one."""
    printed = printed.replace(f"{folder}/", "")
    lines, left_out = [], False
    rows = [line for line in printed.splitlines() if _ROW.match(line)]
    chosen = [line for line in rows if _ROW.match(line)[1] == code] or rows  # type: ignore[index]
    for line in printed.rstrip().splitlines():
        if line not in rows or line in chosen[:1]:
            lines.append(line)
        elif not left_out:
            lines.append("  …")
            left_out = True
    return re.sub(r"\d[\d.e+]* ms", "N ms", "\n".join(lines))


def _console(command: str, folder: Path) -> str:
    plain = command.removesuffix(_STATUS)
    words = shlex.split(plain)
    settings = [word for word in words if re.match(r"RLX_\w+=", word)]
    words = words[len(settings) :]
    if words[0] != "rlx" or {"|", ">"} & set(words):
        return _shell(command, folder)

    def child() -> None:
        from rlx.cli.app import run

        for name, _, value in (one.partition("=") for one in settings):
            os.environ[name] = value
        code = run(words[1:])
        if command != plain:
            print(code)  # noqa: T201 - it is what is asked for

    return _forked(child, folder)


def _shell(command: str, folder: Path) -> str:
    words = (sys.executable, "-c", _RLX, str(packaged.folder()))
    setup = f'rlx() {{ {shlex.join(words)} "$@"; }}; '
    root = f"{resources.PACKAGE.parent}{os.pathsep}{folder / 'site'}"
    done = subprocess.run(
        ["bash", "-c", setup + command],
        cwd=folder,
        env={**_clean(folder), "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode("utf-8")


def _python(text: str) -> None:
    try:
        exec(compile(text, "example.py", "exec"), {"__name__": "__main__"})
    except RlxError as error:
        kind = type(error)
        print(f"{kind.__module__}.{kind.__qualname__}: {error}")  # noqa: T201


def _clean(folder: Path) -> dict[str, str]:
    home = str(folder / "home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RLX_")}
    return {**kept, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}


def _forked(step: Callable[[], None], folder: Path) -> str:
    """What the step prints, in a child process that begins as this one is."""
    shipped = packaged.folder()
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        with open(reader, "rb") as stream:  # noqa: PTH123 - a pipe has no path
            printed = stream.read().decode("utf-8")
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError(f"an example failed:\n{printed}")
        return printed
    failed = 1
    try:
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.environ.clear()
        os.environ.update(_clean(folder))
        os.chdir(folder)
        sys.path[:0] = [str(folder), str(folder / "site")]
        sys.dont_write_bytecode = True
        with packaged.in_force(shipped):
            step()
        failed = 0
    except BaseException:  # noqa: BLE001 - the child ends here, whatever happens
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(failed)
