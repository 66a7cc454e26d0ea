"""Operations as YAML that people read, and as JSON that loads fast."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from rlx.operations.values import normalised, shortest
from rlx.operations.vocabulary import Formal, FormalAttribute, Operation, Vocabulary

HEADER = """\
# yaml-language-server: $schema=../schemas/operations.schema.json
# The operations that coverage may name, at one opset. Generated from ONNX's operator schemas:
# change nothing here; run `python -m rlx.operations --write`.
apiVersion: rlx/v1
kind: Operations
"""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(?:\([a-z0-9()]+\))?")
_AMBIGUOUS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))


def to_yaml(operations: tuple[Operation, ...], opset: int) -> str:
    """The text of `operations.yaml`; what has its default is left out."""
    lines = [HEADER, f"opset: {opset}\n", "operations:\n"]
    for operation in operations:
        lines.append(f"  - name: {_scalar(operation.name)}\n    since: {operation.since}\n")
        for key, value in (
            ("inputs", [_formal(one) for one in operation.inputs]),
            ("outputs", [_formal(one) for one in operation.outputs]),
            ("attributes", [_attribute(one) for one in operation.attributes]),
            ("types", {variable: list(dtypes) for variable, dtypes in operation.types}),
        ):
            if value:
                lines.append(f"    {key}: {_flow(value)}\n")
        if operation.deterministic is not None:
            lines.append(f"    deterministic: {_scalar(operation.deterministic)}\n")
        if operation.body:
            lines.append("    body: true\n")
    return "".join(lines)


def _formal(formal: Formal) -> dict[str, Any]:
    record: dict[str, Any] = {"name": formal.name, "type": formal.type}
    if formal.option != "single":
        record["option"] = formal.option
    if formal.min_arity != 1:
        record["min_arity"] = formal.min_arity
    if not formal.homogeneous:
        record["homogeneous"] = False
    return record


def _attribute(attribute: FormalAttribute) -> dict[str, Any]:
    record: dict[str, Any] = {"name": attribute.name, "type": attribute.type}
    if attribute.required:
        record["required"] = True
    if attribute.default is not None:
        record["default"] = attribute.default
    return record


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return shortest(value)
    if isinstance(value, int):
        return str(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _AMBIGUOUS:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def digest(operations: tuple[Operation, ...], opset: int) -> str:
    """SHA-256 of the content: the same for any order of the operations and on any machine."""
    ordered = sorted(operations, key=lambda operation: operation.name)
    text = repr((opset, [_content(operation) for operation in ordered]))
    return sha256(text.encode("utf-8")).hexdigest()


def _content(operation: Operation) -> tuple[Any, ...]:
    return (
        operation.name,
        operation.since,
        *([(f.name, f.type, f.option, f.min_arity, f.homogeneous) for f in formals]
          for formals in (operation.inputs, operation.outputs)),
        [(a.name, a.type, a.required, a.default) for a in operation.attributes],
        operation.types,
        operation.deterministic,
        operation.body,
        *([] if operation.lowering is None else [operation.lowering]),
    )  # fmt: skip


def to_json(vocabulary: Vocabulary, source: str) -> str:
    """One operation a line; `source` is the SHA-256 of the YAML that this was made from."""
    from json import dumps

    rows = ",\n".join(
        dumps(
            [*_content(one), one.origin.line, one.origin.column],
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for one in vocabulary.operations
    )
    head = dumps({"source": source, "opset": vocabulary.opset, "digest": vocabulary.digest})
    return f'{head[:-1]}, "operations": [\n{rows}\n]}}\n'


def from_json(data: dict[str, Any]) -> Vocabulary:
    """The inverse of `to_json`; the file is ours, so nothing is checked again."""
    return Vocabulary(
        tuple(_decoded(row) for row in data["operations"]), data["opset"], data["digest"]
    )


def _decoded(row: list[Any]) -> Operation:
    from rlx.origin import Origin

    name, since, inputs, outputs, attributes, types, deterministic, body, line, column = row
    return Operation(
        name,
        since,
        tuple(Formal(*formal) for formal in inputs),
        tuple(Formal(*formal) for formal in outputs),
        tuple(
            FormalAttribute(key, kind, required, tuple(d) if isinstance(d, list) else d)
            for key, kind, required, d in attributes
        ),
        tuple((variable, tuple(dtypes)) for variable, dtypes in types),
        deterministic,
        body,
        origin=Origin("packaged operations.yaml", line, column, "packaged"),
    )


__all__ = ["digest", "from_json", "normalised", "to_json", "to_yaml"]
