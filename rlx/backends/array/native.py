"""What NumPy can do beyond the array API standard, and how the others do without it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.backends.array.site import Fresh


def is_numpy(xp: Any) -> bool:
    """True for NumPy's own namespace and for array-api-compat's view of it."""
    return xp.__name__ in {"numpy", "array_api_compat.numpy"}


def function(xp: Any, name: str) -> Fresh:
    """A function of the standard that makes new memory; NumPy's can write into given memory too."""
    if not is_numpy(xp):
        return Fresh(getattr(xp, name))
    call = getattr(np, name)  # array-api-compat wraps some, and a wrapper takes no `out`
    if name in {"maximum", "minimum"}:  # NumPy wants the keyword here
        return Fresh(call, lambda x, y, out: call(x, y, out=out))
    return Fresh(call, call)


def is_integer(xp: Any, dtype: Any) -> bool:
    """True for integers of 8 bits and more; unlike `isdtype`, no error for ml_dtypes' dtypes."""
    return dtype.kind in "iu" if is_numpy(xp) else bool(xp.isdtype(dtype, "integral"))
