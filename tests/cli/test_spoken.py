"""What a message tells somebody to write is something that can be written there."""

import ast
import re

import click
import pytest

from rlx import resources
from rlx.cli import app
from rlx.cli.spoken import ARGUMENTS, flags, flags_of, spoken
from tests.cli.conftest import MLP

QUOTED = re.compile(r"`rlx ([a-z-]+)((?: [^`]*)?)`")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def texts(path):
    """Every text of a module, f-strings joined with `…` for what is filled in; not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(getattr(part, "value", "")) for part in map(shown, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield "" if id(node) in inner | docs else node.value


def shown(part):
    """A part of an f-string; `…` for what is filled in."""
    return part if isinstance(part, ast.Constant) else ast.Constant("…")


def fixes(path):
    """The texts of a module that say what to do: arguments and variables called `fix`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [node.arg] if isinstance(node, ast.keyword) else []
        if isinstance(node, ast.Assign):
            names = [getattr(one, "id", "") for one in node.targets]
        if "fix" in [str(name).lower() for name in names]:
            yield ast.unparse(node.value)


MODULES = sorted(resources.PACKAGE.rglob("*.py"))


def known(name, words=()):
    command = app.group.get_command(click.Context(app.group), name)
    if isinstance(command, click.Group):
        return flags_of(app.group, [name, *words]) | {"--help"}
    return flags(command) | {"--help"}


def test_every_command_that_a_text_names_exists_and_takes_the_flags():
    found = 0
    for path in MODULES:
        for text in texts(path):
            for name, rest in QUOTED.findall(text):
                if name not in ("--help",) and name != "…":
                    assert name in app.COMMANDS, (path, text)
                    assert set(FLAG.findall(rest)) <= known(name, rest.split()), (path, text)
                    found += 1
    assert found > 100


def test_a_fix_of_the_api_names_flags_only_with_their_command():
    for path in MODULES:
        for text in fixes(path) if "cli" not in path.parts else ():
            bare = re.sub(r"`[^`]*`", "", text)
            assert set(FLAG.findall(bare)) <= {"--config"}, (path, text)


def test_a_fix_of_a_command_names_its_own_flags():
    for name in app.COMMANDS:
        path = resources.PACKAGE / "cli" / f"{name.replace('-', '_')}.py"
        command = app.group.get_command(click.Context(app.group), name)
        own = known(name)
        if isinstance(command, click.Group):
            own |= {flag for one in command.commands.values() for flag in flags(one)}
        for text in fixes(path):
            assert set(FLAG.findall(re.sub(r"`[^`]*`", "", text))) <= own, (name, text)


def test_an_argument_is_a_flag_where_the_command_has_it_and_else_a_variable():
    said = "set precision_policy to warn; cpu was asked for by the device argument"
    assert spoken(said, {"--precision-policy", "--device"}) == (
        "set --precision-policy to warn; cpu was asked for by --device"
    )
    assert spoken(said, ()) == ("set RLX_PRECISION_POLICY to warn; cpu was asked for by RLX_DEVICE")
    assert spoken("the require argument", ()) == "the require argument"
    assert spoken("the argument", ()) == "the argument"


def test_run_takes_every_argument_but_one():
    names = {f"--{name.replace('_', '-')}" for name in ARGUMENTS}
    assert names - flags_of(app.group, ["run", MLP, "--device", "cpu"]) == {"--kernel-dispatch"}
    assert "--index" in flags_of(app.group, ["payload", "run", "model.rlx"])
    assert flags_of(app.group, ["no-such-command"]) == frozenset()


@pytest.mark.parametrize("command", ["run", "explain"])
def test_the_advice_on_precision_names_flags(rlx, command):
    more = ("--random",) if command == "run" else ()
    done = rlx(command, MLP, *more, "--backend", "numpy", "--precision", "f16")
    assert done.code == 3
    assert (
        "  capability: lacks computes_f16, which f16 takes where the program states\n"
        "    float32 (numpy)\n"
        "    Fix: export the program in f16, leave the precision unset, or set\n"
        "      --precision-policy to warn or allow.\n"
        "  not-requested (numpy was asked for by --backend): onnxruntime-cpu,\n"
        "    reference\n"
    ) in done.out + done.err


def test_without_the_flag_it_names_the_variable(rlx, monkeypatch):
    monkeypatch.setenv("RLX_PRECISION", "f16")
    done = rlx("demo", "squeezenet", "--backend", "numpy")
    assert "RLX_PRECISION_POLICY to warn or allow." in " ".join(done.err.split())
