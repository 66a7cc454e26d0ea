"""Cases of a backend author's own, beside those of ONNX's suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.conformance.cases import Case
from rlx.program import Program, load

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN = "own"


def case(
    name: str,
    program: Any,
    inputs: Sequence[Any],
    expected: Sequence[Any] | None = None,
    *,
    rtol: float = 1e-3,
    atol: float = 1e-7,
) -> Case:
    """A case for `check_backend`: a program (as `rlx.load` takes it), and its inputs in order.

    `expected` are the outputs; without them the oracle's answer counts, which it has for ONNX's
    own operations only. An output may differ by `atol + rtol * |expected|`.
    """
    loaded = program if isinstance(program, Program) else load(program)
    given = [np.asarray(one) if np.isscalar(one) else one for one in inputs]
    outputs = [] if expected is None else list(expected)
    kind = OWN if expected is None else "given"
    return Case(name, kind, lambda: (loaded.to_onnx(), given, outputs), rtol, atol)
