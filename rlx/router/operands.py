"""Names for messages: which node, and which of its operands, has the type that is not claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.program import Block, Node, Program, ValueType
    from rlx.registries import Registry


def find_node(program: Program | None, index: int) -> Node | None:
    """The node at this place of the program, subgraphs included."""
    if program is None:
        return None
    return next((node for node in program.nodes() if node.index == index), None)


def operand_of_type(
    registry: Registry, program: Program, node: Node, variable: str, dtype: str
) -> str:
    """The formal name of the first operand of this type variable that has the dtype."""
    operation = registry.vocabulary.get(node.operation)
    if operation is None:
        return variable
    types = _types(program.body, node)
    for formals, names in ((operation.inputs, node.inputs), (operation.outputs, node.outputs)):
        for formal, name in _paired(formals, names):
            known = types.get(name)
            if name and formal.type == variable and known is not None and known.dtype == dtype:
                return str(formal.name)
    return variable


def input_at(registry: Registry, operation_name: str, position: int) -> str:
    """The formal name of an input, such as `X`; `input 2` where there is none."""
    operation = registry.vocabulary.get(operation_name)
    formals: Any = operation.inputs if operation else ()
    if position < len(formals):
        return str(formals[position].name)
    if formals and formals[-1].option == "variadic":
        return f"{formals[-1].name}[{position - len(formals) + 1}]"
    return f"input {position}"


def _paired(formals: Any, names: tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    """Each operand that is present with its formal; the last formal may repeat."""
    for position, name in enumerate(names):
        if formals:
            yield formals[min(position, len(formals) - 1)], name


def _types(block: Block, node: Node) -> dict[str, ValueType]:
    """The types of every value that the node can see: its block's, over those around it."""
    own = {value.name: value.type for value in block.inputs} | dict(block.types)
    if any(one is node for one in block.nodes):
        return own
    for outer in block.nodes:
        for inner in outer.blocks():
            found = _types(inner, node)
            if found:
                return own | found
    return {}
