"""What PyTorch has fast forms of: convolution, pooling and normalization."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor

from rlx.backends.array.kernels.convolution import kernel_of, transposed
from rlx.backends.array.kernels.operands import axis_within
from rlx.backends.array.kernels.pooling import MOST_SHAPES
from rlx.backends.array.kernels.softmax import softmax
from rlx.backends.array.kernels.table import KERNELS
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.kernels.windows import Windows, windows
from rlx.backends.array.native_torch_elementwise import REAL, only
from rlx.backends.array.site import Builder, Fresh, Kernel, Site

_CONVOLUTIONS: dict[int, Any] = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}
_TRANSPOSED: dict[int, Any] = {
    1: torch.conv_transpose1d,
    2: torch.conv_transpose2d,
    3: torch.conv_transpose3d,
}
_MAXIMA: dict[int, Any] = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
MOST_IN_A_ROW = 1024
"""How many elements one thread of a GPU adds up: more lose digits, and time."""
_AVERAGES: dict[int, Any] = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def _spatial(site: Site) -> int:
    """How many spatial dimensions the first input has; 0: PyTorch has no form for them."""
    first = site.inputs[0]
    ndim = 0 if first is None or first.ndim is None else first.ndim - 2
    return ndim if ndim in _CONVOLUTIONS else 0


def _padded(x: Tensor, shape: Windows, value: float) -> Tensor:
    if not shape.padded:
        return x
    pairs = [n for pair in zip(shape.begins, shape.ends, strict=True) for n in reversed(pair)]
    return F.pad(x, pairs[::-1], value=value)


def _conv(site: Site) -> Kernel:
    ndim, attributes = _spatial(site), site.attributes
    if not ndim:
        return KERNELS["Conv"](site)
    call, group = _CONVOLUTIONS[ndim], attributes.get("group", 1)
    steps = tuple(attributes.get("strides") or (1,) * ndim)
    dilations = tuple(attributes.get("dilations") or (1,) * ndim)
    pads = tuple(attributes.get("pads") or (0,) * (2 * ndim))
    auto = attributes.get("auto_pad", "NOTSET")
    if auto == "NOTSET" and pads[:ndim] == pads[ndim:] and "kernel_shape" not in attributes:
        even = pads[:ndim]
        return Fresh(lambda x, w, b=None: call(x, w, b, steps, even, dilations, group))

    def run(x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
        shape = windows(attributes, kernel_of(attributes, w), x.shape[2:])
        if shape.overhanging:
            raise ValueError(f"a kernel of {tuple(w.shape[2:])} does not fit into {x.shape[2:]}")
        if shape.begins == shape.ends:
            return call(x, w, bias, steps, shape.begins, dilations, group)
        return call(_padded(x, shape, 0.0), w, bias, steps, 0, dilations, group)

    return Fresh(run)


def _conv_transpose(site: Site) -> Kernel:
    ndim, attributes = _spatial(site), site.attributes
    if not ndim:
        return KERNELS["ConvTranspose"](site)
    call, group = _TRANSPOSED[ndim], attributes.get("group", 1)
    steps = tuple(attributes.get("strides") or (1,) * ndim)
    dilations = tuple(attributes.get("dilations") or (1,) * ndim)

    def run(x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
        begins, sizes = transposed(attributes, kernel_of(attributes, w), tuple(x.shape[2:]))
        y = call(x, w, None, steps, 0, 0, group, dilations)
        short = [
            max(b + n - have, 0) for b, n, have in zip(begins, sizes, y.shape[2:], strict=True)
        ]
        if any(short):
            y = F.pad(y, [n for size in reversed(short) for n in (0, size)])
        y = y[(..., *(slice(b, b + n) for b, n in zip(begins, sizes, strict=True)))]
        return y.contiguous() if bias is None else y + bias.reshape(-1, *(1,) * ndim)

    return Fresh(run)


def _max_pool(site: Site) -> Kernel:
    ndim, attributes = _spatial(site), site.attributes
    if not ndim or (site.outputs > 1 and site.wanted[1]):
        return KERNELS["MaxPool"](site)
    call, kernel = _MAXIMA[ndim], tuple(attributes["kernel_shape"])
    lowest = -float("inf")
    known: dict[Any, Windows] = {}

    def run(x: Tensor) -> Tensor:
        shape = known.get(x.shape)
        if shape is None:
            if len(known) >= MOST_SHAPES:
                known.clear()
            shape = known[x.shape] = windows(attributes, kernel, x.shape[2:])
        even = shape.begins == shape.ends and all(
            2 * b <= k for b, k in zip(shape.begins, kernel, strict=True)
        )
        source, pads = (x, shape.begins) if even else (_padded(x, shape, lowest), 0)
        y = call(source, kernel, shape.strides, pads, shape.dilations)
        return y if y.shape[2:] == shape.sizes else _cut(y, shape)

    return Fresh(run)


def _cut(y: Tensor, shape: Windows) -> Tensor:
    return y[(..., *map(slice, shape.sizes))].contiguous()


def _average_pool(site: Site) -> Kernel:
    ndim, attributes = _spatial(site), site.attributes
    pads = tuple(attributes.get("pads") or (0,) * (2 * ndim))
    kernel = tuple(attributes["kernel_shape"])
    plain = (
        ndim
        and attributes.get("auto_pad", "NOTSET") == "NOTSET"
        and not attributes.get("ceil_mode", 0)
        and set(attributes.get("dilations") or (1,)) == {1}
        and pads[:ndim] == pads[ndim:]
        and all(2 * p <= k for p, k in zip(pads, kernel, strict=False))
    )
    if not plain:
        return KERNELS["AveragePool"](site)
    call, even = _AVERAGES[ndim], pads[:ndim]
    steps = tuple(attributes.get("strides") or (1,) * ndim)
    counted = bool(attributes.get("count_include_pad", 0))
    return Fresh(lambda x: call(x, kernel, steps, even, False, counted))


def _global_average_pool(site: Site) -> Kernel:
    """On a GPU, the sums of equal channels are equal, and quicker than PyTorch's own reduction.

    That one adds in another order at the edges of its blocks, and where the results are large, a
    softmax over them differs: `test_squeezenet` has 1,000 equal logits of 1e10.
    """
    if _spatial(site) != 2 or site.library.device == "cpu":
        return KERNELS["GlobalAveragePool"](site)

    def run(x: Tensor) -> Tensor:
        plane = x.shape[2:]
        if plane.numel() <= MOST_IN_A_ROW:
            return F.avg_pool2d(x, tuple(plane))
        return x.sum(3, keepdim=True).sum(2, keepdim=True) / plane.numel()

    return Fresh(run)


def _along_axis(function: Any) -> Builder:
    def build(site: Site) -> Kernel:
        axis = site.attributes.get("axis", -1)
        return Fresh(lambda x: function(x, axis))

    return build


def _softmax(site: Site) -> Kernel:
    """float16 is rounded after each step, as ONNX's definition by steps of float16 does."""
    first = site.inputs[0]
    if first is not None and first.dtype == "float16":
        return softmax(site)
    return only(REAL, "Softmax", _along_axis(torch.softmax))(site)


