"""Normalizations whose parameters are constants."""

from __future__ import annotations

import numpy as np

from rlx.backends.coreml.site import FLOATS, Emitter, Site, Var


def _batch(site: Site) -> Var:
    site.only(*FLOATS)
    if site.attribute("training_mode", 0) or len(site.op.outputs) > 1:
        site.refuse("training_mode is 1")
    gamma, beta, mean, variance = (
        site.need(index, what) for index, what in enumerate(("scale", "B", "mean", "var"), 1)
    )
    epsilon = site.scalar(site.attribute("epsilon", 1e-5))
    if 3 <= site.ndim() <= 5:
        return site.mb.batch_norm(
            x=site.x(), mean=mean, variance=variance, gamma=gamma, beta=beta, epsilon=epsilon
        )
    if site.ndim() < 2:
        site.refuse("it has no axis of channels")
    shape = (-1,) + (1,) * (site.ndim() - 2)
    factor = gamma / np.sqrt(variance + epsilon)
    shift = (beta - mean * factor).astype(gamma.dtype)
    scaled = site.mb.mul(x=site.x(), y=factor.astype(gamma.dtype).reshape(shape))
    return site.mb.add(x=scaled, y=shift.reshape(shape))


def _instance(site: Site) -> Var:
    site.only(*FLOATS)
    if not 3 <= site.ndim() <= 4:
        site.refuse(f"{site.ndim()} dimensions are not 3 or 4")
    epsilon = site.scalar(site.attribute("epsilon", 1e-5))
    return site.mb.instance_norm(
        x=site.x(), gamma=site.need(1, "scale"), beta=site.need(2, "B"), epsilon=epsilon
    )


def _layer(site: Site) -> Var:
    """Scale and bias are applied apart where they do not have the shape that MIL wants."""
    site.only(*FLOATS)
    if len(site.op.outputs) > 1:
        site.refuse("it hands out the mean, or the deviation")
    first = site.axis(site.attribute("axis", -1))
    axes, epsilon = list(range(first, site.ndim())), site.attribute("epsilon", 1e-5)
    normal = site.shape(0)[first:]
    given = [site.known(index) for index in (1, 2) if site.present(index)]
    if all(one is not None and one.shape == normal for one in given):
        named = dict(zip(("gamma", "beta"), given, strict=False))
        return site.mb.layer_norm(x=site.x(), axes=axes, epsilon=site.scalar(epsilon), **named)
    made = site.mb.layer_norm(x=site.x(), axes=axes, epsilon=site.scalar(epsilon))
    made = site.mb.mul(x=made, y=site.x(1))
    return site.mb.add(x=made, y=site.x(2)) if site.present(2) else made


def _local_response(site: Site) -> Var:
    """Windows of odd size, for which both say the same middle."""
    site.only(*FLOATS)
    size = int(site.attribute("size"))
    if size % 2 == 0 or site.ndim() != 4:
        site.refuse("its window is even, or its input has not 4 dimensions")
    return site.mb.local_response_norm(
        x=site.x(),
        size=size,
        alpha=site.scalar(site.attribute("alpha", 1e-4)),
        beta=site.scalar(site.attribute("beta", 0.75)),
        k=site.scalar(site.attribute("bias", 1.0)),
    )


EMITTERS: dict[str, Emitter] = {
    "BatchNormalization": _batch,
    "InstanceNormalization": _instance,
    "LayerNormalization": _layer,
    "LRN": _local_response,
}
