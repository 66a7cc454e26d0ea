"""What PyTorch has fast forms of: matrix products and attention."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor

from rlx.backends.array.kernels.table import KERNELS
from rlx.backends.array.native_torch_elementwise import REAL, only
from rlx.backends.array.native_torch_networks import spared
from rlx.backends.array.site import Builder, Fresh, Kernel, Site


def _matmul(_: Site) -> Kernel:
    return Fresh(torch.matmul)


def _gemm(site: Site) -> Kernel:
    attributes = site.attributes
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    left, right = bool(attributes.get("transA", 0)), bool(attributes.get("transB", 0))
    biased = len(site.inputs) > 2 and site.inputs[2] is not None and beta != 0

    def run(a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
        a, b = (a.t() if left else a), (b.t() if right else b)
        if biased:
            return torch.addmm(c, a, b, beta=beta, alpha=alpha)
        product = torch.mm(a, b)
        return product if alpha == 1.0 else product * alpha

    return Fresh(run)


def _attention(site: Site) -> Kernel:
    """One fused call where nothing but the result is asked for, and nothing is hidden by rules
    that PyTorch has not."""
    attributes = site.attributes
    present = [one is not None for one in site.inputs]
    ruled = attributes.get("softcap", 0.0) or "softmax_precision" in attributes
    ruled = ruled or attributes.get("left_window_size", -1) >= 0
    ruled = ruled or attributes.get("right_window_size", -1) >= 0
    if site.outputs > 1 or ruled or any(present[3:]):
        return KERNELS["Attention"](site)
    portable = KERNELS["Attention"](site)
    scale, causal = attributes.get("scale"), bool(attributes.get("is_causal", 0))
    q_heads, kv_heads = attributes.get("q_num_heads", 0), attributes.get("kv_num_heads", 0)
    attend = F.scaled_dot_product_attention

    def heads_first(x: Tensor, heads: int) -> Tensor:
        batch, length, size = x.shape
        return x.reshape(batch, length, heads, size // heads).transpose(1, 2)

    def run(q: Tensor, k: Tensor, v: Tensor, *_: Any) -> Any:
        if 0 in q.shape or 0 in k.shape or 0 in v.shape:
            return portable(q, k, v)
        if q.ndim == 4:
            grouped = q.shape[1] != k.shape[1]
            return attend(q, k, v, None, 0.0, causal, scale=scale, enable_gqa=grouped)
        q, k, v = heads_first(q, q_heads), heads_first(k, kv_heads), heads_first(v, kv_heads)
        grouped = q_heads != kv_heads
        y = attend(q, k, v, None, 0.0, causal, scale=scale, enable_gqa=grouped)
        return y.transpose(1, 2).flatten(2)

    return Fresh(run)


_FORMS: dict[str, Builder] = {
    "MatMul": _matmul,
    "Gemm": spared("Gemm", _gemm),
    "Attention": _attention,
}
OVERRIDES: dict[str, Builder] = {name: only(REAL, name, make) for name, make in _FORMS.items()}
