"""The rules of the layout: imports one way, light import, small files, names that are free."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rlx

ROOT = Path(rlx.__file__).parent
PROJECT = ROOT.parent

LAYERS = (
    ("origin", "references", "resources", "files"),
    ("errors", "spelling"),
    ("device",),
    ("program", "registration"),
    ("operations",),
    ("manifest",),
    ("registries", "freeze", "coverage", "settings"),
    ("router",),
    ("probe", "artifact"),
    ("session",),
    ("onnx_backend", "conformance", "testing"),
    ("cli", "catalogue", "__main__"),
)
"""From the bottom up; a module imports from its own layer and those below."""
SEAMS = ("rlx.backends.protocol", "rlx.backends.payload")
"""What the rest of rlx knows of backends."""
HEAVY = ("numpy", "onnx", "pydantic", "yaml", "rich", "click", "onnxruntime", "platformdirs")


def modules():
    return sorted(path for path in ROOT.rglob("*.py"))


def name_of(path):
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node):
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def imports(path, *, lazy=True):
    """The rlx modules that a file imports; `lazy` includes those inside functions."""
    found, names = set(), {name_of(module) for module in modules()}

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if is_type_checking(child):
                continue
            if not lazy and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if isinstance(child, ast.Import):
                found.update(alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module:
                full = {f"{child.module}.{alias.name}" for alias in child.names}
                found.update(full if full <= names else {*full, child.module})
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return {one for one in found if one in names and one != "rlx"}


def layer(name):
    part = name.split(".")[1] if "." in name else name
    for height, members in enumerate(LAYERS):
        if part in members:
            return height
    return None


def test_every_module_has_a_layer():
    parts = {name_of(path).split(".")[1] for path in modules() if name_of(path) != "rlx"}
    assert parts - {"backends"} == {m for members in LAYERS for m in members} & parts


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_point_down(path):
    name = name_of(path)
    if name == "rlx":
        return
    for other in imports(path):
        if name.startswith("rlx.backends."):
            allowed = ("rlx.backends", "rlx.program", "rlx.errors", "rlx.device", "rlx.origin")
            allowed += ("rlx.references", "rlx.spelling")
            assert other.startswith(allowed), f"{name} imports {other}"
        elif other.startswith("rlx.backends."):
            assert other in SEAMS, f"{name} imports a concrete backend: {other}"
        elif other != "rlx.backends":
            assert layer(other) <= layer(name), f"{name} imports {other}, which is above it"


def test_no_import_cycle_between_modules():
    graph = {name_of(path): imports(path, lazy=False) for path in modules()}
    done, path = set(), []

    def visit(name):
        if name in path:
            cycle = [*path[path.index(name) :], name]
            raise AssertionError("import cycle: " + " -> ".join(cycle))
        if name in done:
            return
        path.append(name)
        for other in sorted(graph[name] - {name}):
            visit(other)
        done.add(path.pop())

    for name in graph:
        visit(name)


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_file_says_what_it_does_and_is_small(path):
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), f"{path.name} has no docstring"
    assert text.count("\n") <= 300


def test_no_test_file_is_over_300_lines():
    long = [p.name for p in (PROJECT / "tests").rglob("*.py") if p.read_text().count("\n") > 300]
    assert long == []


def test_no_module_has_a_name_that_says_nothing():
    banned = {"utils", "util", "helpers", "helper", "common", "core", "manager", "misc"}
    assert not {part for path in modules() for part in name_of(path).split(".")} & banned


def test_no_public_name_is_a_submodule():
    submodules = {path.stem for path in ROOT.iterdir() if path.stem != "__init__"}
    assert not submodules & set(rlx.__all__)


def test_every_public_name_resolves_and_is_listed():
    assert len(rlx.__all__) == len(set(rlx.__all__))
    for name in rlx.__all__:
        assert getattr(rlx, name) is not None
        assert name in dir(rlx)


def loaded_by(code):
    script = f"import sys; {code}; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=PROJECT
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import rlx",
        "import rlx.session, rlx.session.default, rlx.registries, rlx.router, rlx.probe",
        "import rlx; rlx.Registry.load(only=True)",
    ],
)
def test_importing_and_loading_stays_light(code):
    assert not loaded_by(code) & set(HEAVY)


def test_the_light_import_test_can_fail():
    assert loaded_by("import rlx, numpy") & set(HEAVY)


@pytest.mark.parametrize("command", ["backends", "validate"])
def test_listing_and_validating_import_no_onnx(command):
    code = f"from rlx.cli.app import run; run(['{command}', '--json'])"
    loaded = loaded_by(
        f"import io; sys.stdout, out = io.StringIO(), sys.stdout; {code}; sys.stdout = out"
    )
    assert "click" in loaded
    assert not loaded & {"onnx", "onnxruntime", "numpy"}
