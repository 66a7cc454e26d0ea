"""What a recipe is, and what many of them share."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"
ADD = "coverage: {rows: [{operations: [Add], types: {T: [float32]}}]}"
ALL = "coverage: {rows: [{operations: [Add, MatMul, Relu], types: {T: [float32]}}]}"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is run; the folder holds `mlp.onnxtxt`, and the files."""

    run: str
    """Console commands, one a line, or Python."""
    files: tuple[tuple[str, str], ...] = ()
    """Names and texts."""
    language: str = "console"


def mine(*lines: str) -> tuple[tuple[str, str], ...]:
    """The file `mine.yaml`: it registers the backend `mine`, with these lines."""
    body = "".join(f"    {line}\n" for line in lines)
    return (("mine.yaml", f"{HEAD}backends:\n  - id: mine\n{body}"),)


def python(*lines: str, files: tuple[tuple[str, str], ...] = ()) -> Recipe:
    """A recipe in Python."""
    return Recipe("\n".join(lines), files, "python")


def plugin(entry: str, *files: tuple[str, str]) -> Recipe:
    """An installed distribution whose manifest is named by this entry point."""
    entries = ("site/acme-1.0.dist-info/entry_points.txt", f"[rlx.manifests]\nacme = {entry}\n")
    return Recipe(f"cat {entries[0]}\nrlx backends > backends.txt", (entries, *files))


INIT = ("site/acme/__init__.py", "")
ROUTED = ("device: metal", "dispatches: true", 'factory: "mine:open"')
SIZES = ("capabilities: [dynamic_shapes]",)
SHOW = "cat mine.yaml\n"
EXPLAIN = "rlx explain mlp.onnxtxt --config mine.yaml --backend mine -v"
LOAD = 'program = rlx.load("mlp.onnxtxt")'
BACKEND = """
def open(spec, options):
    return Backend()


class Backend:
    version, device = "1", "{opened}"

    def compile(self, program, options):
        {compile}

    def close(self):
        pass
"""
