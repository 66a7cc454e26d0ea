"""Backends on other devices than the CPU claim nothing that NumPy would compute on the host."""

import re

import pytest

from rlx.backends.array.kernels.table import HOSTED
from rlx.backends.array.native_on_host import EXTENDED
from rlx.session.default import default_registry

ARRAYS = "rlx.backends.array."
ELSEWHERE = [
    one
    for one in default_registry().registrations
    if (one.factory or "").startswith(ARRAYS) and one.device != "cpu"
]


def held(one):
    """The dtypes that NumPy holds for this backend's library."""
    module = one.factory.removeprefix(ARRAYS).partition(":")[0]
    if module == "torch":
        from rlx.backends.array.native_torch_library import HELD_BY_NUMPY, NOT_ON_METAL

        return HELD_BY_NUMPY | (NOT_ON_METAL if one.device == "metal" else frozenset())
    if module == "jax":
        from rlx.backends.array.native_jax_compile import HELD

        return HELD
    return EXTENDED


@pytest.mark.needs("torch")
@pytest.mark.needs("jax")
@pytest.mark.parametrize("one", ELSEWHERE, ids=lambda one: one.id)
def test_what_the_host_would_compute_is_not_claimed(one):
    claimed = {name for row in one.coverage.rows for name in row.operations}
    assert claimed
    assert not claimed & HOSTED
    assert "strings" not in one.capabilities
    if one.coverage.evidence == "measured":
        return
    dtypes = {
        word
        for row in one.coverage.rows
        for _, allowed in row.types
        for dtype in allowed
        for word in re.findall(r"[a-z0-9]+", dtype)
    }
    assert not dtypes & held(one)
