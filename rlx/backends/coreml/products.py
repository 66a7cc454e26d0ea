"""Matrix products."""

from __future__ import annotations

from rlx.backends.coreml.site import FLOATS, Emitter, Site, Var


def _matmul(site: Site) -> Var:
    """Vectors become matrices: MIL's product of them has other rules."""
    site.only(*FLOATS)
    a, b = site.x(0), site.x(1)
    gone = []
    if site.ndim(0) == 1:
        a = site.mb.expand_dims(x=a, axes=[0])
        gone.append(-2)
    if site.ndim(1) == 1:
        b = site.mb.expand_dims(x=b, axes=[1])
        gone.append(-1)
    made = site.mb.matmul(x=a, y=b)
    return site.mb.squeeze(x=made, axes=gone) if gone else made


def _gemm(site: Site) -> Var:
    site.only(*FLOATS)
    alpha, beta = site.attribute("alpha", 1.0), site.attribute("beta", 1.0)
    made = site.mb.matmul(
        x=site.x(0),
        y=site.x(1),
        transpose_x=bool(site.attribute("transA", 0)),
        transpose_y=bool(site.attribute("transB", 0)),
    )
    if alpha != 1:
        made = site.mb.mul(x=made, y=site.scalar(alpha))
    if not site.present(2) or beta == 0:
        return made
    c = site.x(2) if beta == 1 else site.mb.mul(x=site.x(2), y=site.scalar(beta))
    return site.mb.add(x=made, y=c)


EMITTERS: dict[str, Emitter] = {"MatMul": _matmul, "Gemm": _gemm}
