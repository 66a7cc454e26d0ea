"""Letters that look like others, letters that are not seen, and some that turn text round."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from tests.manifest.hostile.parts import Case, manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS = (
    *"аеіοрсᴀａℯⅰ１𝐚𝓪ıſﬁªⓐ٠०Ａéñßꭰㅤ日ӏѐ",
    *("\u200b", "\u200c", "\u200d", "\u2060", "\u00ad", "\u200e", "\u200f", "\u202a", "\u202e"),
    *("\u2066", "\u2069", "\u061c", "\u180e", "\u115f", "\uffa0", "\u0301", "\ufe0f"),
    *("\u00a0", "\u3000", "\u2003", "\u2800", "\U000e0061", "\U0001f600", "\ue000", "\u034f"),
)
"""Letters that look like others, letters that are not seen, and some that turn text round."""


def letters() -> Iterator[Case]:
    """Ids, keys and names that look like others."""
    for letter in LETTERS:
        name = unicodedata.name(letter, f"U+{ord(letter):04X}")
        yield f"id with {name}", manifest(f'backends: [{{id: "num{letter}py", device: cpu}}]\n')
    for word, body in (
        ("key", "backеnds: []\n"),
        ("key with U+200B", '"back\u200bends": []\n'),
        ("id as key", 'backends: [{"\u0456d": a, device: cpu}]\n'),
        ("device", "backends: [{id: a, device: сpu}]\n"),
        ("override", "overrides: [{id: numрy, rank: 1}]\n"),
        ("override with U+200B", 'overrides: [{id: "numpy\u200b", rank: 1}]\n'),
        ("capability", "backends: [{id: a, device: cpu, capabilities: [dуnamic_shapes]}]\n"),
        ("alias", "devices: [{id: x, name: X, aliases: [сuda]}]\n"),
        (
            "operation",
            "backends: [{id: a, device: cpu, coverage: {rows: [{operations: [MatМul], "
            "types: {T: [float32]}}]}}]\n",
        ),
        (
            "dtype",
            "backends: [{id: a, device: cpu, coverage: {rows: [{operations: [Relu], "
            "types: {T: [flоat32]}}]}}]\n",
        ),
        ("factory", "backends: [{id: a, device: cpu, dispatches: true, factory: 'оs:system'}]\n"),
        ("routing", "routing: {device: сpu}\n"),
        ("digits", "backends: [{id: a, device: cpu, rank: １２}]\n"),
        ("same id in two forms", "backends: [{id: é, device: cpu}, {id: é, device: cpu}]\n"),
    ):
        yield f"a look-alike as {word}", manifest(body)
    yield "a look-alike as kind", "apiVersion: rlx/v1\nkind: Вackends\n".encode()
    yield "a look-alike as apiVersion", "аpiVersion: rlx/v1\nkind: Backends\n".encode()
