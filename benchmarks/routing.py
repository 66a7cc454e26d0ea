"""What a decision costs."""

from __future__ import annotations

import time
from typing import Any

import rlx
from benchmarks.models import chain
from benchmarks.results import Figure
from benchmarks.timing import side_by_side
from rlx.program.types import Requirements, Signature
from rlx.registration import Coverage, Registration, Row
from rlx.router import decide
from rlx.settings import Request
from rlx.testing import registry


def measure() -> tuple[list[Figure], dict[str, Any]]:
    """Cached, first, and the worst case of a very large registry."""
    program = rlx.load(chain(50))
    with rlx.Session() as session:
        cached = side_by_side({"session.route": lambda: session.route(program)}, rounds=30)
    cached |= side_by_side({"rlx.route": lambda: rlx.route(program)}, rounds=30)
    twenty = {"first": first()}
    half, whole = worst(5_000), worst(10_000)
    large = side_by_side({"5,000": half, "10,000": whole}, rounds=10)
    growth = large["10,000"] / large["5,000"]
    figures = [
        Figure("`session.route`, cached", cached["session.route"] * 1e6, "µs", 0.5),
        Figure("`rlx.route`, cached, reading the environment", cached["rlx.route"] * 1e6, "µs", 10),
        Figure(
            "a first route, 50 nodes of 20 kinds never seen, 20 backends",
            twenty["first"] * 1e6,
            "µs",
            20,
        ),
        Figure(
            "10,000 backends x 10,000 operations, worst case",
            large["10,000"] * 1e3,
            "ms",
            2,
            against=f"5,000 operations {large['5,000'] * 1e3:.2f} ms ({growth:.1f}x)",
        ),
    ]
    return figures, {"seconds": {**cached, **twenty, **large}}


def first() -> float:
    """Seconds of a decision about 50 nodes of 20 kinds that the registry never saw, at best.

    20 backends; the last covers the program, each of the others all but some operations.
    """
    names = tuple(f"op{i}" for i in range(20))
    types = (("T", ("float32",)),)
    some = tuple(backend(f"b{i:02}", Coverage((Row(names[: i + 1], types),))) for i in range(19))
    last = backend("last", Coverage((Row(names, types),)), rank=900)
    twenty = registry(*some, last, operations=names)
    request, facts, best = Request(), {}, float("inf")
    for program in range(2_000):
        # Another value of an attribute that no row limits makes another kind of node.
        kinds = tuple(Signature(name, (("T", "float32"),), (("axis", program),)) for name in names)
        requirements = Requirements(kinds, tuple(range(20)), (2,) * 10 + (3,) * 10)
        began = time.perf_counter()
        decide(twenty, requirements, request, facts)
        best = min(best, time.perf_counter() - began)
    return best


def worst(operations: int) -> Any:
    """10,000 backends that all claim everything but the last operation, but one that claims all."""
    names = tuple(f"op{i}" for i in range(operations))
    types = (("T", ("float32",)),)
    most, every = Coverage((Row(names[:-1], types),)), Coverage((Row(names, types),))
    backends = [backend(f"b{i}", most) for i in range(9_999)]
    large = registry(*backends, backend("last", every, rank=900), operations=names)
    requirements = Requirements(
        tuple(Signature(name, (("T", "float32"),)) for name in names),
        tuple(range(operations)),
        (1,) * operations,
    )
    request, facts = Request(), {}
    decide(large, requirements, request, facts)
    return lambda: decide(large, requirements, request, facts)


def backend(name: str, coverage: Coverage, rank: int = 10) -> Registration:
    """A registration with nothing to probe."""
    return Registration(
        name,
        "cpu",
        name,
        rank=rank,
        dispatches=True,
        factory="rlx.testing:open_null",
        coverage=coverage,
    )
