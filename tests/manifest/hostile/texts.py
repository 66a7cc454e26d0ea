"""Hostile contents: bytes that a manifest must not be, each under a name that says what it is."""

from __future__ import annotations

import codecs
import random
from typing import TYPE_CHECKING

from tests.manifest.hostile.letters import letters
from tests.manifest.hostile.parts import CANARY, HEAD, MIB, Case, backend, manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKENS = (
    *("[", "{", "]", "}", "- ", "? ", ": ", "a: ", "&a ", "*a ", "!a ", "!!x ", "!<a> ", "|\n"),
    *(">\n", "#", "# \n", "'", '"', "''", '""', "%", "%Y 1\n", "@", "`", "\t", "\\", ",", "---\n"),
    *("...\n", "--- ", "<<: ", "\r", "\n", " ", "\u200b", "\u202e", "é", "𝕏", "a\n", "-\n", "{}"),
    *("[],", "{a: ", "[a, ", "? [", '"\\x41', "0", "9", "1_", "1:", "~,", ".", "=", "a: b\n"),
    *("- a\n", "a b", "&", "*", "!", "|", ">", "- - ", "- a: ", "a:\n", "[[],", "{a},", "\\n"),
    *('"a": 1\n', "\r\n", "\n\n  ", "a: |\n ", "no,", "0x", "1e", "- ?", "? - ", "*a: ", "é: "),
    *("\u0301", "\U0001f600", "\x07", "\u2028", "\ufeff", "\ufffe", "\x85"),
)
"""Each is repeated to a MiB, alone and as a value."""


def cases() -> Iterator[Case]:
    """Every content."""
    yield from encodings()
    yield from controls()
    yield from sizes()
    yield from depths()
    yield from bombs()
    yield from tags()
    yield from letters()
    yield from shapes()


