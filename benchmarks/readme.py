"""README's table of figures, generated from `results.json`: `--write` or `--check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks.results import load

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- benchmarks: generated from benchmarks/results.json -->\n", "<!-- end -->\n"


def number(value: float) -> str:
    """Three digits."""
    return f"{value:.3g}"


def table(document: dict[str, Any]) -> str:
    """The table in Markdown."""
    lines = ["| what | measured | bar | beside it |", "| --- | --- | --- | --- |"]
    for figures in document["figures"].values():
        for one in figures:
            sign = "≤" if one["better"] == "less" else "≥"
            mark = "" if one["holds"] else " (missed)"
            lines.append(
                f"| {one['name']} | {number(one['value'])} {one['unit']}{mark} "
                f"| {sign} {number(one['bar'])} {one['unit']} | {one['against']} |"
            )
    packages = ", ".join(f"{name} {value}" for name, value in document["packages"].items())
    lines.append("")
    lines.append(
        f"One thread, minimum of many, side by side in one run. Python {document['python']}, "
        f"{packages}; {document['system']}."
    )
    return "\n".join(lines) + "\n"


def rewritten(text: str) -> str:
    """README with the table of the saved figures."""
    head, _, rest = text.partition(BEGIN)
    _, found, tail = rest.partition(END)
    if not found:
        raise SystemExit(f"README.md lacks the lines {BEGIN!r} and {END!r}")
    return head + BEGIN + table(load()) + END + tail


def main() -> int:
    text = README.read_text(encoding="utf-8")
    new = rewritten(text)
    if "--write" in sys.argv:
        README.write_text(new, encoding="utf-8", newline="\n")
        return 0
    if new != text:
        print("README's table is not the one of benchmarks/results.json. Fix: run `make generate`.")
        return 1
    print("README's table is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
