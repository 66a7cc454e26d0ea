"""Convolutions and pooling: explicit pads, whatever the node says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx.backends.coreml.site import FLOATS, Emitter, Site, Var


def _sizes(site: Site, name: str, count: int) -> list[int]:
    return [int(one) for one in site.attribute(name) or (1,) * count]


def _pads(site: Site, kernel: list[int], strides: list[int], dilations: list[int]) -> list[int]:
    """Before and after each axis in turn, as MIL wants them; ONNX gives all befores first."""
    auto = site.attribute("auto_pad", "NOTSET")
    count = len(kernel)
    if auto in ("NOTSET", ""):
        given = site.attribute("pads") or (0,) * (2 * count)
        pads = [int(given[at + count * side]) for at in range(count) for side in (0, 1)]
        if min(pads, default=0) < 0:
            site.refuse("it has negative pads")
        return pads
    made: list[int] = []
    for size, window, stride, dilation in zip(
        site.shape(0)[2:], kernel, strides, dilations, strict=True
    ):
        reach = (window - 1) * dilation + 1
        total = 0 if auto == "VALID" else max((-(-size // stride) - 1) * stride + reach - size, 0)
        less, more = total // 2, total - total // 2
        made += [less, more] if auto != "SAME_LOWER" else [more, less]
    return made


def _spatial(site: Site) -> int:
    site.only(*FLOATS)
    count = site.ndim() - 2
    if not 1 <= count <= 3:
        site.refuse(f"{count} spatial axes are not among 1, 2 and 3")
    return count


def _conv(site: Site) -> Var:
    return _convolved(site, site.mb.conv, _spatial(site), site.need(1, "weight"))


def _conv_transpose(site: Site) -> Var:
    """Where the output's size is not what the pads leave, it is said."""
    count = _spatial(site)
    weight = site.need(1, "weight")
    if site.attribute("output_shape") or site.attribute("auto_pad", "NOTSET") != "NOTSET":
        site.refuse("it has an output_shape, or an auto_pad")
    if any(site.attribute("output_padding") or ()):
        site.refuse("it has an output_padding")
    return _convolved(site, site.mb.conv_transpose, count, weight)


def _convolved(site: Site, emit: Callable[..., Var], count: int, weight: Var) -> Var:
    strides, dilations = _sizes(site, "strides", count), _sizes(site, "dilations", count)
    more: dict[str, Any] = {}
    if site.present(2):
        more["bias"] = site.need(2, "bias")
    return emit(
        x=site.x(),
        weight=weight,
        strides=strides,
        dilations=dilations,
        pad_type="custom",
        pad=_pads(site, list(weight.shape[2:]), strides, dilations),
        groups=int(site.attribute("group", 1)),
        **more,
    )


def _pool(name: str) -> Emitter:
    def emit(site: Site) -> Var:
        count = _spatial(site)
        kernel, strides = _sizes(site, "kernel_shape", count), _sizes(site, "strides", count)
        dilations = _sizes(site, "dilations", count)
        if max(dilations) > 1 or site.attribute("storage_order", 0) or len(site.op.outputs) > 1:
            site.refuse("it is dilated, or asks where the largest values are")
        pads = _pads(site, kernel, strides, dilations)
        if site.attribute("ceil_mode", 0) and any(
            (size + pads[2 * at] + pads[2 * at + 1] - kernel[at]) % strides[at]
            for at, size in enumerate(site.shape(0)[2:])
        ):
            site.refuse("ceil_mode is 1, and a window reaches beyond the edge")
        more = {}
        if name == "avg_pool":
            more["exclude_padding_from_average"] = not site.attribute("count_include_pad", 0)
        return getattr(site.mb, name)(
            x=site.x(), kernel_sizes=kernel, strides=strides, pad_type="custom", pad=pads, **more
        )

    return emit


def _global(name: str) -> Emitter:
    def emit(site: Site) -> Var:
        site.only(*FLOATS)
        axes = list(range(2, site.ndim()))
        if not axes:
            site.refuse("it has no spatial axes")
        return getattr(site.mb, name)(x=site.x(), axes=axes, keep_dims=True)

    return emit


EMITTERS: dict[str, Emitter] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "MaxPool": _pool("max_pool"),
    "AveragePool": _pool("avg_pool"),
    "GlobalAveragePool": _global("reduce_mean"),
    "GlobalMaxPool": _global("reduce_max"),
}
