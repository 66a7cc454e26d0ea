"""Whatever is done to an artifact's bytes is seen before any of the payload is handed out."""

import json
import os
from dataclasses import replace
from hashlib import sha256

import pytest

from rlx.artifact.artifact import read_artifact
from rlx.artifact.envelope import LARGEST, MAGIC, PREFIX, pack
from rlx.artifact.header import Part
from rlx.errors import CorruptArtifact
from tests.artifact.conftest import read, sealed

RETYPED = (None, True, 3, -1, 1.5, "", "x", [], {}, [1], "a" * 64, 1 << 70)


def head_of(data):
    return data[PREFIX : PREFIX + int.from_bytes(data[8:12], "big")]


def canonical(plain):
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()


def leaves(value, path=()):
    """Every place in a JSON value."""
    yield path
    if not isinstance(value, dict | list):
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(inner, (*path, key))


def changed(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def with_key_twice(value, path, again, here=()):
    """Canonical JSON but for one key, which stands there twice, first with another value."""
    if isinstance(value, dict):
        items = []
        for key in sorted(value):
            if (*here, key) == path:
                items.append(f"{json.dumps(key)}:{canonical(again).decode()}")
            inner = with_key_twice(value[key], path, again, (*here, key))
            items.append(f"{json.dumps(key)}:{inner}")
        return "{" + ",".join(items) + "}"
    if isinstance(value, list):
        inner = (with_key_twice(one, path, again, (*here, at)) for at, one in enumerate(value))
        return "[" + ",".join(inner) + "]"
    return canonical(value).decode()


def at(value, path):
    for key in path:
        value = value[key]
    return value


def refuses(data):
    with pytest.raises(CorruptArtifact) as caught:
        read(data)
    assert caught.value.message
    return True


def test_it_reads_back_what_was_written(artifact):
    assert read(artifact.to_bytes()) == artifact


def test_every_bit_counts(artifact):
    data, count = artifact.to_bytes(), 0
    for place in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            count += refuses(bytes(flipped))
    assert count == 8 * len(data)


def test_a_file_cut_short_anywhere_is_refused(artifact):
    data = artifact.to_bytes()
    assert sum(refuses(data[:length]) for length in range(len(data))) == len(data)


@pytest.mark.parametrize("more", [b"\0", b"x" * 5000, MAGIC])
def test_more_than_is_listed_is_refused(artifact, more):
    refuses(artifact.to_bytes() + more)


def test_every_key_of_the_header_removed_renamed_added_or_duplicated(artifact):
    data = artifact.to_bytes()
    plain, parts = json.loads(head_of(data)), artifact.parts
    count = 0
    for path in leaves(plain):
        if not path or not isinstance(path[-1], str):
            continue
        holder = dict(at(plain, path[:-1]))
        value = holder.pop(path[-1])
        variants = [holder, {**holder, f"{path[-1]}_": value}, {**holder, path[-1]: value, "z": 1}]
        for variant in variants:
            count += refuses(sealed(canonical(changed(plain, path[:-1], variant)), *parts))
        for again in (value, None, {}):
            head = with_key_twice(plain, path, again).encode()
            assert json.loads(head) == plain
            assert head != head_of(data)
            count += refuses(sealed(head, *parts))
    assert count > 200


def test_every_value_of_the_header_of_another_type_is_refused(artifact):
    plain, parts = json.loads(head_of(artifact.to_bytes())), artifact.parts
    count = 0
    for path in leaves(plain):
        for new in RETYPED:
            old = at(plain, path)
            allowed = path and _may_be(path, new)
            if allowed or (type(new) is type(old) and new == old):
                continue
            count += refuses(sealed(canonical(changed(plain, path, new)), *parts))
    assert count > 450


def _may_be(path, new):
    """Whether the header of another artifact could say so: that is judged against the registry."""
    last = path[-1]
    text = isinstance(new, str) and new != ""
    if last in ("registration", "registry", "program"):
        return new == "a" * 64
    if last in ("toolchain", "name", "precision", "operation", "dtype") and text:
        return True
    if last in ("backend", "device", "target", "payload_format") and text:
        return True
    if last == "precision":
        return new is None
    if last == "shape":
        return new is None or new in ([], [1])
    if "shape" in path:
        return new is None or text or (type(new) is int and 0 <= new < 1 << 63)
    if last in ("inputs", "outputs", "operations"):
        return new == []
    return last == "nodes" and type(new) is int and 0 < new < 1 << 63


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 10_000,
        b"NaN",
        '{"é":1}'.encode(),
    ],
    ids=range(10),
)
def test_a_header_that_is_something_else(head):
    refuses(sealed(head))


def test_a_header_with_other_blanks_or_another_order_is_not_canonical(artifact):
    data = artifact.to_bytes()
    plain = json.loads(head_of(data))
    for head in (
        json.dumps(plain).encode(),
        json.dumps(dict(reversed(plain.items())), separators=(",", ":")).encode(),
        head_of(data) + b"\n",
    ):
        with pytest.raises(CorruptArtifact, match="not in canonical form"):
            read(sealed(head, *artifact.parts))


@pytest.mark.parametrize("by", [-1, 1, 1 << 40])
def test_a_length_that_is_off_is_refused(artifact, by, tmp_path):
    plain = json.loads(head_of(artifact.to_bytes()))
    plain["parts"][0]["length"] += by
    data = sealed(canonical(plain), *artifact.parts)
    refuses(data)
    (tmp_path / "a.rlx").write_bytes(data)
    with pytest.raises(CorruptArtifact):
        read_artifact(tmp_path / "a.rlx")


def test_eight_gigabytes_declared_take_no_memory(artifact, tmp_path):
    plain = json.loads(head_of(artifact.to_bytes()))
    plain["parts"][0]["length"] = 8 << 30
    path = tmp_path / "large.rlx"
    path.write_bytes(sealed(canonical(plain), *artifact.parts))
    with pytest.raises(CorruptArtifact, match=f"an artifact has at most {LARGEST}"):
        read_artifact(path)
    os.truncate(path, 8 << 30)  # a sparse file of that very size
    with pytest.raises(CorruptArtifact, match=f"it has {8 << 30} bytes, an artifact has at most"):
        read_artifact(path)


def test_parts_that_changed_places_are_refused(artifact):
    head = artifact.header
    two = (b"one", b"two")
    parts = tuple(
        Part(name, len(data), sha256(data).hexdigest())
        for name, data in zip(("a", "b"), two, strict=True)
    )
    good = pack(replace(head, parts=parts), two)
    assert read(good).parts == two
    refuses(good[: -len(b"onetwo")] + b"twoone")
    refuses(pack(replace(head, parts=parts[::-1]), two[::-1]))


def test_a_newer_form_says_so(artifact):
    plain = json.loads(head_of(artifact.to_bytes()))
    plain["version"] = 2
    with pytest.raises(CorruptArtifact) as caught:
        read(sealed(canonical(plain), *artifact.parts))
    assert str(caught.value) == (
        "its form is of version 2, this rlx reads version 1. "
        "Fix: use a newer rlx, or build it again with this one."
    )
