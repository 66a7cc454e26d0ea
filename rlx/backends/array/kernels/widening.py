"""Computing in float32 what float16 and bfloat16 are too narrow to accumulate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site

NARROW = frozenset({"float16", "bfloat16"})


def widened(builder: Builder) -> Builder:
    """The same kernel, with float16 and bfloat16 operands read as float32 and results cast back."""

    def build(site: Site) -> Kernel:
        narrow = tuple(t is not None and t.dtype in NARROW for t in site.inputs)
        if not any(narrow):
            return builder(site)
        xp = site.xp
        constants = tuple(
            _wide(xp, c) if wide and c is not None else c
            for c, wide in zip(site.constants, narrow, strict=True)
        )
        types = tuple(
            replace(t, dtype="float32") if wide and t is not None else t
            for t, wide in zip(site.inputs, narrow, strict=True)
        )
        kernel = builder(replace(site, inputs=types, constants=constants))
        sources = tuple(_source(site, index) for index in range(site.outputs))

        def run(*inputs: Any) -> Any:
            wide = [
                x if x is None or not flag else (_wide(xp, x) if c is None else c)
                for x, flag, c in zip(inputs, narrow, constants, strict=False)
            ]
            result = kernel(*wide)
            outputs = result if isinstance(result, tuple) else (result,)
            cast = tuple(
                y if source is None else xp.astype(y, inputs[source].dtype)
                for y, source in zip(outputs, sources, strict=False)
            )
            return cast if isinstance(result, tuple) else cast[0]

        return Fresh(run) if isinstance(kernel, Fresh) else run

    return build


def _wide(xp: Any, x: Any) -> Any:
    """The operand in float32; one that stays on the host is a NumPy array in any library."""
    return x.astype(np.float32) if x.__class__ is np.ndarray else xp.astype(x, xp.float32)


def _source(site: Site, output: int) -> int | None:
    """The input whose narrow dtype an output has; None where the output is not narrow."""
    wanted = site.output_types[output] if output < len(site.output_types) else None
    if wanted is None or wanted.dtype not in NARROW:
        return None
    for index, operand in enumerate(site.inputs):
        if operand is not None and operand.dtype == wanted.dtype:
            return index
    raise NotImplementedError(
        f"{site.operation}: no input has the dtype of output {output}, {wanted.dtype}"
    )
