"""Every error class has a stable code, a fix, and a message that says both what and what to do."""

import ast
from pathlib import Path

import pytest

from rlx import errors
from rlx.errors import ConfigError, Fault, RlxError
from rlx.origin import Origin

CODES = {
    "ArtifactError": "artifact",
    "ConfigError": "config",
    "ContractError": "contract",
    "CorruptArtifact": "corrupt-artifact",
    "DuplicateBackend": "duplicate-backend",
    "EditError": "edit",
    "ExecutionError": "execution",
    "ForeignArtifact": "foreign-artifact",
    "GraphConsumed": "graph-consumed",
    "GraphError": "graph",
    "InputError": "input",
    "InvalidDevice": "invalid-device",
    "NoBackend": "no-backend",
    "OpenFailed": "open-failed",
    "PrecisionError": "precision",
    "ProgramError": "program",
    "RlxError": "rlx-error",
    "SessionClosed": "closed",
    "SettingError": "setting",
    "StaleArtifact": "stale-artifact",
    "TrustError": "trust",
    "Unavailable": "unavailable",
    "UnknownBackend": "unknown-backend",
    "UnknownDevice": "unknown-device",
    "UnsafeProgram": "unsafe-program",
    "UnsupportedFeature": "unsupported-feature",
}


def family(kind=RlxError):
    """The class and all that derive from it, in rlx."""
    return {kind, *(one for child in kind.__subclasses__() for one in family(child))}


def test_the_codes_are_the_published_ones():
    found = {one.__name__: one.code for one in family() if one.__module__ == "rlx.errors"}
    assert found == CODES


def test_no_two_classes_share_a_code():
    """A kind of an error, outside of `rlx.errors`, may keep the code of what it is a kind of."""
    codes = [one.code for one in family() if one.__module__ == "rlx.errors"]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", sorted(family(), key=lambda one: one.__name__))
def test_every_class_has_a_fix_that_is_a_sentence(kind):
    assert kind.__doc__
    assert kind.fix.strip().endswith(".")


@pytest.mark.parametrize("kind", sorted(family() - {ConfigError}, key=lambda one: one.__name__))
def test_every_error_carries_its_own_fix(kind):
    error = kind("something is wrong", fix="do this.", origin=Origin("a.yaml", 3, 5))
    assert error.fix == "do this."
    assert "something is wrong" in str(error)


def test_a_config_error_shows_every_fault_on_its_line():
    faults = [
        Fault("a", "rank is wrong", "write a number.", Origin("b.yaml", 1, 2)),
        Fault("b", "id is missing", "add one.", Origin("b.yaml", 4, 1)),
    ]
    assert str(ConfigError(faults)) == (
        "b.yaml:1:2: rank is wrong. Fix: write a number.\nb.yaml:4:1: id is missing. Fix: add one."
    )


def test_device_and_backend_errors_are_the_builtin_kinds_that_callers_catch():
    assert issubclass(errors.UnknownDevice, ValueError)
    assert issubclass(errors.Unavailable, RuntimeError)
    assert issubclass(errors.SettingError, ValueError)
    assert issubclass(errors.UnsupportedFeature, NotImplementedError)


OURS = {"Exception", "BaseException", "NotImplementedError", *CODES}
"""What may say itself what to do; a kernel's NotImplementedError does."""
OUTCOMES = {"trial.py", "routed.py", "running.py", "__main__.py"}
"""These record or print what was raised, word for word, and raise nothing."""


def taken_up_whole(path):
    """The places where what one of our errors says to do would become part of another's message."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for handler in (one for one in ast.walk(tree) if isinstance(one, ast.ExceptHandler)):
        kinds = {one.id for one in ast.walk(handler.type or tree) if isinstance(one, ast.Name)}
        for part in ast.walk(handler) if kinds & OURS else ():
            if (
                isinstance(part, ast.FormattedValue)
                and isinstance(part.value, ast.Name)
                and part.value.id == handler.name
            ):
                yield f"{path}:{part.lineno}"


def test_an_error_that_takes_up_another_says_once_what_to_do():
    package = Path(errors.__file__).parent
    modules = [one for one in package.rglob("*.py") if one.name not in OUTCOMES]
    assert [place for path in modules for place in taken_up_whole(path)] == []


def test_what_an_error_says_is_without_what_to_do():
    inner = errors.Unavailable("no device", fix="plug it in.")
    assert (errors.said(inner), errors.told(inner)) == ("no device", "Unavailable: no device")
    foreign = RuntimeError(f"it failed: {inner}")
    assert errors.told(foreign) == "RuntimeError: it failed: no device"
    assert errors.told(ValueError()) == "ValueError"
