"""Det: the determinant of each matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site


def det(site: Site) -> Kernel:
    """Build Det."""
    xp = site.xp

    def run(x: Any) -> Any:
        return xp.asarray(xp.linalg.det(x), dtype=x.dtype)

    return Fresh(run)


KERNELS: dict[str, Builder] = {"Det": widened(det)}
