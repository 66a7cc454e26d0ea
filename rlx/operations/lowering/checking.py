"""A program's nodes of operations that manifests declare, against their signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from rlx.errors import ProgramError, printable
from rlx.operations.lowering.bodies import NoBody
from rlx.program.schemas import operation_name, value_type
from rlx.program.structure import all_graphs
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.operations.lowering.library import Library
    from rlx.operations.vocabulary import Formal, Operation
    from rlx.program.types import ValueType


def kind_of(attribute: onnx.AttributeProto) -> str:
    """The type of an attribute, as ONNX names it: INT, FLOATS …"""
    return str(onnx.AttributeProto.AttributeType.Name(attribute.type))


def check_nodes(model: onnx.ModelProto, library: Library) -> None:
    """Refuse nodes whose operands or attributes are not what their declaration says.

    ONNX's checker does so for operations that it defines.

    Raises:
        ProgramError: an operand or an attribute lacks, is too many, or is of another type.
    """
    for graph in all_graphs(model.graph):
        for node in graph.node:
            declared = library.declared(node)
            if declared is not None:
                _check(node, declared)


def _check(node: onnx.NodeProto, declared: Operation) -> None:
    where = f"node {printable(node.name)!r} {printable(operation_name(node.domain, node.op_type))}"
    for what, names, formals in (
        ("input", node.input, declared.inputs),
        ("output", node.output, declared.outputs),
    ):
        _check_operands(where, what, names, formals, declared)
    written = {one.name: one for one in node.attribute}
    for one in declared.attributes:
        if one.required and one.name not in written:
            raise ProgramError(
                f"{where} lacks its attribute {one.name}", fix=f"state it: it is {one.type}."
            )
    for name, attribute in written.items():
        formal = declared.attribute(name)
        if formal is None:
            near = nearest(name, [one.name for one in declared.attributes])
            raise ProgramError(
                f"{where} has the attribute {printable(name)!r}, which is not declared, "
                f"at {declared.origin}",
                fix=f"did you mean {near!r}?" if near else "delete it, or declare it there.",
            )
        if kind_of(attribute) != formal.type:
            raise ProgramError(
                f"{where}: its attribute {name} is {formal.type}, got {kind_of(attribute)}",
                fix=f"state a value that is {formal.type}.",
            )


def _check_operands(
    where: str, what: str, names: Sequence[str], formals: Sequence[Formal], declared: Operation
) -> None:
    variadic = bool(formals) and formals[-1].option == "variadic"
    if len(names) > len(formals) and not variadic:
        raise ProgramError(
            f"{where} has {len(names)} {what}s, its declaration has {len(formals)}, "
            f"at {declared.origin}",
            fix="leave the others out, or declare them there.",
        )
    for place, formal in enumerate(formals):
        absent = place >= len(names) or not names[place]
        if formal.option == "single" and absent and (what == "input" or place >= len(names)):
            raise ProgramError(
                f"{where} lacks its {what} {formal.name}",
                fix="name it, or declare it with `option: optional`.",
            )
    least = formals[-1].min_arity if variadic else 0
    if variadic and len(names) - len(formals) + 1 < least:
        raise ProgramError(
            f"{where} has {len(names)} {what}s, {formals[-1].name} takes {least} or more",
            fix="name them.",
        )


def check_types(
    declared: Operation, inputs: Sequence[ValueType], outputs: Sequence[ValueType]
) -> None:
    """Refuse operands whose dtypes are not what the declaration allows; "" is an unknown one.

    Raises:
        NoBody: a type variable is bound to two dtypes, or to one that it does not allow.
    """
    bound: dict[str, str] = {}
    for found, formals in ((inputs, declared.inputs), (outputs, declared.outputs)):
        for value, formal in zip(found, formals, strict=False):
            allowed = declared.dtypes(formal.type) or (formal.type,)
            if not value.dtype:
                continue
            if value.dtype not in allowed:
                raise NoBody(f"its {formal.name} is {value.dtype}, it may be {', '.join(allowed)}")
            if bound.setdefault(formal.type, value.dtype) != value.dtype:
                raise NoBody(
                    f"its {formal.name} is {value.dtype}, where {formal.type} is "
                    f"{bound[formal.type]}"
                )


def check_results(
    names: Sequence[str], wanted: Sequence[ValueType], found: onnx.GraphProto
) -> None:
    """Refuse a lowering that makes other dtypes or shapes than the program has there.

    Raises:
        NoBody: they can't be the same.
    """
    made = {value.name: value_type(value.type) for value in found.output}
    for name, want in zip(names, wanted, strict=True):
        got = made.get(name)
        if got is not None and not _may_be(got, want):
            raise NoBody(f"its lowering makes {name} {_text(got)}, the program has {_text(want)}")


def _may_be(one: ValueType, other: ValueType) -> bool:
    if one.dtype and other.dtype and one.dtype != other.dtype:
        return False
    if one.shape is None or other.shape is None:
        return True
    return len(one.shape) == len(other.shape) and not any(
        isinstance(size, int) and isinstance(want, int) and size != want
        for size, want in zip(one.shape, other.shape, strict=True)
    )


def _text(found: ValueType) -> str:
    if found.shape is None:
        return found.dtype
    return f"{found.dtype}[{', '.join('?' if one is None else str(one) for one in found.shape)}]"
