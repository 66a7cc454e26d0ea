"""Building a small graph, and running it on one backend."""

import numpy as np
import pytest

import rlx


@pytest.fixture
def outputs():
    """`outputs(backend, build, a, b, …)`: what the graph that `build(g, *nodes)` makes gives."""

    def run(backend, build, *arrays):
        g = rlx.Graph("g")
        names = {"float32": "f32", "float64": "f64", "float16": "f16", "int64": "i64"}
        names |= {"bool": "bool", "int32": "i32", "uint32": "u32", "int8": "i8"}
        nodes = [
            g.input(f"in{place}", one.shape, names[str(one.dtype)])
            for place, one in enumerate(arrays)
        ]
        made = build(g, *nodes)
        made = list(made) if isinstance(made, tuple) else [made]
        stated = [g.shape_of(one) for one in made]
        g.set_outputs(made)
        with rlx.Session(backend=backend) as session, session.compile(g) as model:
            found = model.run({f"in{place}": one for place, one in enumerate(arrays)})
        for one, (dims, dtype) in zip(found, stated, strict=True):
            assert (list(one.shape), names[str(one.dtype)]) == (dims, dtype)
        return found

    return run


@pytest.fixture
def numbers():
    """`numbers(*shape, dtype)`: normal random numbers, the same in every run."""
    generator = np.random.default_rng(0)

    def make(*shape, dtype="float32"):
        return generator.standard_normal(shape).astype(dtype)

    return make


@pytest.fixture
def refusal():
    """`refusal(call)`: the whole message of the GraphError that it raises."""

    def message(call, *arguments, **named):
        with pytest.raises(rlx.GraphError) as caught:
            call(*arguments, **named)
        return str(caught.value)

    return message
