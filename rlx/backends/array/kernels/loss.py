"""NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.softmax import log_softmax_along
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site


def reduced_loss(site: Site, log_probability: Any, target: Any, weight: Any) -> Any:
    """-weight[target] · log_probability[target], reduced as the node says.

    The classes are axis 1. Targets equal to ignore_index count nothing; the mean is over weights.
    """
    xp, ignored = site.xp, site.attributes.get("ignore_index")
    reduction = site.attributes.get("reduction", "mean")
    classes = log_probability.shape[1]
    target = xp.astype(target, xp.int64)
    inside = xp.clip(target, 0, classes - 1)
    picked = xp.take_along_axis(log_probability, xp.expand_dims(inside, axis=1), axis=1)
    loss = -xp.squeeze(picked, axis=1)
    if weight is None:
        counted = xp.ones_like(loss)
    else:
        counted = xp.reshape(xp.take(weight, xp.reshape(inside, (-1,))), target.shape)
    if ignored is not None:
        counted = xp.where(target == ignored, xp.zeros_like(counted), counted)
    loss = xp.where(counted == 0, xp.zeros_like(loss), loss * counted)
    if reduction == "mean":
        return xp.sum(loss) / xp.sum(counted)
    return xp.sum(loss) if reduction == "sum" else loss


def negative_log_likelihood_loss(site: Site) -> Kernel:
    """Build NegativeLogLikelihoodLoss."""

    def run(x: Any, target: Any, weight: Any = None) -> Any:
        return site.xp.asarray(reduced_loss(site, x, target, weight), dtype=x.dtype)

    return Fresh(run)


def softmax_cross_entropy_loss(site: Site) -> Kernel:
    """Build SoftmaxCrossEntropyLoss."""
    xp = site.xp

    def run(scores: Any, labels: Any, weight: Any = None) -> Any:
        log_probability = log_softmax_along(xp, scores, 1)
        loss = reduced_loss(site, log_probability, labels, weight)
        loss = xp.asarray(loss, dtype=scores.dtype)
        return (loss, log_probability) if site.outputs > 1 else loss

    return Fresh(run)


KERNELS: dict[str, Builder] = {
    "NegativeLogLikelihoodLoss": widened(negative_log_likelihood_loss),
    "SoftmaxCrossEntropyLoss": widened(softmax_cross_entropy_loss),
}
