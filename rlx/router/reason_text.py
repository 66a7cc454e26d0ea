"""The sentence for each reason code, made from the reason's data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SHOWN = 3
"""Nodes that a lowering lacks, of those that a message names."""


def detail(code: str, data: Mapping[str, Any]) -> str:
    """What a reason says, on one line; text from manifests and engines is made visible."""
    return printable(_SENTENCES[code](data))


def value(held: Any) -> str:
    """An attribute's value as a message shows it."""
    if held is None:
        return "nothing"
    if isinstance(held, tuple):
        return "[" + ", ".join(map(value, held)) + "]"
    return repr(held)


def _words(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _disabled(data: Mapping[str, Any]) -> str:
    return f"disabled by {data['by']}" if data.get("by") else "disabled in its registration"


def _not_requested(data: Mapping[str, Any]) -> str:
    what = data["what"]
    return f"{what} is {data['got']}, {' or '.join(data['asked'])} was asked for by {data['by']}"


def _oracle(_: Mapping[str, Any]) -> str:
    return "it is the reference oracle, chosen only when named by id"


def _emission_only(_: Mapping[str, Any]) -> str:
    return "it can't run programs: it does not dispatch"


def _capability(data: Mapping[str, Any]) -> str:
    lacks = [f"{name}, which the program needs" for name in data["needed"]]
    lacks += [f"{name}, which was asked for" for name in data["asked"]]
    if data.get("precision"):
        name = data["precision"]
        asked, stated = name.rpartition("_")[2], _words(data["stated"])
        lacks.append(f"{name}, which {asked} takes where the program states {stated}")
    return f"lacks {_words(lacks)}" + (f"; {data['barriers']}" if data.get("barriers") else "")


def _coverage(data: Mapping[str, Any]) -> str:
    kind = data["kind"]
    said = f"node {data['node']!r} {data['operation']}: "
    if kind == "operation":
        said += "the operation is not claimed"
    elif kind == "undeclared":
        said += "unknown operation: neither ONNX nor a manifest declares it"
    elif kind == "unknown":
        said += "a type could not be inferred, or there is no such operation"
    else:
        said += _fact(data)
    if data.get("obstacle"):
        return f"{said}, and {data['obstacle']}"
    if data.get("lowering"):
        return f"{said}, and its lowering needs {_needed(data['lowering'])}"
    return said


def _needed(pieces: Iterable[tuple[tuple[str, Any], ...]]) -> str:
    """What a lowering lacks; the rest is counted where it is long."""
    said = [_piece(dict(one)) for one in pieces]
    more = [f"{len(said) - SHOWN} more"] if len(said) > SHOWN else []
    return _words([*said[:SHOWN], *more])


def _piece(data: Mapping[str, Any]) -> str:
    name, kind = data["operation"], data["kind"]
    if kind == "operation":
        said = f"{name}, which is not claimed"
    elif kind == "unknown":
        said = f"{name} of a type that could not be inferred"
    else:
        said = f"{name} where {_fact(data)}"
    if data.get("obstacle"):
        return f"{said} ({data['obstacle']})"
    if data.get("lowering"):
        return f"{said} (its lowering needs {_needed(data['lowering'])})"
    return said


def _fact(data: Mapping[str, Any]) -> str:
    """An operand or attribute, what it is, and what is claimed."""
    kind, got = data["kind"], data["got"]
    if kind == "ndim":
        had = "an unknown number of" if got is None else str(got)
        noun = "dimension" if got == 1 else "dimensions"
        return f"{data['operand']} has {had} {noun}, claimed: {_bounds(data['allowed'])}"
    allowed = ", ".join(map(value if kind == "attribute" else str, data["allowed"])) or "none"
    beside = _words(f"{name} {dtype}" for name, dtype in data["beside"]) if data["beside"] else ""
    claimed = f"claimed with {beside}" if beside else "claimed"
    got = value(got) if kind == "attribute" else got
    return f"{data['operand']} is {got}, {claimed}: {allowed}"


def _bounds(allowed: Iterable[tuple[int, int | None]]) -> str:
    texts = []
    for low, high in allowed:
        if high is None:
            texts.append(f"at least {low}")
        elif low == 0:
            texts.append(f"at most {high}")
        else:
            texts.append(str(low) if low == high else f"{low} to {high}")
    return " or ".join(texts)


def _unavailable(data: Mapping[str, Any]) -> str:
    return str(data["reason"])


def _software_device(data: Mapping[str, Any]) -> str:
    by = f" ({data['detail']})" if data["detail"] else ""
    return f"a CPU emulates {data['device']} here{by}, and it was not asked for"


def _open_failed(data: Mapping[str, Any]) -> str:
    did = "compile the program" if data.get("compiling") else "open"
    return f"it failed to {did}: {data['failure']}"


_SENTENCES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "disabled": _disabled,
    "not-requested": _not_requested,
    "oracle": _oracle,
    "emission-only": _emission_only,
    "capability": _capability,
    "coverage": _coverage,
    "unavailable": _unavailable,
    "software-device": _software_device,
    "open-failed": _open_failed,
}
