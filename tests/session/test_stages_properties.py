"""Cutting a program at barriers never changes a bit of its results, wherever they are put."""

import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper

import rlx
from rlx import testing
from rlx.backends.protocol import CompileOptions
from rlx.errors import RlxError
from rlx.program import load
from rlx.program.stages import stages
from tests.fuzz.programs import draw
from tests.session.cutting import with_barriers, without_barriers

DRAWN = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)


def bits(outputs):
    return [(one.dtype.name, one.shape, np.asarray(one).tobytes()) for one in outputs]


@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_cutting_never_changes_a_result(backend):
    """Of programs that the fuzzer draws, control flow and odd dtypes among them."""
    cut = Counter()

    @DRAWN
    @given(st.integers(0, 100_000), st.integers(0, 100_000))
    def holds(seed, places):
        drawn = draw(seed)
        assume(drawn is not None)
        model = with_barriers(drawn.model, places)
        whole, staged = load(without_barriers(model)), load(model)
        inputs = [drawn.inputs[value.name] for value in whole.inputs]
        try:
            expected = opened.compile(whole, CompileOptions()).run(inputs)
        except (RlxError, NotImplementedError):  # an operation that it has not
            return
        found = opened.compile(staged, CompileOptions()).run(inputs)
        assert bits(found) == bits(expected)
        for value in found:
            assert not any(value is one for one in inputs)
        cut[len(stages(staged).stages)] += 1

    with warnings.catch_warnings(), rlx.acquire(backend) as lease:
        warnings.simplefilter("ignore")  # the oracle's
        opened = lease.backend
        holds()
    assert sum(count for parts, count in cut.items() if parts > 3) > 3


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 100_000), st.integers(0, 100_000))
def test_the_report_counts_what_is_handed_over(seed, places):
    drawn = draw(seed)
    assume(drawn is not None)
    program = load(with_barriers(drawn.model, places))
    one = testing.registration("null", coverage=testing.covering(program), capabilities=ALL)
    with rlx.Session(backend="null", registry=testing.registry(one)) as session:
        session.compile(program)
        report = session.route(program).dispatch_report
    handed = Counter(
        node.operation for part in testing.watch("null").programs for node in part.nodes()
    )
    testing.forget_watches()
    assert Counter(dict(report.executed)) == handed
    barriers = sum(node.operation == "rlx::Barrier" for node in program.nodes())
    assert dict(report.counts) == {
        "native": sum(handed.values()),
        "lowered": barriers,
        "missing": 0,
    }
    assert report.stages == barriers + 1


ALL = ("dynamic_shapes", "control_flow", "strings", "sequences")
STEPS = ("Add", "Sub", "Mul", "Max", "Min")


@st.composite
def loops(draw):
    """(inputs, prologue, regions): each region is nodes over its own values, and how often."""
    width = draw(st.integers(1, 3))
    regions = []
    for _ in range(draw(st.integers(1, 3))):
        nodes = draw(
            st.lists(
                st.tuples(st.sampled_from(STEPS), st.integers(0, 20), st.integers(0, 20)),
                min_size=0,
                max_size=4,
            )
        )
        back = draw(st.lists(st.integers(0, 20), min_size=width, max_size=width))
        regions.append((nodes, back, draw(st.integers(1, 4)), draw(st.booleans())))
    return width, regions


def looped(width, regions, *, unrolled):
    """The program of `loops`; unrolled, the passes stand one after the other, without barriers."""
    names = [f"x{i}" for i in range(width)]
    nodes, state, kept = [], list(names), []
    for at, (steps, back, repeat, fixpoint) in enumerate(regions):
        if not unrolled:
            outputs = [f"s{at}_{i}" for i in range(width)]
            nodes.append(helper.make_node("Barrier", state, outputs, domain="rlx"))
            state = outputs
        for turn in range(repeat if unrolled else 1):
            values = [*state, *names]
            for place, (operation, a, b) in enumerate(steps):
                name = f"v{at}_{turn}_{place}"
                given_ = [values[a % len(values)], values[b % len(values)]]
                nodes.append(helper.make_node(operation, given_, [name]))
                values.append(name)
            kept.append(values[-1]) if turn == (repeat if unrolled else 1) - 1 else None
            state = [values[one % len(values)] for one in back]
        if not unrolled:
            outputs = [f"e{at}_{i}" for i in range(width)]
            more = {"repeat": repeat, "fixpoint": int(fixpoint)} if repeat > 1 else {}
            nodes.append(helper.make_node("Barrier", state, outputs, domain="rlx", **more))
            state = outputs
    found = [*state, *kept]
    outputs = [f"y{i}" for i in range(len(found))]
    nodes += [helper.make_node("Identity", [a], [b]) for a, b in zip(found, outputs, strict=True)]
    float_ = [2]
    graph = helper.make_graph(
        nodes,
        "looped",
        [helper.make_tensor_value_info(name, 1, float_) for name in names],
        [helper.make_tensor_value_info(name, 1, float_) for name in outputs],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("rlx", 1)]
    return load(helper.make_model(graph, opset_imports=opsets, ir_version=10))


@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_repeating_is_what_unrolling_is(backend):
    @settings(max_examples=25, deadline=None)
    @given(loops(), st.integers(0, 99))
    def holds(loop, seed):
        width, regions = loop
        inputs = np.random.default_rng(seed).integers(-2, 3, (width, 2)).astype(np.float32)
        with rlx.Session(backend=backend) as session:
            found, expected = (
                session.compile(looped(width, regions, unrolled=unrolled))(*inputs)
                for unrolled in (False, True)
            )
        assert bits(found) == bits(expected)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        holds()
