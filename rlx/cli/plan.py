"""A difference as text, Markdown and JSON: which programs would run elsewhere, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rlx.origin import Origin
    from rlx.router import Route
    from rlx.session.causes import Cause
    from rlx.session.difference import Change, Difference, Moved

NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Plan:
    """A difference, and how it is shown."""

    found: Difference
    names: tuple[str, str]
    """What OLD and NEW are called."""
    everything: bool = False
    """True: programs that do not change are listed too."""

    @property
    def shown(self) -> tuple[Change, ...]:
        """The programs that are listed."""
        return self.found.programs if self.everything else self.found.changed

    def headline(self) -> str:
        """How many change; of those that do not, how many run nowhere."""
        total, changed = len(self.found.programs), len(self.found.changed)
        noun = "program" if total == 1 else "programs"
        if changed == 0:
            head = "nothing changes" if total == 1 else f"none of {total} {noun} changes"
        else:
            head = f"{changed} of {total} {noun} {'changes' if changed == 1 else 'change'}"
        still = [one for one in self.found.programs if not one.changed and one.new.backend is None]
        return f"{head} ({len(still)} unchanged, without a backend in both)" if still else head


def text(plan: Plan) -> list[str]:
    """One paragraph per program: where from and to, then each operation with its reason."""
    old, new = map(printable, plan.names)
    lines = [f"{old} → {new}: {plan.headline()}"]
    for one in plan.shown:
        lines += ["", f"{_title(one)}: {_move(one)}", *(f"  {line}" for line in _body(one))]
    return lines


def _body(one: Change) -> Iterator[str]:
    told: set[str] = set()
    for group in _grouped(one):
        yield printable(f"{group.label}: {group.move}" + (f"; {group.why}" if group.why else ""))
        told.add(group.why)
    claims = any(moved.reason for moved in one.operations)
    for cause in one.causes:
        line = _cause(cause)
        if line not in told and not (claims and cause.code == "coverage"):
            yield printable(line)


@dataclass(frozen=True, slots=True)
class _Group:
    label: str
    move: str
    why: str


def _grouped(one: Change) -> list[_Group]:
    """The operations that go the same way for the same reason, together."""
    whole = _cause(one.causes[0]) if one.causes else ""
    groups: dict[tuple[str, str], list[Moved]] = {}
    for moved in one.operations:
        why = _placed(moved.reason, moved.source) if moved.reason else whole
        move = f"{_spot(moved.old)} → {_spot(moved.new)}"
        groups.setdefault((move, why), []).append(moved)
    return [_Group(_label(members), move, why) for (move, why), members in groups.items()]


def _label(members: Sequence[Moved]) -> str:
    """`MatMul bfloat16, Relu bfloat16 (3 nodes)`; the count where it says more than the names."""
    names = ", ".join(f"{one.operation} {one.dtypes}".rstrip() for one in members)
    count = sum(one.nodes for one in members)
    return names if count == len(members) else f"{names} ({count} nodes)"


def _spot(spot: tuple[str | None, str | None]) -> str:
    backend, path = spot
    if backend is None:
        return NOWHERE
    return backend if path == "native" else f"{backend} ({path})"


def _title(one: Change) -> str:
    count = one.program.node_count
    return printable(f"{_name(one)} ({count} {'node' if count == 1 else 'nodes'})")


def _name(one: Change) -> str:
    return one.program.path or one.program.name


def _end(route: Route) -> str:
    return NOWHERE if route.backend is None else f"{route.backend} ({route.device})"


def _move(one: Change) -> str:
    old, new = _end(one.old), _end(one.new)
    if old != new:
        return f"{old} → {new}"
    return f"{new}, unchanged" if not one.changed else f"{new}, in another way"


def _cause(cause: Cause) -> str:
    """A cause and its place; of what is gone, the place where it was."""
    if cause.source is None and cause.old_source is not None:
        return f"{cause.detail} (was at {cause.old_source})"
    return _placed(cause.detail, cause.source)


def _placed(detail: str, source: Origin | None) -> str:
    place = str(source) if source is not None else ""
    return f"{detail} at {place}" if place and place not in detail else detail


def markdown(plan: Plan) -> list[str]:
    """For a comment on a change: a table of the programs, and what moves folded below it.

    All foreign text stands in code spans, where neither markup nor a mention has a meaning.
    """
    old, new = plan.names
    lines = [f"### Routing: {plan.headline()}", "", f"{code(old)} → {code(new)}"]
    if not plan.shown:
        return lines
    lines += ["", "| program | before | after | why |", "|---|---|---|---|"]
    for one in plan.shown:
        why = "; ".join(_cause(cause) for cause in one.causes)
        cells = [_name(one), _end(one.old), _end(one.new), why]
        lines.append(f"| {' | '.join(code(cell, table=True) if cell else '' for cell in cells)} |")
    for one in plan.shown:
        body = list(_body(one))
        if body:
            lines += ["", "<details>", f"<summary>{_escaped(_title(one))}</summary>", ""]
            lines += [f"- {code(line)}" for line in body]
            lines += ["", "</details>"]
    return lines


def code(text: str, *, table: bool = False) -> str:
    """Text as a code span, whatever is in it."""
    shown = printable(text)
    runs = [len(run) for run in re.findall("`+", shown)]
    fence = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    padded = f" {shown} " if shown[:1] in ("`", " ", "") or shown[-1:] in ("`", " ") else shown
    return f"{fence}{padded}{fence}".replace("|", "\\|" if table else "|")


def _escaped(text: str) -> str:
    """Text in HTML, as code."""
    for char, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(char, name)
    return f"<code>{text}</code>"


def to_json(plan: Plan) -> dict[str, Any]:
    """The difference as plain data; `schemas/diff-output.schema.json` describes it."""
    found = plan.found
    sides = zip(("old", "new"), plan.names, (found.old, found.new), strict=True)
    return {
        **{key: {"name": name, "digest": one.digest} for key, name, one in sides},
        "changed": len(found.changed),
        "unchanged": len(found.programs) - len(found.changed),
        "programs": [_program(one) for one in plan.shown],
    }


def _program(one: Change) -> dict[str, Any]:
    program = one.program
    return {
        "name": program.name,
        "path": program.path,
        "digest": program.digest,
        "nodes": program.node_count,
        "changed": one.changed,
        "old": _route(one.old),
        "new": _route(one.new),
        "causes": [
            {
                "code": cause.code,
                "backend": cause.backend,
                "detail": cause.detail,
                "source": _place(cause.source),
                "old_source": _place(cause.old_source),
            }
            for cause in one.causes
        ],
        "operations": [
            {
                "operation": moved.operation,
                "dtypes": moved.dtypes,
                "nodes": moved.nodes,
                "old": dict(zip(("backend", "path"), moved.old, strict=True)),
                "new": dict(zip(("backend", "path"), moved.new, strict=True)),
                "reason": moved.reason,
                "source": _place(moved.source),
            }
            for moved in one.operations
        ],
    }


def _route(route: Route) -> dict[str, Any]:
    return {
        "backend": route.backend,
        "device": None if route.device is None else str(route.device),
        "degraded": route.degraded,
    }


def _place(origin: Origin | None) -> str | None:
    return str(origin) or None if origin is not None else None