def _layer_normalization(site: Site) -> Kernel:
    if site.outputs > 1:
        return KERNELS["LayerNormalization"](site)
    portable = KERNELS["LayerNormalization"](site)
    axis, epsilon = site.attributes.get("axis", -1), site.attributes.get("epsilon", 1e-5)

    def run(x: Tensor, scale: Tensor, bias: Tensor | None = None) -> Any:
        shape = x.shape[axis_within(axis, x.ndim) :]
        fits = scale.shape == shape and scale.dtype == x.dtype
        if not fits or (bias is not None and (bias.shape != shape or bias.dtype != x.dtype)):
            return portable(x, scale, bias)
        return torch.layer_norm(x, shape, scale, bias, epsilon)

    return Fresh(run)


def _batch_normalization(site: Site) -> Kernel:
    types = {one.dtype for one in site.inputs if one is not None}
    if site.attributes.get("training_mode", 0) or len(types) > 1:
        return KERNELS["BatchNormalization"](site)
    epsilon = site.attributes.get("epsilon", 1e-5)
    return Fresh(
        lambda x, scale, bias, mean, variance: F.batch_norm(
            x, mean, variance, scale, bias, False, 0.0, epsilon
        )
    )


def _group_normalization(site: Site) -> Kernel:
    groups, epsilon = site.attributes["num_groups"], site.attributes.get("epsilon", 1e-5)
    return Fresh(lambda x, scale, bias: F.group_norm(x, groups, scale, bias, epsilon))


def spared(operation: str, builder: Builder) -> Builder:
    """`builder`, with the portable kernel for what PyTorch refuses: arrays and windows of nothing.

    The portable kernel also says what is wrong where nothing can be computed.
    """

    def build(site: Site) -> Kernel:
        native, portable = builder(site), KERNELS[operation](site)
        call = native.call if isinstance(native, Fresh) else native

        def run(x: Tensor, *others: Tensor) -> Any:
            if 0 in x.shape:
                return portable(x, *others)
            try:
                return call(x, *others)
            except torch.cuda.OutOfMemoryError:
                raise
            except RuntimeError:
                return portable(x, *others)

        return Fresh(run)

    return build


_FORMS: dict[str, Builder] = {
    "MaxPool": spared("MaxPool", _max_pool),
    "AveragePool": spared("AveragePool", _average_pool),
    "GlobalAveragePool": spared("GlobalAveragePool", _global_average_pool),
    "LogSoftmax": _along_axis(torch.log_softmax),
    "LayerNormalization": _layer_normalization,
    "BatchNormalization": spared("BatchNormalization", _batch_normalization),
    "GroupNormalization": spared("GroupNormalization", _group_normalization),
}
OVERRIDES: dict[str, Builder] = {
    "Softmax": _softmax,
    **{name: only(REAL, name, builder) for name, builder in _FORMS.items()},
    "Conv": widened(spared("Conv", _conv)),
    "ConvTranspose": widened(spared("ConvTranspose", _conv_transpose)),
}
