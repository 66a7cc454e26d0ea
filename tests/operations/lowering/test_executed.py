"""The dispatch report equals what is executed: random graphs, and what a backend is given."""

import random
from collections import Counter

import numpy as np
import pytest

import rlx
from rlx import testing
from rlx.backends.array.numpy import open_cpu
from rlx.registration import Coverage, Row
from tests.operations.lowering import random_graphs

COUNT = 320
FEED = {
    "x": np.array([[-1.5, 0.25, 2], [0.5, -0.75, 1]], np.float32),
    "square": np.eye(3, dtype=np.float32) / 2,
    "flag": np.array(True),
    "axes": np.array([1], np.int64),
}
DTYPES = ("float32", "float64", "int64", "int32", "bool", "seq(float32)")
SEEN = []


class Recording:
    """NumPy, and a note of every program that it is given."""

    def __init__(self, inner):
        self._inner, self.device, self.version = inner, inner.device, inner.version

    def compile(self, program, options):
        SEEN.append(program)
        return self._inner.compile(program, options)

    def close(self):
        self._inner.close()


def open_recording(spec, options):
    return Recording(open_cpu(spec, options))


def claims(words, names):
    """Rows that claim these operations for some dtypes of every type variable."""
    rows = []
    for name in names:
        operation = words.get(name)
        types = tuple(
            (variable, tuple(one for one in operation.dtypes(variable) if one in DTYPES))
            for variable in operation.open_variables
        )
        rows.append(Row((name,), types))
    return Coverage(tuple(rows), "declared")


def trace(program):
    return Counter(node.operation for node in program.nodes())


@pytest.fixture(scope="module")
def programs(load):
    return [
        load(random_graphs.INPUTS, "float[2,3] y", *random_graphs.lines(seed))
        for seed in range(COUNT)
    ]


def test_the_report_equals_the_trace_on_random_graphs(programs, with_backends, declared):
    """Whatever is claimed, and under each policy; what has no path is never handed over."""
    words, ran, refused, lowered = declared.vocabulary, 0, 0, 0
    for seed, program in enumerate(programs):
        chosen = random.Random(seed)
        extra = [name for name in sorted(words.lowerable) if chosen.random() < 0.4]
        kept = [one for one in random_graphs.PRIMITIVES if chosen.random() < 0.99]
        one = testing.registration(
            coverage=claims(words, dict.fromkeys((*kept, *extra))),
            capabilities=("control_flow", "sequences"),
        )
        policy = chosen.choice(["prefer-native", "common", "native", "prefer-native,Swish=common"])
        with rlx.Session(registry=with_backends(one), kernel_dispatch=policy) as session:
            route = session.route(program)
            report = route.report_for("null")
            assert report.nodes == program.node_count
            assert (route.backend is None) == bool(report.missing)
            if route.backend is None:
                refused += 1
                continue
            session.compile(program).close()
            handed = testing.watch().programs.pop()
            assert dict(report.executed) == dict(trace(handed)), f"seed {seed}"
            assert route.question.registry.coverage.covers(handed.requirements) & 1
            assert (handed.inputs, handed.outputs) == (program.inputs, program.outputs)
            paths = dict(report.counts)
            became = sum(n for _, inner in report.lowered for _, n in inner)
            assert handed.node_count == paths["native"] + became
            ran, lowered = ran + 1, lowered + bool(paths["lowered"])
    assert min(ran, refused, lowered) > COUNT // 8


def test_numpy_runs_what_the_report_says_and_computes_the_same(programs, with_backends):
    """Native where claimed against all lowered: the same values; each trace is the report's."""
    numpy = rlx.Registry.load(only=True).get("numpy")
    one = testing.registration(
        "mine",
        coverage=numpy.coverage,
        capabilities=numpy.capabilities,
        factory=f"{__name__}:open_recording",
        options=(),
    )
    registry = with_backends(one)
    for program in programs[::4]:
        results = []
        for policy in ("prefer-native", "common"):
            with rlx.Session(registry=registry, kernel_dispatch=policy) as session:
                with session.compile(program) as compiled:
                    results.append(compiled.run(FEED)[0])
                assert dict(compiled.route.dispatch_report.executed) == dict(trace(SEEN.pop()))
        np.testing.assert_allclose(*results, rtol=2e-5, atol=2e-6)
