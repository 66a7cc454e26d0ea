"""Values by index; an index may count from the end, which MIL's since iOS 17 may not."""

from __future__ import annotations

import numpy as np

from rlx.backends.coreml.site import Emitter, Site, Var


def _indices(site: Site, size: int) -> Var:
    """The second input, counted from the front."""
    array = site.known(1)
    if array is not None:
        if array.size and not (-size <= array.min() and array.max() < size):
            site.refuse(f"an index is not within {size}")
        return site.constant(np.where(array < 0, array + size, array))
    x = site.x(1)
    late = site.mb.add(x=x, y=np.int32(size))
    return site.mb.select(cond=site.mb.less(x=x, y=np.int32(0)), a=late, b=x)


def _gather(site: Site) -> Var:
    axis = site.axis(site.attribute("axis", 0))
    if site.dtypes[0] == "bool":
        site.refuse("MIL gathers no truth values")
    return site.mb.gather(x=site.x(), indices=_indices(site, site.shape(0)[axis]), axis=axis)


def _gather_elements(site: Site) -> Var:
    axis = site.axis(site.attribute("axis", 0))
    if site.dtypes[0] == "bool":
        site.refuse("MIL gathers no truth values")
    held, asked = site.shape(0), site.shape(1)
    if any(a != b for at, (a, b) in enumerate(zip(held, asked, strict=True)) if at != axis):
        site.refuse("its indices do not span the other axes")
    return site.mb.gather_along_axis(x=site.x(), indices=_indices(site, held[axis]), axis=axis)


def _gather_nd(site: Site) -> Var:
    """Counted from the front, each axis by a size of its own."""
    if site.dtypes[0] == "bool":
        site.refuse("MIL gathers no truth values")
    batch, array = int(site.attribute("batch_dims", 0)), site.known(1)
    sizes = np.array(site.shape(0)[batch:][: site.shape(1)[-1]])
    if array is None:
        x = site.x(1)
        late = site.mb.add(x=x, y=sizes.astype(np.int32))
        indices = site.mb.select(cond=site.mb.less(x=x, y=np.int32(0)), a=late, b=x)
    else:
        if array.size and not ((-sizes <= array).all() and (array < sizes).all()):
            site.refuse(f"an index is not within {sizes.tolist()}")
        indices = site.constant(np.where(array < 0, array + sizes, array))
    return site.mb.gather_nd(x=site.x(), indices=indices, batch_dims=batch)


EMITTERS: dict[str, Emitter] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
}
