"""Every operation that the compiler emits, and those that it computes while it compiles."""

from __future__ import annotations

from rlx.backends.coreml import (
    activation,
    elementwise,
    indexing,
    normalization,
    products,
    recurrent,
    reduction,
    resizing,
    shaping,
    windows,
)
from rlx.backends.coreml.site import Emitter

EMITTERS: dict[str, Emitter] = {
    **activation.EMITTERS,
    **elementwise.EMITTERS,
    **indexing.EMITTERS,
    **normalization.EMITTERS,
    **products.EMITTERS,
    **recurrent.EMITTERS,
    **reduction.EMITTERS,
    **resizing.EMITTERS,
    **shaping.EMITTERS,
    **windows.EMITTERS,
}
FOLDED = ("Constant", "ConstantOfShape", "If", "Range", "Shape", "Size")
"""Operations that must not depend on the inputs' values: sizes are all known. An If is replaced
by the branch that its condition chooses."""
CARRIED = ("bool", "float16", "float32", "int32", "int64")
"""dtypes that a package can hold; int64 as int32, which is checked where a value comes in."""
