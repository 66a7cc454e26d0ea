"""`python -m rlx.catalogue --write|--check`: the catalogue of codes, and the pages made from it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from rlx import resources
from rlx.catalogue import FILE, Entry, configuration, corpus, pages, running
from rlx.catalogue.recipes import RECIPES
from rlx.catalogue.tables import collect

ROOT = resources.PACKAGE.parent


def made() -> tuple[Entry, ...]:
    """The catalogue as the tables and the examples have it now."""
    from_manifests = corpus.examples()
    found = []
    for kind, code, one in collect():
        recipe = RECIPES.get((kind, code))
        if recipe is not None:
            example = running.run(recipe, code)
        elif (kind, code) in from_manifests:
            example = from_manifests[kind, code]
        else:
            raise SystemExit(
                f"no example of {kind} code {code!r}. Fix: add a manifest to tests/manifests, or a "
                "recipe to rlx/catalogue/recipes."
            )
        found.append(Entry(code, kind, one.meaning, one.fix, example))
    return tuple(found)


def generated() -> dict[str, str]:
    """Every generated file's text, by its path below the checkout."""
    entries = made()
    listed = json.dumps({"codes": [asdict(one) for one in entries]}, indent=1, ensure_ascii=True)
    files = {
        FILE.relative_to(ROOT).as_posix(): f"{listed}\n",
        "docs/codes.md": pages.codes(entries),
        "docs/configuration.md": configuration.page(),
    }
    for name in ("README.md", "docs/selection.md"):
        files[name] = pages.with_decision((ROOT / name).read_text(encoding="utf-8"))
    return files


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or say which are not what would be written; 1: there are such."""
    parser = argparse.ArgumentParser(prog="python -m rlx.catalogue", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true", help="write the files")
    mode.add_argument("--check", action="store_true", help="exit 1 when one is not up to date")
    chosen = parser.parse_args(arguments)
    stale = []
    for name, text in generated().items():
        path = ROOT / name
        if not path.is_file() or path.read_bytes() != text.encode("utf-8"):
            stale.append(name)
            if chosen.write:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
    if chosen.write:
        return 0
    for name in stale:
        sys.stderr.write(f"{name} is not up to date. Fix: run `python -m rlx.catalogue --write`.\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
