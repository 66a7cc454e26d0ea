"""`python -m rlx.freeze --write|--check`: the compiled packaged layer beside its YAML."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from rlx import resources
from rlx.errors import ConfigError
from rlx.freeze import compiled, loading, vocabulary
from rlx.manifest.discovery import find
from rlx.operations import encoding

if TYPE_CHECKING:
    from pathlib import Path


def generated(folder: Path) -> dict[str, bytes]:
    """The compiled files, by name.

    Raises:
        ConfigError: the YAML is broken.
    """
    words = vocabulary.parsed(folder)
    content = loading.parsed(find(only=True))
    names = [source.removeprefix("packaged ") for source in content.sources]
    sources = compiled.digests(folder, [*names, vocabulary.SOURCE])
    texts = compiled.texts(content, sources)
    return {
        **{name: text.encode("utf-8") for name, text in texts.items()},
        vocabulary.COMPILED: encoding.to_json(words, sources[vocabulary.SOURCE]).encode("utf-8"),
    }


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or say whether they are what would be written; 1: they are not."""
    parser = argparse.ArgumentParser(prog="python -m rlx.freeze", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true", help="write the files")
    mode.add_argument("--check", action="store_true", help="exit 1 when one is not up to date")
    chosen = parser.parse_args(arguments)
    folder = resources.configs()
    try:
        files = generated(folder)
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    stale = [
        name
        for name, data in files.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != data
    ]
    if chosen.write:
        for name in stale:
            (folder / name).write_bytes(files[name])
        return 0
    for name in stale:
        sys.stderr.write(
            f"configs/{name} is not what its YAML says. Fix: run `python -m rlx.freeze --write`.\n"
        )
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
