"""Reductions along axes that are known, and running sums."""

from __future__ import annotations

from rlx.backends.coreml.site import FLOATS, NUMBERS, Emitter, Site, Var


def _reduction(name: str, dtypes: frozenset[str] = FLOATS) -> Emitter:
    def emit(site: Site) -> Var:
        site.only(*dtypes)
        axes = site.ints(1, "list of axes") if site.present(1) else []
        x, ndim = site.x(), site.ndim()
        if not axes:
            if site.attribute("noop_with_empty_axes", 0):
                site.refuse("it reduces no axis")
            axes = list(range(ndim))
        if not ndim:
            site.refuse("it reduces a scalar")
        axes = sorted({site.axis(one) for one in axes})
        keep = bool(site.attribute("keepdims", 1))
        return getattr(site.mb, name)(x=x, axes=axes, keep_dims=keep)

    return emit


def _extreme_place(name: str) -> Emitter:
    def emit(site: Site) -> Var:
        site.only(*NUMBERS)
        if site.attribute("select_last_index", 0):
            site.refuse("select_last_index is 1")
        if not site.ndim():
            site.refuse("it looks into a scalar")
        axis, keep = site.axis(site.attribute("axis", 0)), bool(site.attribute("keepdims", 1))
        return getattr(site.mb, name)(x=site.x(), axis=axis, keep_dims=keep)

    return emit


def _cumsum(site: Site) -> Var:
    site.only(*NUMBERS)
    (axis,) = site.ints(1, "axis")
    return site.mb.cumsum(
        x=site.x(),
        axis=site.axis(axis),
        exclusive=bool(site.attribute("exclusive", 0)),
        reverse=bool(site.attribute("reverse", 0)),
    )


EMITTERS: dict[str, Emitter] = {
    "ReduceSum": _reduction("reduce_sum", NUMBERS),
    "ReduceProd": _reduction("reduce_prod", NUMBERS),
    "ReduceMax": _reduction("reduce_max", NUMBERS),
    "ReduceMin": _reduction("reduce_min", NUMBERS),
    "ReduceMean": _reduction("reduce_mean"),
    "ReduceL1": _reduction("reduce_l1_norm", NUMBERS),
    "ReduceL2": _reduction("reduce_l2_norm"),
    "ReduceSumSquare": _reduction("reduce_sum_square", NUMBERS),
    "ReduceLogSumExp": _reduction("reduce_log_sum_exp"),
    "ArgMax": _extreme_place("reduce_argmax"),
    "ArgMin": _extreme_place("reduce_argmin"),
    "CumSum": _cumsum,
}
