"""Edits in place of random manifests: only the spliced characters differ, and so only one value."""

import dataclasses
import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.manifest import parse, shape
from rlx.manifest.editing import edit, entry
from rlx.manifest.loader import Manifest
from rlx.registries import freeze

IDS = ("onnxruntime-cpu", "numpy", "reference")
QUOTES = st.sampled_from(["", "'", '"'])
COMMENTS = st.sampled_from(["", "", "  # é: [", " # 'x"])
BLANKS = st.lists(
    st.sampled_from(["", "# - {id: numpy, rank: 1}", "   ", "  # ü", "#"]), max_size=2
)
VALUES = {
    "rank": st.sampled_from(["0", "7", "+12", "0x1F", "4294967295"]),
    "enabled": st.sampled_from(["true", "False", "TRUE"]),
    "install": st.sampled_from(["pip é", "'a: ]'", '"\\u00e9 } #"', "a b"]),
    "capabilities": st.sampled_from(["[]", "[deterministic]", "[ deterministic, ]"]),
    "options": st.sampled_from(["{a: 1}", "{a: [1, 'x, y'], b: '}'}"]),
}


@st.composite
def pairs(draw, name, block):
    """The keys of one override as (key, value) texts; a block may also have block values."""
    keys = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4, unique=True))
    quote = draw(QUOTES)
    found = []
    for key in keys:
        value = draw(VALUES[key])
        if block and key == "install" and draw(st.booleans()):
            value = draw(
                st.sampled_from(["|\n{}  text # é", "|+\n{}  text\n", ">-\n{}  a\n\n{}  b"])
            )
        if block and key == "capabilities" and draw(st.booleans()):
            value = "\n{}- deterministic"
        found.append((f"{quote}{key}{quote}", value))
    at = draw(st.integers(0, len(found)))
    inner = draw(QUOTES)
    found.insert(at, (f"{quote}id{quote}", f"{inner}{name}{inner}"))
    return found


@st.composite
def block_item(draw, name, indent):
    gap = " " * draw(st.integers(1, 4))
    inner = " " * (len(indent) + 1 + len(gap))
    lines = []
    for key, value in draw(pairs(name, True)):
        text = value.replace("{}", inner) if "\n" in value else value + draw(COMMENTS)
        lines.append(f"{inner}{key}:{'' if value.startswith(chr(10)) else ' '}{text}")
        if "\n" not in value:
            lines += draw(BLANKS)
    return f"{indent}-{gap}" + "\n".join(lines)[len(inner) :]


@st.composite
def flow_mapping(draw, name):
    glue = draw(st.sampled_from([", ", ",", " ,\n     "]))
    colon = draw(st.sampled_from([": ", ":  "]))
    body = glue.join(f"{key}{colon}{value}" for key, value in draw(pairs(name, False)))
    return f"{{{draw(st.sampled_from(['', ' ']))}{body}{draw(st.sampled_from(['', ' ', ',']))}}}"


@st.composite
def overrides(draw):
    names = draw(st.lists(st.sampled_from(IDS), unique=True))
    key = draw(QUOTES)
    key = f"{key}overrides{key}:"
    if not names or draw(st.booleans()):
        items = [draw(flow_mapping(name)) for name in names]
        lines = draw(st.booleans())
        before = "\n   " if lines else ""
        comma = [f",{draw(COMMENTS) if lines else ''}" for _ in items]
        body = "".join(f"{before}{item}{c}" for item, c in zip(items, comma, strict=True))
        if items and draw(st.booleans()):
            at = body.rindex(comma[-1])
            body = body[:at] + (comma[-1][1:] if lines else "")
        return f"{key} [{body}{chr(10) if lines else ''} ]{draw(COMMENTS)}"
    indent = " " * draw(st.sampled_from([0, 2, 5]))
    lines = []
    for name in names:
        if draw(st.booleans()):
            lines.append(draw(block_item(name, indent)))
        else:
            lines.append(f"{indent}- {draw(flow_mapping(name))}{draw(COMMENTS)}")
            lines += draw(BLANKS)
    return "\n".join([f"{key}{draw(COMMENTS)}", *lines])


OWN = """\
backends:
  - id: mine
    device: cpu{}
    coverage:
  - {{device: cpu, id: "other", rank: 8}}"""
PARTS = st.lists(st.sampled_from(["overrides"] * 3 + ["own", "routing"]), max_size=4)


@st.composite
def manifests(draw):
    parts = ["apiVersion: rlx/v1", f"kind: Backends{draw(COMMENTS)}"]
    for name in dict.fromkeys(draw(PARTS)):
        section = {"own": OWN.format(draw(COMMENTS)), "routing": "routing: {device: cpu}  # ü"}
        parts += [*draw(BLANKS), section.get(name) or draw(overrides())]
    parts += draw(BLANKS)
    text = "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n", "\n...\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))


def registry(text, base):
    document = parse(text.encode(), "f.yaml", "user")
    manifest = Manifest(shape.check(document), document, Path("f.yaml"))
    return document, freeze([manifest], base=base)


def is_spliced(old, new):
    """True when `old` is what is left of `new` after something was taken out of it."""
    rest = iter(new)
    return all(char in rest for char in old)


@settings(deadline=None, max_examples=600)
@given(
    text=manifests(),
    change=st.one_of(
        st.tuples(st.just("rank"), st.sampled_from([0, 5, 4294967295])),
        st.tuples(st.just("enabled"), st.booleans()),
    ),
    name=st.sampled_from([*IDS, "mine", "other"]),
)
def test_only_the_value_asked_for_changes(base, text, change, name):
    key, value = change
    document, before = registry(text, base)
    if before.get(name) is None:
        return
    new = edit(document, name, key, value)
    _, after = registry(new, base)
    expected = {one.id: one for one in before.registrations}
    expected[name] = dataclasses.replace(expected[name], **{key: value})
    assert {one.id: one for one in after.registrations} == expected
    assert (after.routing.device is None) == (before.routing.device is None)
    found = entry(document, name)
    written = None if found is None else document.node(*found, key)
    if written is None:
        assert is_spliced(text, new)
        assert len(new) - len(text) < 90
        assert [line for line in re.split("\r\n|\r|\n", text) if line.strip().startswith("#")] == [
            line for line in re.split("\r\n|\r|\n", new) if line.strip().startswith("#")
        ]
    else:
        shown = str(value).lower()
        same = written.value == value
        assert new == (text if same else f"{text[: written.start]}{shown}{text[written.end :]}")
    assert edit(parse(new.encode(), "f.yaml"), name, key, value) == new
