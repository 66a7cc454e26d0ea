"""Reductions along axes that are known, and running sums."""

from __future__ import annotations

import numpy as np

from rlx.backends.coreml.site import FLOATS, NUMBERS, Emitter, Site, Var


def _log_sum_exp(site: Site, axes: list[int], keep: bool) -> Var:
    """Of what is left of the largest value, so that no exponential overflows; infinities stay."""
    mb, x = site.mb, site.x()
    top = mb.reduce_max(x=x, axes=axes, keep_dims=True)
    rest = mb.reduce_log_sum_exp(x=mb.sub(x=x, y=top), axes=axes, keep_dims=True)
    infinite = mb.equal(x=mb.abs(x=top), y=site.scalar(np.inf))
    made = mb.select(cond=infinite, a=top, b=mb.add(x=rest, y=top))
    return made if keep else mb.squeeze(x=made, axes=axes)


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
        if name == "reduce_log_sum_exp":
            return _log_sum_exp(site, axes, keep)
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
