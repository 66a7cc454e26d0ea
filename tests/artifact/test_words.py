"""Each way to tamper with an artifact gets its word, and nothing of the payload is looked into."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from rlx.artifact.checking import check
from rlx.artifact.envelope import PREFIX
from rlx.errors import ArtifactError, CorruptArtifact
from rlx.session.artifacts import load_artifact
from tests.artifact.conftest import read, sealed
from tests.artifact.test_artifacts import registered
from tests.artifact.test_tampering import (
    RETYPED,
    _may_be,
    at,
    canonical,
    changed,
    head_of,
    leaves,
    with_key_twice,
)

LOOKED: list[object] = []


class Trap:
    """A runtime that notes every payload that it is handed."""

    payload_format = "onnx"

    def accepts(self, toolchain):
        return None if toolchain.startswith("onnx ") else f"it was made by {toolchain}"

    def materialize(self, payload, spec):
        LOOKED.append(payload)


REGISTRY = {"materializer": f"{__name__}:Trap"}
SETTLED = {
    "target": "foreign",
    "device": "foreign",
    "payload_format": "foreign",
    "registration": "stale",
    "toolchain": "stale",
}
"""Keys of the header that the registry is held against; by key, the word when they differ."""


def word(data, registry):
    try:
        return check(read(data).header, registry).word
    except CorruptArtifact:
        return "corrupt"


def tampered(data):
    """(what was done, the bytes, the word) for everything that is done to a small artifact."""
    size = PREFIX + len(head_of(data))
    plain, parts = json.loads(head_of(data)), (data[size:],)
    for place in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            yield "bit flipped", bytes(flipped), "corrupt"
    for length in range(len(data)):
        yield "cut short", data[:length], "corrupt"
    for path in leaves(plain):
        if path and isinstance(path[-1], str):
            holder = dict(at(plain, path[:-1]))
            value = holder.pop(path[-1])
            yield "key removed", _sealed(plain, path[:-1], holder, parts), "corrupt"
            renamed = {**holder, f"{path[-1]}_": value}
            yield "key renamed", _sealed(plain, path[:-1], renamed, parts), "corrupt"
            added = {**holder, path[-1]: value, "z": 1}
            yield "key added", _sealed(plain, path[:-1], added, parts), "corrupt"
            for again in (value, None):
                head = with_key_twice(plain, path, again).encode()
                yield "key twice", sealed(head, *parts), "corrupt"
        for new in RETYPED:
            old = at(plain, path)
            if type(new) is type(old) and new == old:
                continue
            made = _sealed(plain, path, new, parts)
            if not (path and _may_be(path, new)):
                yield "value of another type", made, "corrupt"
            elif len(path) == 1 and path[0] in SETTLED:
                yield f"another {path[0]}", made, SETTLED[path[0]]
    for by in (-1, 1):
        length = plain["parts"][0]["length"] + by
        yield (
            "length off by one",
            _sealed(plain, ("parts", 0, "length"), length, parts),
            "corrupt",
        )
        header = (len(head_of(data)) + by).to_bytes(4, "big")
        yield "length off by one", data[:8] + header + data[12:], "corrupt"
    yield "8 GB declared", _sealed(plain, ("parts", 0, "length"), 8 << 30, parts), "corrupt"


def _sealed(plain, path, value, parts):
    return sealed(canonical(changed(plain, path, value)), *parts)


def test_every_tampering_has_its_word_and_no_payload_is_parsed(artifact):
    registry = registered(**REGISTRY)
    original = read(artifact.to_bytes()).header
    fitting = replace(artifact, header=replace(original, registration=_facet(registry)))
    data = fitting.to_bytes()
    assert word(data, registry) == "compatible"
    LOOKED.clear()
    counts = Counter()
    for what, made, expected in tampered(data):
        assert word(made, registry) == expected, what
        counts[what] += 1
        if expected != "corrupt":
            with pytest.raises(ArtifactError, match=f"this artifact is {expected}"):
                load_artifact(read(made), registry)
    assert LOOKED == []
    assert counts["bit flipped"] == 8 * counts["cut short"] == 8 * len(data)
    keys = counts["key removed"]
    assert keys == counts["key renamed"] == counts["key added"] == counts["key twice"] / 2 > 30
    assert counts["value of another type"] > 450
    assert all(counts[f"another {name}"] for name in SETTLED)
    print(f"\n{sum(counts.values())} tamperings: {dict(counts)}")


def _facet(registry):
    from rlx.artifact.facets import facet_digest

    return facet_digest(registry.get("onnxruntime-cpu"))
