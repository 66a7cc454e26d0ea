"""Literals of what only moves values, at every dtype: sequences, optionals, branches and loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx

from rlx.conformance.literals.programs import Program
from rlx.operations.generate import dtype_name

Value = Any
_CODES = {
    dtype_name(f"tensor({name.lower()})"): code
    for name, code in onnx.TensorProto.DataType.items()
    if name != "UNDEFINED"
}


def moved() -> Iterator[Program]:
    """All of them."""
    for dtype in elements("SequenceConstruct", "T"):
        yield from _sequences(dtype)
        yield from _maps(dtype)
    for dtype in elements("SplitToSequence", "T"):
        yield from _splits(dtype)
    yield from _optionals()
    yield from _bodies()


def pair(dtype: str) -> Value:
    """Two values of the dtype that differ."""
    if dtype == "string":
        return np.array(["a", "b"], object)
    return np.array([1, 0], np.float32).astype(onnx.helper.tensor_dtype_to_np_dtype(_CODES[dtype]))


def _element(kind: str) -> str:
    """The dtype of the tensors: `int8` of `optional(seq(int8))`."""
    return kind.rpartition("(")[2].rstrip(")")


def _allowed(operation: str, variable: str) -> list[str]:
    constraints = onnx.defs.get_schema(operation).type_constraints
    (found,) = (one for one in constraints if one.type_param_str == variable)
    return sorted(map(dtype_name, found.allowed_type_strs))


def elements(operation: str, variable: str) -> list[str]:
    """The dtypes of tensors that a type variable allows."""
    return sorted(set(map(_element, _allowed(operation, variable))))


def _kinds(operation: str, variable: str) -> Iterator[tuple[str, Value]]:
    """(type in ONNX's text, a value of it) for all that the variable may be."""
    for name in _allowed(operation, variable):
        x = pair(_element(name))
        yield (
            name.replace(_element(name), _line(_element(name))),
            [x, x[:1]] if "seq(" in name else x,
        )


def _line(dtype: str) -> str:
    """The type of a tensor of one dimension in ONNX's text."""
    return f"{ {'float32': 'float', 'float64': 'double'}.get(dtype, dtype) }[N]".replace(" ", "")


def _program(
    operation: str, given: str, made: str, operands: str, inputs: list[Value], outputs: list[Value]
) -> Program:
    """One node; `made` declares its outputs, `operands` may begin with attributes."""
    names = ", ".join(value.split()[-1] for value in made.split(", "))
    return (
        operation,
        f"({given}) => ({made}) {{ {names} = {operation} {operands} }}",
        inputs,
        outputs,
    )


def _sequences(dtype: str) -> Iterator[Program]:
    x, t = pair(dtype), _line(dtype)
    seq, last = f"seq({t})", x[1:]
    two, matrix = [x, x[:1]], t.replace("N", "M, N")
    code = _CODES[dtype]
    yield _program(
        "SequenceConstruct", f"{t} x, {t} y", f"{seq} s", "(x, y)", [x, last], [[x, last]]
    )
    yield _program("SequenceEmpty", "", f"{seq} s", f"<dtype = {code}> ()", [], [[]])
    yield _program("SequenceLength", f"{seq} s", "int64 n", "(s)", [two], [np.array(2)])
    joined = "ConcatFromSequence"
    yield _program(joined, f"{seq} s", f"{t} y", "<axis = 0> (s)", [two], [np.concatenate(two)])
    operands = "<axis = 0, new_axis = 1> (s)"
    yield (
        joined,
        f"({seq} s) => ({matrix} y) {{ y = {joined} {operands} }}",
        [[x, x]],
        [np.stack([x, x])],
    )
    for kind in ("int32", "int64"):
        at = np.array(-1, kind)
        given = f"{seq} s, {kind} p"
        yield _program("SequenceAt", given, f"{t} y", "(s, p)", [two, at], [x[:1]])
        yield _program("SequenceErase", given, f"{seq} y", "(s, p)", [two, at], [[x]])
        given, inputs = f"{seq} s, {t} x, {kind} p", [two, last, at]
        yield _program("SequenceInsert", given, f"{seq} y", "(s, x, p)", inputs, [[x, last, x[:1]]])


def _maps(dtype: str) -> Iterator[Program]:
    x, t = pair(dtype), _line(dtype)
    seq, last, two = f"seq({t})", x[1:], [x, x[:1]]
    name, made = "SequenceMap", f"{seq} y"
    alone = f"<body = b ({t} e) => ({t} m) {{ m = Identity(e) }}>"
    beside = f"<body = b ({t} e, {t} k) => ({t} m) {{ m = Identity(k) }}>"
    yield _program(name, f"{seq} s", made, f"(s) {alone}", [two], [two])
    for kind, other, expected in ((t, last, [last, last]), (seq, two, two)):
        given = f"{seq} s, {kind} o"
        yield _program(name, given, made, f"(s, o) {beside}", [two, other], [expected])


def _splits(dtype: str) -> Iterator[Program]:
    x, t = pair(dtype), _line(dtype)
    name, made = "SplitToSequence", f"seq({t}) s"
    yield _program(name, f"{t} x", made, "(x)", [x], [[x[:1], x[1:]]])
    for kind in ("int32", "int64"):
        lengths, size = np.array([2, 0], kind), np.array(2, kind)
        yield _program(name, f"{t} x, {kind}[2] n", made, "(x, n)", [x, lengths], [[x, x[2:]]])
        yield _program(name, f"{t} x, {kind} n", made, "(x, n)", [x, size], [[x]])


def _optionals() -> Iterator[Program]:
    for kind, x in _kinds("Optional", "V"):
        yield _program("Optional", f"{kind} x", f"optional({kind}) y", "(x)", [x], [x])
    for kind, x in _kinds("OptionalGetElement", "O"):
        inner = kind.removeprefix("optional(").removesuffix(")" if "opt" in kind else "")
        yield _program("OptionalGetElement", f"{kind} x", f"{inner} y", "(x)", [x], [x])
    for kind, x in _kinds("OptionalHasElement", "O"):
        for value in (x, None) if "opt" in kind else (x,):
            there = np.array(value is not None)
            yield _program("OptionalHasElement", f"{kind} x", "bool y", "(x)", [value], [there])
    for kind, x in _kinds("Identity", "V"):
        for value in (x, None) if "opt" in kind else (x,):
            yield _program("Identity", f"{kind} x", f"{kind} y", "(x)", [value], [value])


def _bodies() -> Iterator[Program]:
    movable = {kind for kind, _ in _kinds("Identity", "V")}
    yes = np.array(True)
    for kind, x in _kinds("If", "V"):
        if kind in movable:
            bodies = ", ".join(
                f"{side} = {side} () => ({kind} p) {{ p = Identity(x) }}"
                for side in ("then_branch", "else_branch")
            )
            given = f"bool c, {kind} x"
            yield _program("If", given, f"{kind} y", f"(c) <{bodies}>", [yes, x], [x])
    for kind, x in _kinds("Loop", "V"):
        inner = f"<body = b (int64 i, bool k, {kind} v) => (bool k, {kind} v) {{ }}>"
        given = f"int64 n, bool c, {kind} x"
        yield _program("Loop", given, f"{kind} y", f"(n, c, x) {inner}", [np.array(2), yes, x], [x])
    for kind, x in _kinds("Scan", "V"):
        item = kind.removesuffix("[N]")
        nodes = "{ o = Identity(a) p = Identity(e) }"
        inner = f"body = b ({kind} a, {item} e) => ({kind} o, {item} p) {nodes}"
        operands = f"(s, x) <num_scan_inputs = 1, {inner}>"
        yield _program(
            "Scan", f"{kind} s, {kind} x", f"{kind} t, {kind} y", operands, [x, x], [x, x]
        )
