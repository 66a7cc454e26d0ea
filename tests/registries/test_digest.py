"""The digest: the same for any file order and hash seed, another for anything that matters."""

import dataclasses
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.freeze import digest
from rlx.registration import Coverage, Probe, Row
from rlx.registries import Registry, freeze

ROOT = Path(__file__).parents[2]
AGAIN = """\
from pathlib import Path
from rlx.freeze import compiled, digest
content = compiled.read(Path("configs"))
claims = [digest.coverage_digest(one.coverage) for one in content.registrations]
print(digest.digest(content), *claims)
"""
PARTS = {
    "devices.yaml": "devices:\n  - {id: npu, name: NPU, aliases: [ai]}\n",
    "fast.yaml": "backends:\n  - {id: fast, device: npu, rank: 1, capabilities: [acme/copy]}\n",
    "slow.yaml": "backends:\n  - {id: slow, device: cpu, rank: 1, options: {b: 1, a: [2, 3]}}\n",
    "words.yaml": "capabilities:\n  - {id: acme/copy, description: copies}\n",
    "change.yaml": "overrides:\n  - {id: numpy, rank: 3, options: {threads: 2}}\n",
}


def test_it_is_the_same_for_every_hash_seed():
    found = set()
    for seed in range(64):
        done = subprocess.run(
            [sys.executable, "-c", AGAIN],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1
    assert found.pop().split()[0] == Registry.load(only=True).digest


def test_it_is_the_same_for_every_order_of_a_layers_files(base, manifest):
    files = [manifest(body, path, "plugin") for path, body in PARTS.items()]
    orders = itertools.permutations(files)
    registries = [freeze(order, base=base) for order in orders]
    assert len({one.digest for one in registries}) == 1
    assert len({one.registrations for one in registries}) == 1


def test_places_and_comments_do_not_matter(packaged, manifest, base):
    moved = "# a comment\n\n" + packaged.document.text.split("kind: Backends\n")[1]
    assert freeze([manifest(moved, "elsewhere.yaml", "packaged")]).digest == base.digest


def test_the_order_of_capabilities_and_options_does_not_matter(base, manifest):
    one = "overrides:\n  - {id: numpy, capabilities: [strings, deterministic], options: {b: 1}}\n"
    two = "overrides:\n  - {id: numpy, options: {b: 1}, capabilities: [deterministic, strings]}\n"
    digests = {freeze([manifest(body)], base=base).digest for body in (one, two)}
    assert len(digests) == 1


CHANGES = {
    "device": "cuda",
    "target": "other",
    "rank": 3,
    "dispatches": False,
    "reference_oracle": True,
    "software": True,
    "enabled": False,
    "factory": "a:b",
    "install": "get it",
    "probes": (Probe("module", ("numpy",)),),
    "capabilities": ("strings",),
    "coverage": Coverage((Row(("Add",)),)),
    "payload_format": "blob",
    "compiler": "a:b",
    "compiles": Coverage(),
    "materializer": "a:b",
    "options": (("threads", 2),),
    "safe_options": (),
}


def test_every_field_of_a_registration_is_changed_below():
    fields = {field.name for field in dataclasses.fields(type(PROBE_HOLDER))}
    assert fields - {"id", "origin", "history"} == set(CHANGES)


PROBE_HOLDER = Registry.load(only=True).registrations[0]


@pytest.mark.parametrize("field", CHANGES)
def test_every_field_matters(base, field):
    one = base.get("numpy")
    changed = dataclasses.replace(one, **{field: CHANGES[field]})
    others = tuple(other for other in base.registrations if other is not one)
    content = dataclasses.replace(base.content, registrations=(*others, changed))
    assert digest.digest(content) != base.digest


@pytest.mark.parametrize(
    "change",
    [
        {"operations": ("Sub",)},
        {"types": (("T", ("float16",)),)},
        {"attributes": (("axis", (1,)),)},
        {"ndim": (0, 4)},
        {"ndim": (0, None)},
    ],
    ids=str,
)
def test_every_part_of_a_claim_matters(change):
    row = Row(("Add",), (("T", ("float32",)),))
    before = digest.coverage_digest(Coverage((row,)))
    assert digest.coverage_digest(Coverage((dataclasses.replace(row, **change),))) != before


def test_devices_capabilities_routing_and_operations_matter(base, manifest):
    bodies = [
        "devices:\n  - {id: npu, name: NPU}\n",
        "capabilities:\n  - {id: fast, description: fast}\n",
        "routing: {device: cpu}\n",
        "routing: {backend: numpy}\n",
        "routing: {kernel_dispatch: native}\n",
    ]
    files = [manifest(body) for body in bodies]
    files.append(manifest('operations:\n  - name: "acme::Copy"\n', kind="Operations"))
    digests = {freeze([file], base=base).digest for file in files}
    assert len(digests | {base.digest}) == len(files) + 1
