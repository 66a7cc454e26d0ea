"""Arranging: constants whose axes a kernel wants in another order are transposed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rlx.backends.array.place import THERE
from rlx.backends.array.site import Fresh, Kernel

if TYPE_CHECKING:
    from rlx.backends.array.draft import Draft


def arrange(draft: Draft, kernels: Sequence[Kernel]) -> None:
    """Give each kernel the constants that it asks for in `Fresh.axes`; `kernels` are the ops'.

    A constant that nothing takes as it was is let go.
    """
    asked = [kernel.axes if isinstance(kernel, Fresh) else {} for kernel in kernels]
    if not any(asked):
        return
    for at, (op, axes) in enumerate(zip(draft.ops, asked, strict=True)):
        inputs = [
            _transposed(draft, name, axes[position]) if position in axes else name
            for position, name in enumerate(op.inputs)
        ]
        draft.ops[at] = replace(op, inputs=tuple(inputs))
    needed = {name for op in draft.ops for name in op.inputs}.union(draft.outputs)
    draft.constants = {name: held for name, held in draft.constants.items() if name in needed}


def _transposed(draft: Draft, name: str, order: tuple[int, ...]) -> str:
    """The name of the constant, on the device, with its axes in this order."""
    turned = f"{name.removesuffix(THERE)}@{order}{THERE}"
    if turned not in draft.constants:
        library = draft.library
        array = np.transpose(library.to_host(draft.constants[name]), order).copy()
        array.flags.writeable = False  # the library need not copy it again
        draft.constants[turned] = library.to_native(array)
        if (known := draft.types.get(name)) is not None:
            draft.types[turned] = replace(known, shape=tuple(array.shape))
    return turned
