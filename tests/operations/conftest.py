"""An independent reading of the vocabulary: may a node have these operands and attributes?"""

import pytest

from rlx.operations.values import accepts, expected
from rlx.program import Block
from rlx.registries import Registry


@pytest.fixture(scope="session")
def words():
    return Registry.load(only=True).vocabulary


@pytest.fixture(scope="session")
def refusals():
    return _refusals


def _refusals(operation, inputs, outputs, attributes):
    """What the operation does not allow.

    `inputs` and `outputs` are dtypes, None where one is omitted and "" where it is unknown;
    `attributes` are values by name.
    """
    found = []
    bound = {}
    for what, formals, given in (
        ("input", operation.inputs, inputs),
        ("output", operation.outputs, outputs),
    ):
        variadic = bool(formals) and formals[-1].option == "variadic"
        if len(given) > len(formals) and not variadic:
            found.append(f"{len(given)} {what}s")
        for position, formal in enumerate(formals):
            rest = (
                given[position:] if formal.option == "variadic" else given[position : position + 1]
            )
            if formal.option == "variadic" and len(rest) < formal.min_arity:
                found.append(f"{len(rest)} of variadic {what} {formal.name}")
            if formal.option == "single" and (not rest or rest[0] is None):
                found.append(f"{what} {formal.name} is omitted")
            for dtype in rest:
                if not dtype:
                    continue
                allowed = operation.dtypes(formal.type) or (formal.type,)
                if dtype not in allowed:
                    found.append(f"{what} {formal.name} is {dtype}")
                if formal.homogeneous and bound.setdefault(formal.type, dtype) != dtype:
                    found.append(f"{formal.type} is both {bound[formal.type]} and {dtype}")
    for name, value in attributes.items():
        formal = operation.attribute(name)
        if formal is None or not _may_be(formal.type, value):
            found.append(f"attribute {name} is {value!r}")
    found += [
        f"attribute {formal.name} is omitted"
        for formal in operation.attributes
        if formal.required and formal.name not in attributes
    ]
    return found


def _may_be(kind, value):
    if expected(kind) is not None:
        return accepts(kind, value)
    return isinstance(value, Block) == (kind == "GRAPH")
