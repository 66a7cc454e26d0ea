"""The array API standard's functions over lazy shader arrays: what the engine's kernels call."""

# ruff: noqa: A004, F401 - the standard's names are Python's too

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from rlx.backends.shader.dtypes import (
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from rlx.backends.shader.dtypes import bool_ as bool
from rlx.backends.shader.namespace.changes import Changes
from rlx.backends.shader.namespace.creation import (
    arange,
    asarray,
    astype,
    bitcast,
    empty,
    empty_like,
    eye,
    finfo,
    full,
    full_like,
    iinfo,
    isdtype,
    ones,
    ones_like,
    result_type,
    zeros,
    zeros_like,
)
from rlx.backends.shader.namespace.elementwise import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atanh,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    clip,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    exp,
    expm1,
    floor,
    floor_divide,
    fmod,
    greater,
    greater_equal,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    positive,
    pow,
    reciprocal,
    remainder,
    round,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    trunc,
    where,
)
from rlx.backends.shader.namespace.indexing import (
    getitem,
    nonzero,
    searchsorted,
    take,
    take_along_axis,
)
from rlx.backends.shader.namespace.joining import (
    concat,
    meshgrid,
    repeat,
    roll,
    stack,
    tile,
    tril,
    triu,
)
from rlx.backends.shader.namespace.movement import (
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    expand_dims,
    flip,
    matrix_transpose,
    moveaxis,
    permute_dims,
    reshape,
    squeeze,
)
from rlx.backends.shader.namespace.products import einsum, matmul, vecdot
from rlx.backends.shader.namespace.reduction import (
    all,
    any,
    argmax,
    argmin,
    argsort,
    cumulative_prod,
    cumulative_sum,
    max,
    mean,
    min,
    prod,
    sort,
    std,
    sum,
    var,
)

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi
linalg = SimpleNamespace(matmul=matmul, matrix_transpose=matrix_transpose, vecdot=vecdot)


def __getattr__(name: str) -> Any:
    """Say whose the missing function is, so that errors name the library.

    Raises:
        AttributeError: always: what exists is found without this.
    """
    raise AttributeError(f"shaders have no {name}")
