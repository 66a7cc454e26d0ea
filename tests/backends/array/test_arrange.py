"""Constants in the order of axes that a kernel wants: transposed once, and kept once."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.backends.array.engine import ArrayBackend
from rlx.backends.array.library import Library
from rlx.backends.array.site import Fresh
from rlx.backends.protocol import CompileOptions
from rlx.program import load

pytestmark = pytest.mark.needs("array_api_strict")


def product(site):
    """MatMul whose second operand is stored by columns, where it is a constant."""
    xp, held = site.xp, site.constants[1]
    if held is None:
        return Fresh(xp.matmul)
    return Fresh(lambda x, w: xp.matmul(x, xp.matrix_transpose(w)), axes={1: (1, 0)})


def compiled(body: str):
    """A program of `x` (1, 2) on array-api-strict with that MatMul, and all arrays moved to it."""
    import array_api_strict as xp

    moved = []

    def to_native(array):
        moved.append(array)
        return xp.asarray(array)

    library = Library(
        name="strict",
        xp=xp,
        version=xp.__version__,
        device="cpu",
        to_native=to_native,
        overrides={"MatMul": product},
    )
    text = f"""<ir_version: 10, opset_import: ["": 28]>
    m (float[1,2] x) => (float[N,3] y) <float[2,3] w = {{0, 1, 2, 3, 4, 5}}> {{ {body} }}"""
    return ArrayBackend(library).compile(load(text.encode()), CompileOptions()), moved


def held(executable) -> list[list]:
    """What the plan keeps on the device, by value."""
    plan = executable._plan
    return [np.asarray(plan.slots[at]).tolist() for at in plan.weights]


W = np.arange(6, dtype=np.float32).reshape(2, 3)
X = np.float32([[2, 3]])


@pytest.mark.parametrize(
    ("body", "expected", "kept"),
    [
        ("y = MatMul(x, w)", X @ W, [W.T]),
        ("a = MatMul(x, w) b = MatMul(x, w) y = Add(a, b)", 2 * X @ W, [W.T]),
        ("a = MatMul(x, w) y = Add(a, w)", None, [W, W.T]),
        ("v = Add(w, w) y = MatMul(x, v)", 2 * X @ W, [2 * W.T]),
        ("v = Concat <axis = 0> (x, x) u = MatMul(v, w) y = MatMul(x, u)", None, [W.T]),
    ],
    ids=["once", "twice", "as it is too", "folded", "not constant"],
)
def test_a_constant_is_kept_in_the_orders_that_are_used(body, expected, kept):
    executable, moved = compiled(body)
    made = len(moved)
    for _ in range(2):
        (y,) = executable.run([X])
        if expected is not None:
            assert executable.to_host(y).tolist() == expected.tolist()
    assert held(executable) == [array.tolist() for array in kept]
    assert all(array is X for array in moved[made:])


def test_what_bodies_capture_is_turned_in_them():
    executable, _ = compiled(
        """c = Constant <value = bool {1}> ()
           y = If (c) <
             then_branch = a () => (float[1,3] p) { p = MatMul(x, w) },
             else_branch = b () => (float[1,3] q) { r = MatMul(x, w) q = Neg(r) }
           >"""
    )
    assert executable.to_host(executable.run([X])[0]).tolist() == (X @ W).tolist()
