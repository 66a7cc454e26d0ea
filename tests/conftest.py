"""Every test starts from the same place: no RLX_* variable, no user configuration, no caches."""

import importlib.util
import itertools
import os
import sys

import pytest


def pytest_runtest_setup(item):
    """Skip a test whose engine is missing; fail it where RLX_TEST_REQUIRE names the engine."""
    required = os.environ.get("RLX_TEST_REQUIRE", "").replace(" ", "").split(",")
    if item.get_closest_marker("network") and "network" not in required:
        pytest.skip("needs a package registry: set RLX_TEST_REQUIRE=network to run it")
    for mark in item.iter_markers("needs"):
        (name,) = mark.args
        if (reason := lacking(name)) is not None:
            if name in required:
                pytest.fail(f"{name} {reason}, and RLX_TEST_REQUIRE requires it here")
            pytest.skip(f"needs {name}, which {reason}")


def lacking(name):
    """Why an engine, or the packages with real models, cannot be used; None: they can."""
    if name == "models":
        from tests.models import packages

        return packages.missing()
    return None if importlib.util.find_spec(name) is not None else "is not installed"


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("no-configuration"))


@pytest.fixture(scope="session")
def caches(tmp_path_factory):
    """A new folder for caches for each test, made by whoever writes into it."""
    base = tmp_path_factory.mktemp("caches")
    return (str(base / str(number)) for number in itertools.count())


@pytest.fixture(autouse=True)
def isolated(monkeypatch, empty_folder, caches):
    """Take RLX_* and the machine's configuration away, and forget what earlier tests left."""
    for name in os.environ:
        if name.startswith("RLX_") and not name.startswith("RLX_TEST_"):
            monkeypatch.delenv(name)
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, empty_folder)
    monkeypatch.setenv("XDG_CACHE_HOME", next(caches))
    yield
    if (testing := sys.modules.get("rlx.testing")) is not None:
        testing.forget_watches()
    if (default := sys.modules.get("rlx.session.default")) is not None:
        default.forget()


@pytest.fixture(scope="session")
def three_backends_folder(tmp_path_factory):
    from rlx.catalogue import packaged

    folder = tmp_path_factory.mktemp("three")
    packaged.write(folder)
    return folder


@pytest.fixture
def three_backends(three_backends_folder, monkeypatch):
    """The packaged layer is that of `tests/three_backends.yaml`, not the one that rlx ships.

    It is undone with all else that a test patches: in the reverse order, so that nothing stays.
    """
    from rlx import resources

    monkeypatch.setattr(resources, "configs", lambda: three_backends_folder)
    return three_backends_folder
