"""The vocabulary against ONNX's own suite: it accepts every node, and refuses bogus ones."""

import pytest

from rlx.conformance.cases import TOTAL, load_cases
from rlx.program import load


def nodes(block, outer):
    """Each node below a block, with the dtype of every value that it can see."""
    types = {**outer, **{one.name: one.type.dtype for one in block.inputs}}
    types |= {name: value.dtype for name, value in block.types}
    for node in block.nodes:
        yield node, types
        for inner in node.blocks():
            yield from nodes(inner, types)


@pytest.fixture(scope="module")
def used():
    """Per case, each node's operation, its operands' dtypes and its attributes."""
    return {
        case.name: [
            (
                node.operation,
                [types.get(name, "") if name else None for name in node.inputs],
                [types.get(name, "") if name else None for name in node.outputs],
                dict(node.attributes),
            )
            for node, types in nodes(load(case.read()[0]).body, {})
        ]
        for case in load_cases()
    }


def test_it_accepts_every_node_of_every_case(used, words, refusals):
    refused = {}
    for case, found in used.items():
        for name, *node in found:
            operation = words.get(name)
            reasons = ["unknown"] if operation is None else refusals(operation, *node)
            if reasons:
                refused[case, name] = reasons
    assert refused == {}
    assert len(used) == TOTAL == 2033


def test_it_was_asked_about_known_dtypes_only(used):
    operands = [one for found in used.values() for _, i, o, _ in found for one in (*i, *o)]
    assert len(operands) > 40_000
    assert "" not in operands


def single(used, words):
    """The cases of one node."""
    alone = (found[0] for found in used.values() if len(found) == 1)
    return [(words.get(name), *node) for name, *node in alone]


def test_it_refuses_an_attribute_that_no_operation_has(used, words, refusals):
    cases = single(used, words)
    assert len(cases) > 1000
    for operation, inputs, outputs, attributes in cases:
        assert refusals(operation, inputs, outputs, {**attributes, "bogus": 1})


def test_it_refuses_too_many_inputs_unless_variadic(used, words, refusals):
    for operation, inputs, outputs, attributes in single(used, words):
        variadic = operation.inputs and operation.inputs[-1].option == "variadic"
        many = [*inputs, *[""] * 20]
        assert bool(refusals(operation, many, outputs, attributes)) != bool(variadic)


def test_it_refuses_a_dtype_that_the_schema_forbids(used, words, refusals):
    for operation, inputs, outputs, attributes in single(used, words):
        if inputs and operation.inputs[0].type in dict(operation.types):
            wrong = ["no such dtype", *inputs[1:]]
            assert refusals(operation, wrong, outputs, attributes)


def test_it_refuses_an_omitted_required_input(used, words, refusals):
    for operation, inputs, outputs, attributes in single(used, words):
        if operation.inputs and operation.inputs[0].option == "single":
            assert refusals(operation, [None, *inputs[1:]], outputs, attributes)
