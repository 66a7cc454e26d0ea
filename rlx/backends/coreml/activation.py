"""Activation functions, and softmax."""

from __future__ import annotations

from rlx.backends.coreml.site import FLOATS, Emitter, Site, Var


def _plain(name: str) -> Emitter:
    def emit(site: Site) -> Var:
        site.only(*FLOATS)
        return getattr(site.mb, name)(x=site.x())

    return emit


def _with_alpha(name: str, default: float) -> Emitter:
    def emit(site: Site) -> Var:
        site.only(*FLOATS)
        return getattr(site.mb, name)(
            x=site.x(), alpha=site.scalar(site.attribute("alpha", default))
        )

    return emit


def _hard_sigmoid(site: Site) -> Var:
    site.only(*FLOATS)
    alpha, beta = site.attribute("alpha", 0.2), site.attribute("beta", 0.5)
    return site.mb.sigmoid_hard(x=site.x(), alpha=site.scalar(alpha), beta=site.scalar(beta))


def _gelu(site: Site) -> Var:
    site.only(*FLOATS)
    tanh = site.attribute("approximate", "none") == "tanh"
    return site.mb.gelu(x=site.x(), mode="TANH_APPROXIMATION" if tanh else "EXACT")


def _softmax(site: Site) -> Var:
    site.only(*FLOATS)
    return site.mb.softmax(x=site.x(), axis=site.attribute("axis", -1))


def _log_softmax(site: Site) -> Var:
    """Of what is left of the largest value, so that no exponential overflows."""
    site.only(*FLOATS)
    axis = [site.axis(site.attribute("axis", -1))]
    x = site.x()
    x = site.mb.sub(x=x, y=site.mb.reduce_max(x=x, axes=axis, keep_dims=True))
    return site.mb.sub(x=x, y=site.mb.reduce_log_sum_exp(x=x, axes=axis, keep_dims=True))


EMITTERS: dict[str, Emitter] = {
    "Relu": _plain("relu"),
    "Sigmoid": _plain("sigmoid"),
    "Softplus": _plain("softplus"),
    "Softsign": _plain("softsign"),
    "Elu": _with_alpha("elu", 1.0),
    "LeakyRelu": _with_alpha("leaky_relu", 0.01),
    "HardSigmoid": _hard_sigmoid,
    "Gelu": _gelu,
    "Softmax": _softmax,
    "LogSoftmax": _log_softmax,
}
