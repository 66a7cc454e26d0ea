"""Manifests from text, laid over the base of tests/manifests/rules."""

from pathlib import Path

import pytest

from rlx.errors import ConfigError
from rlx.manifest import shape
from rlx.manifest.loader import Manifest, read_file
from rlx.manifest.parser import parse
from rlx.registries import freeze

RULES = Path(__file__).parents[1] / "manifests" / "rules"
HEAD = "apiVersion: rlx/v1\nkind: Backends\n"


@pytest.fixture(scope="session")
def packaged():
    return read_file(RULES / "base" / "backends.yaml", "packaged", shown="base.yaml")


@pytest.fixture(scope="session")
def base(packaged):
    return freeze([packaged])


@pytest.fixture(scope="session")
def manifest():
    """Makes a manifest of its body; the first line of the body is line 3."""

    def make(body, path="backends.yaml", layer="user", *, trusted=True, kind="Backends"):
        text = f"apiVersion: rlx/v1\nkind: {kind}\n{body}"
        document = parse(text.encode(), path, layer)
        return Manifest(shape.check(document), document, Path(path), trusted)

    return make


@pytest.fixture
def faults(base):
    """The faults of freezing manifests over the base, as text."""

    def collect(*manifests):
        with pytest.raises(ConfigError) as caught:
            freeze(manifests, base=base)
        return [str(fault) for fault in caught.value.faults]

    return collect