def encodings() -> Iterator[Case]:
    """Bytes that are not UTF-8."""
    text = HEAD + "devices: [{id: é, name: é}]\n"
    for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
        yield f"encoded {name}", text.encode(name)
    for name in ("latin-1", "cp037", "gb18030", "utf-7"):
        yield f"encoded {name}", text.encode(name)
    whole = manifest("")
    for name, data in (
        ("overlong slash", b"\xc0\xaf"),
        ("overlong NUL", b"\xc0\x80"),
        ("surrogate", b"\xed\xa0\x80"),
        ("above U+10FFFF", b"\xf4\x90\x80\x80"),
        ("cut off character", b"\xf0\x9f\x98"),
        ("continuation alone", b"\x80"),
        ("0xff", b"\xff"),
        ("second byte order mark", codecs.BOM_UTF8 * 2),
        ("NUL", b"\0"),
    ):
        yield f"bytes: {name}", data + whole
        yield f"bytes at the end: {name}", whole + b"devices: [" + data
    yield "1 MiB of 0xff", b"\xff" * MIB
    yield "1 MiB, not UTF-8 at its last byte", b"#" * (MIB - 1) + b"\xff"
    yield "1 MiB of NUL", b"\0" * MIB
    for seed in range(6):
        yield f"random bytes {seed}", random.Random(seed).randbytes(MIB // (1 + seed % 2 * 1023))
    yield "an ELF file", b"\x7fELF\x02\x01\x01" + bytes(64)
    yield "a zip file", b"PK\x03\x04" + bytes(64)
    yield "a pickle", b"cos\nsystem\n(S'touch pwned'\ntR."
    yield "nothing", b""
    yield "a byte order mark alone", codecs.BOM_UTF8
    yield "comments only", b"# nothing\n" * 9


def controls() -> Iterator[Case]:
    """Control characters, raw and as escapes."""
    raw = [*range(9), 11, 12, *range(14, 32), *range(127, 160), 0x2028, 0x2029, 0xFEFF, 0xFFFE]
    for point in raw:
        yield f"raw U+{point:04X}", manifest(f"devices: [{{id: a{chr(point)}b, name: A}}]\n")
    for point in (0, 7, 8, 27, 127, 0x80, 0x9B, 0xD800, 0xDFFF):
        yield f"escaped U+{point:04X}", manifest(f'devices: [{{id: x, name: "\\u{point:04x}"}}]\n')
    yield "a terminal's title", manifest('devices: [{id: "\\e]0;pwned\\a", name: A}]\n')
    yield "clear the screen", manifest("devices: [{id: \x1b[2J, name: A}]\n")


def sizes() -> Iterator[Case]:
    """As much as a file may have of each nasty token, and more than it may have."""
    yield "1 MiB and a byte", b"#" * (MIB + 1)
    yield "16 MiB", b"a: b\n" * (16 * MIB // 5)
    for token in TOKENS:
        room = MIB // len(token.encode())
        name = token.encode("unicode_escape").decode()
        yield f"1 MiB of {name}", (token * room).encode()
        value = "devices:\n  - id: "
        room = (MIB - len(HEAD + value)) // len(token.encode())
        yield f"a value of 1 MiB of {name}", manifest(value + token * room)
    fill = "a" * (MIB - 200)
    for name, body in (
        ("id", f"devices: [{{id: {fill}!, name: A}}]\n"),
        ("key", f"{fill}: 1\n"),
        ("quoted key", f'"{fill}": 1\n'),
        ("kind", f"kind: {fill}\n"),
        ("device", f"backends: [{{id: a, device: {fill}}}]\n"),
        ("factory", f"backends: [{{id: a, device: cpu, factory: '{'a.' * (MIB // 2 - 200)}:x'}}]"),
        ("version", f"backends: [{{id: a, device: cpu, probes: [{{module: m, version: '{fill}'}}]}}]"),  # noqa: E501
        ("versions", "backends: [{id: a, device: no, probes: [{module: m, version: '"
                     + ">=1," * (MIB // 4 - 60) + "'}]}]"),
        ("override", f"overrides: [{{id: {fill}, rank: 1}}]\n"),
        ("operation", "backends: [{id: a, device: cpu, coverage: {rows: [{operations: ["
                      + fill[:-100] + "]}]}}]"),
        ("coverage path", f"backends: [{{id: a, device: cpu, coverage: {fill[:-100]}}}]"),
        ("routing device", f"routing: {{device: '{'cpu,' * (MIB // 4 - 100)}'}}"),
        ("integer", f"backends: [{{id: a, device: cpu, rank: {'9' * (MIB - 200)}}}]"),
        ("negative integer", f"backends: [{{id: a, device: cpu, rank: -{'9' * (MIB - 200)}}}]"),
        ("hexadecimal", f"backends: [{{id: a, device: cpu, rank: 0x{'f' * (MIB - 200)}}}]"),
        ("fraction", f"backends: [{{id: a, device: cpu, rank: 1.{'0' * (MIB - 200)}1}}]"),
        ("exponent", f"backends: [{{id: a, device: cpu, rank: 1e{'9' * (MIB - 200)}}}]"),
        ("escapes", f'devices: [{{id: "{chr(92)}u0061{(chr(92) + "x61") * (MIB // 4 - 60)}!", name: A}}]'),  # noqa: E501
        ("base 60", f"backends: [{{id: a, device: cpu, rank: 1{':01' * (MIB // 3 - 60)}}}]"),
        ("folded text", "devices:\n  - id: >\n" + "      a\n" * (MIB // 8 - 20)),
    ):  # fmt: skip
        yield f"1 MiB as {name}", manifest(body)
    yield "a MiB of keys", manifest("".join(f"k{i}: 1\n" for i in range(90_000)))
    yield "100,001 values", b"[" + b"1," * 100_001 + b"]"
    yield "500,000 values", b"[" + b"1," * 500_000 + b"]"
    yield "the same key 200,000 times", b"a: 1\n" * 200_000


def depths() -> Iterator[Case]:
    """Values within values."""
    for count in (65, 1_000, 100_000, 500_000):
        yield f"{count} lists", b"[" * count
        yield f"{count} mappings", b"{a: " * min(count, MIB // 4)
        yield f"{count} lists in lines", b"- " * count
        yield f"{count} keys of keys", b"? " * count
    yield "65 lists, closed", b"[" * 65 + b"]" * 65
    yield "500,000 lists, closed", b"[" * 500_000 + b"]" * 500_000
    yield "indented mappings", "".join(f"{' ' * i}a:\n" for i in range(1_400)).encode()
    yield (
        "65 levels of a manifest",
        manifest("a:\n" + "".join(f"{'  ' * i}- b:\n" for i in range(70))),
    )


def bombs() -> Iterator[Case]:
    """Few bytes that stand for many."""
    laughs = "a0: &a0 lol\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
    )
    yield "a billion laughs", laughs.encode()
    yield "a quadratic bomb", manifest(f"a: &a {'x' * 50_000}\nb: [{'*a, ' * 50_000}]\n")
    yield (
        "a merge bomb",
        b"a: &a {x: 1}\n"
        + b"".join(b"b%d: &b%d {<<: [*a, *a], <<: *a}\n" % (i, i) for i in range(9_000)),
    )
    yield "a list in itself", b"a: &a [*a]\n"
    yield "a mapping in itself", b"&a {*a : *a}\n"
    yield "100,000 anchors", b"".join(b"- &a%d x\n" % i for i in range(70_000))
    yield "an alias of nothing", b"a: *nothing\n"
    yield "an anchor's name of a MiB", b"&" + b"a" * (MIB - 9) + b" x"
    yield "20,000 documents", b"--- a\n" * 20_000
    yield "a directive of a MiB", b"%YAML " + b"1" * (MIB - 9)


def tags() -> Iterator[Case]:
    """What a careless loader would run."""
    for tag in (
        f"!!python/object/apply:{CANARY}.run []",
        f"!!python/object/new:{CANARY}.run []",
        f"!!python/name:{CANARY}.run",
        f"!!python/module:{CANARY}",
        "!!python/object/apply:os.system ['touch pwned']",
        "!!python/object/apply:subprocess.Popen [[touch, pwned]]",
        "!!python/object/apply:builtins.eval ['1']",
        "!!binary aGVsbG8=",
        "!!set {a, b}",
        "!!omap [a: 1]",
        "!!timestamp 2001-01-01",
        "!ruby/object:Gem::Installer {i: x}",
        "!include /etc/passwd",
        "!<tag:yaml.org,2002:str> x",
        "! x",
    ):
        yield f"tag {tag[:48]}", manifest(f"devices: {tag}\n")
    yield "a tag's handle", f"%TAG ! tag:python,2000:\n---\n!x {HEAD}".encode()
    run = f"{CANARY}:run"
    for key, value in (
        ("factory", f"'{run}'"),
        ("compiler", f"'{run}'"),
        ("probes", f"[{{call: '{run}'}}]"),
        ("probes", f"[{{module: {CANARY}}}]"),
        ("probes", f"[{{library: ./{CANARY}.so}}]"),
        ("factory", "'os:system'"),
        ("factory", '\'__import__("os").system("touch pwned"):x\''),
        ("install", '"\\e[31m`touch pwned`"'),
    ):
        body = f"backends: [{{id: a, device: nothing, {key}: {value}}}]\n"
        yield f"names {key} {value[:40]}", manifest(body)


def shapes() -> Iterator[Case]:
    """YAML that is right, and no manifest; or one with as many faults as there is room for."""
    for name, text in (
        ("a number", "1"),
        ("text", "hello"),
        ("a list", "[]"),
        ("a mapping of nothing", "{}"),
        ("JSON", '{"a": [1, 2, {"b": null}]}'),
        ("another tool's file", "services:\n  web: {image: nginx}\n"),
        ("an unknown version", "apiVersion: rlx/v2\nkind: Backends\n"),
        ("an unknown kind", "apiVersion: rlx/v1\nkind: Secret\n"),
        ("a kind of lists", "apiVersion: rlx/v1\nkind: [Backends]\n"),
        ("HTML", "<!DOCTYPE html><script>alert(1)</script>"),
        ("a shell script", "#!/bin/sh\ntouch pwned\n"),
        ("Python", "import os; os.system('touch pwned')"),
    ):
        yield f"holds {name}", text.encode()
    entries = "backends:\n"
    yield "20,000 broken backends", manifest(entries + backend("A!", ", rank: x") * 20_000)
    yield "20,000 backends of one id", manifest(entries + backend("a") * 20_000)
    yield (
        "15,000 backends of no device",
        manifest(entries + "".join(f"  - {{id: b{i}, device: d{i}}}\n" for i in range(15_000))),
    )
    yield (
        "20,000 unknown overrides",
        manifest("overrides:\n" + "".join(f"  - {{id: b{i}, rank: 1}}\n" for i in range(20_000))),
    )
    yield (
        "9,000 backends that inherit in a ring",
        manifest(
            entries
            + "".join(
                backend(
                    f"b{i}",
                    f", coverage: {{evidence: {{kind: inherited, backend: b{(i + 1) % 9_000}}}, rows: []}}",  # noqa: E501
                )
                for i in range(9_000)
            )
        ),
    )
    names = ", ".join(f"a{i}: [1]" for i in range(20_000))
    every = "Add, Sub, Mul, Div, MatMul, Relu, Conv, Abs, Exp, Log, Neg, Sqrt, Tanh, Erf, Sum, Max"
    yield (
        "20,000 unknown attributes of 16 operations",
        manifest(
            f"backends: [{{id: a, device: cpu, coverage: {{rows: [{{operations: [{every}], "
            f"attributes: {{{names}}}}}]}}}}]\n"
        ),
    )
    yield (
        "20,000 unknown type variables of 16 operations",
        manifest(
            f"backends: [{{id: a, device: cpu, coverage: {{rows: [{{operations: [{every}], "
            f"types: {{{names.replace('1', 'float32')}}}}}]}}}}]\n"
        ),
    )
    yield (
        "20,000 dtypes that are not known",
        manifest(
            f"backends: [{{id: a, device: cpu, coverage: {{rows: [{{operations: [{every}], "
            f"types: {{T: [{names.replace(': [1]', '')}]}}}}]}}}}]\n"
        ),
    )
    yield (
        "20,000 devices of one name",
        manifest(
            "devices:\n"
            + "".join(f"  - {{id: d{i}, name: D, aliases: [a]}}\n" for i in range(15_000))
        ),
    )
    many = ", ".join(f"Op{i}" for i in range(60_000))
    yield (
        "60,000 unknown operations",
        manifest(
            f"backends: [{{id: a, device: cpu, coverage: {{rows: [{{operations: [{many}]}}]}}}}]\n"
        ),
    )
    yield (
        "60,000 capabilities that are not known",
        manifest(f"backends: [{{id: a, device: cpu, capabilities: [{many.lower()}]}}]\n"),
    )
    for path in ("/etc/passwd", "../../etc/passwd", "a/../../b", "C:\\\\x", "~/x", "\\\\\\\\host\\\\x",  # noqa: E501
                 "/dev/zero", ".", "''", "self.yaml", "a\\nb", "file:///etc/passwd"):  # fmt: skip
        quoted = "''" if path == "''" else f'"{path}"'
        body = f"backends: [{{id: a, device: cpu, coverage: {quoted}}}]\n"
        yield f"coverage at {path}", manifest(body)
