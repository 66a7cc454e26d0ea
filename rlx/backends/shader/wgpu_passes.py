"""Dispatches written to a pass of wgpu without what wgpu-py does around each call.

That takes three times as long as the call itself, and most of a small network's run. Mistakes are
told all the same: when the pass ends. Where wgpu-py inside is not as expected, its own methods do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Bound = tuple[Any, Any, tuple[int, int, int]]
"""A pipeline, a bind group, and the grid."""


def dispatched(compute: Any, bound: Sequence[Bound]) -> None:
    """Write the dispatches to a compute pass."""
    try:
        from wgpu.backends.wgpu_native._api import ffi, lib

        set_pipeline = lib.wgpuComputePassEncoderSetPipeline
        set_group = lib.wgpuComputePassEncoderSetBindGroup
        dispatch = lib.wgpuComputePassEncoderDispatchWorkgroups
        held = compute._internal
        ready = [(pipeline._internal, group._internal, grid) for pipeline, group, grid in bound]
    except (ImportError, AttributeError):  # another wgpu-py inside
        for pipeline, group, grid in bound:
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, group)
            compute.dispatch_workgroups(*grid)
        return
    last = None
    for pipeline, group, (x, y, z) in ready:
        if pipeline is not last:
            set_pipeline(held, pipeline)
            last = pipeline
        set_group(held, 0, group, 0, ffi.NULL)
        dispatch(held, x, y, z)
