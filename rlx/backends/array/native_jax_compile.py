"""Programs compiled by XLA, as a whole, for one device."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array import dtypes

if TYPE_CHECKING:
    from rlx.backends.array.library import Compiler, Function

HELD = frozenset({"string", "float6e2m3", "float6e3m2"})
"""dtypes that XLA lacks, which NumPy computes with on the host."""
BAKED = 4096
"""Bytes up to which integer constants become part of the compiled program.

Floats never do: XLA would multiply by the reciprocal of a constant that a value is divided by, and
49 / 49 would not be 1.
"""
OPTIONS = {"xla_allow_excess_precision": False}
"""Rounding to a narrower dtype is not skipped where a wider one follows."""


def settings(device: Any) -> AbstractContextManager[object]:
    """What jax has to be set to while kernels run, in this thread and for this long only.

    64-bit dtypes exist, arrays are made on the device, products of float32 are float32's, and
    what the process is set to otherwise, such as strict promotion, does not matter.
    """
    import jax

    config = jax.config
    stack = ExitStack()
    stack.enter_context(x64())
    stack.enter_context(jax.default_device(device))
    if config.jax_default_matmul_precision != "highest":
        stack.enter_context(jax.default_matmul_precision("highest"))
    if config.jax_numpy_dtype_promotion != "standard":
        stack.enter_context(jax.numpy_dtype_promotion("standard"))
    if config.jax_numpy_rank_promotion != "allow":
        stack.enter_context(jax.numpy_rank_promotion("allow"))
    return stack


def x64() -> AbstractContextManager[object]:
    """64-bit dtypes in this thread, for as long as the context is entered."""
    import jax

    enable: Any = getattr(jax, "enable_x64", None)
    if enable is None:  # its name before jax 0.8
        enable = importlib.import_module("jax.experimental").enable_x64
    return enable(True)  # type: ignore[no-any-return]


def traceable(
    function: Function, constants: Sequence[Any]
) -> tuple[Callable[[Sequence[Any], Sequence[Any]], list[Any]], list[Any]]:
    """What XLA may see of a program: a function of the weights and the inputs, and the weights.

    Small integer constants are part of the function. It raises NotImplementedError where a result
    has a dtype that XLA lacks.
    """
    import jax

    baked = {at: np.asarray(x) for at, x in enumerate(constants) if _is_baked(x)}

    def traced(weights: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        rest = iter(weights)
        merged = [baked[at] if at in baked else next(rest) for at in range(len(constants))]
        outputs = function(merged, given)
        for x in jax.tree.leaves(outputs):
            if dtypes.name_of(x.dtype) in HELD:
                raise NotImplementedError(f"XLA has no {dtypes.name_of(x.dtype)}")
        return outputs

    return traced, [x for at, x in enumerate(constants) if at not in baked]


def compiler(device: Any) -> Compiler:
    """The function that compiles for this device; weights stay there, and no input is donated."""

    def compile_for(
        function: Function, constants: Sequence[Any], inputs: Sequence[Any]
    ) -> Callable[[Sequence[Any]], list[Any]]:
        import jax

        traced, kept = traceable(function, constants)
        array = jax.Array
        wide = any(x.dtype.itemsize >= 8 for x in jax.tree.leaves(list(inputs)))
        there = jax.sharding.SingleDeviceSharding(device)
        with settings(device):
            made = jax.jit(traced, in_shardings=there, out_shardings=there)
            compiled = made.lower(kept, tuple(inputs)).compile(compiler_options=OPTIONS)

        def run(given: Sequence[Any]) -> list[Any]:
            outputs: list[Any]
            given = tuple(given)  # to jax, a list is another kind of input
            if wide:
                with x64():  # else they would be read as 32 bits
                    outputs = compiled(kept, given)
            else:
                outputs = compiled(kept, given)
            for x in given:
                if not isinstance(x, array):
                    _wait(outputs)  # jax reads NumPy's memory while it computes
                    break
            return outputs

        return run

    return compile_for


def _wait(outputs: Sequence[Any]) -> None:
    for y in outputs:
        if y.__class__ is list:
            _wait(y)
        elif y is not None:
            y.block_until_ready()


def _is_baked(constant: Any) -> bool:
    return constant.dtype.kind in "iub" and constant.nbytes <= BAKED
