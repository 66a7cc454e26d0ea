"""Convolution by XLA, and by other means where XLA's own is slow on a CPU.

XLA's convolution on a CPU takes channels of groups one at a time: sums of shifted products take a
twentieth of the time for one channel a group, and a matrix product over gathered windows less than
half for larger groups, for windows of one element, and for those over one or three axes that all
stay in the cache. Its own wants the weights' axes in another order; constant ones get it once.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.convolution import kernel_of, transposed
from rlx.backends.array.kernels.widening import NARROW, widened
from rlx.backends.array.kernels.windows import Windows, windows
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rlx.backends.array.site import Builder, Kernel, Site

GATHERED = 1 << 16
"""How many elements all windows of one image may have, to be gathered."""
MOST_TAPS = 64
"""A window of more elements is left to XLA: a program with each of them by itself is too long."""


def conv(site: Site) -> Kernel:
    """Build Conv; weights that XLA would transpose at each run on a CPU are asked for so."""
    return _xla_alone(site) or widened(_conv)(site)


def _xla_alone(site: Site) -> Kernel | None:
    """The convolution with constant weights that only XLA may do on a CPU; None: it is another."""
    attributes, w = site.attributes, site.constants[1]
    if site.library.device != "cpu" or attributes.get("group", 1) > 1 or w is None or w.ndim < 3:
        return None
    if any(known is not None and known.dtype in NARROW for known in site.inputs):
        return None
    kernel = kernel_of(attributes, w)
    if not _is_xlas(kernel, attributes.get("strides", ())):
        return None

    def run(x: Any, w: Any, bias: Any = None) -> Any:
        return _biased(_by_xla(site.xp, _fitting(attributes, kernel, x), x, w, 1, last=True), bias)

    return Fresh(run, axes={1: (*range(2, w.ndim), 1, 0)})


def _conv(site: Site) -> Kernel:
    attributes, on_cpu = site.attributes, site.library.device == "cpu"
    group = attributes.get("group", 1)

    def run(x: Any, w: Any, bias: Any = None) -> Any:
        shape = _fitting(attributes, kernel_of(attributes, w), x)
        return _biased(_method(on_cpu, shape, x, w, group)(site.xp, shape, x, w, group), bias)

    return Fresh(run)


def _fitting(attributes: Mapping[str, Any], kernel: tuple[int, ...], x: Any) -> Windows:
    shape = windows(attributes, kernel, x.shape[2:])
    if shape.overhanging:
        raise ValueError(f"a kernel of {kernel} does not fit into {x.shape[2:]}")
    return shape


def _biased(y: Any, bias: Any) -> Any:
    return y if bias is None else y + bias.reshape(-1, *(1,) * (y.ndim - 2))


def _method(on_cpu: bool, shape: Windows, x: Any, w: Any, group: int) -> Any:
    if not on_cpu or shape.taps > MOST_TAPS or not prod(shape.sizes):
        return _by_xla
    if group > 1:
        return _shifted if w.shape[1] == 1 else _gathered
    if _is_xlas(shape.kernel, shape.strides):
        return _by_xla
    few = x.shape[1] * shape.taps * prod(shape.sizes) <= GATHERED
    return _gathered if shape.taps == 1 or few else _by_xla


def _is_xlas(kernel: Sequence[int], strides: Sequence[int]) -> bool:
    """True for convolutions in one group that XLA does best whatever the input's size.

    It does a chain of two-dimensional ones, with what is between them, in one step.
    """
    taps = prod(kernel)
    return taps > MOST_TAPS or (len(kernel) == 2 and (taps > 1 or max(strides, default=1) > 1))


def _by_xla(xp: Any, shape: Windows, x: Any, w: Any, group: int, *, last: bool = False) -> Any:
    """XLA's own; with `last`, the weights have their maps last, and their channels before these."""
    from jax import lax

    del xp
    plain = tuple(range(x.ndim))
    spec = (x.ndim - 1, x.ndim - 2, *range(x.ndim - 2)) if last else plain
    return lax.conv_general_dilated(
        x,
        w,
        window_strides=shape.strides,
        padding=_pads(shape),
        rhs_dilation=shape.dilations,
        dimension_numbers=lax.ConvDimensionNumbers(plain, spec, plain),
        feature_group_count=group,
        precision=lax.Precision.HIGHEST,
    )


def _pads(shape: Windows) -> list[tuple[int, int]]:
    """The padding by which XLA counts as many windows as ONNX does."""
    pads = []
    for axis, size in enumerate(shape.sizes):
        extent = (shape.kernel[axis] - 1) * shape.dilations[axis] + 1
        reach = (size - 1) * shape.strides[axis] + extent if size else extent - 1
        pads.append((shape.begins[axis], reach - shape.spatial[axis] - shape.begins[axis]))
    return pads


def _shifted(xp: Any, shape: Windows, x: Any, w: Any, group: int) -> Any:
    """One channel a group: the sum over the window's elements of shifted, scaled inputs."""
    source = _padded(x, shape)[:, :, None]
    maps = w.shape[0] // group
    factors = w.reshape(group, maps, shape.taps, *(1,) * len(shape.sizes))
    y = None
    for tap, where in enumerate(shape.slices()):
        part = source[(..., *where)] * factors[:, :, tap]
        y = part if y is None else y + part
    return xp.reshape(y, (x.shape[0], w.shape[0], *shape.sizes))


def _gathered(xp: Any, shape: Windows, x: Any, w: Any, group: int) -> Any:
    """A matrix product over the windows side by side."""
    source = _padded(x, shape)
    parts = [source[(..., *where)] for where in shape.slices()]
    columns = xp.stack(parts, axis=2) if len(parts) > 1 else parts[0]
    depth, pixels = w.shape[1] * shape.taps, prod(shape.sizes)
    columns = xp.reshape(columns, (x.shape[0], group, depth, pixels))
    y = xp.matmul(xp.reshape(w, (group, w.shape[0] // group, depth)), columns)
    return xp.reshape(y, (x.shape[0], w.shape[0], *shape.sizes))


def _padded(x: Any, shape: Windows) -> Any:
    """The input with zeros around it."""
    from jax import lax

    edges = [(low, high, 0) for low, high in zip(shape.begins, shape.ends, strict=True)]
    return lax.pad(x, x.dtype.type(0), [(0, 0, 0), (0, 0, 0), *edges])


def conv_transpose(site: Site) -> Kernel:
    """Build ConvTranspose: a convolution of the input with its pixels moved apart."""
    attributes, group = site.attributes, site.attributes.get("group", 1)

    def run(x: Any, w: Any, bias: Any = None) -> Any:
        from jax import lax

        kernel, maps = kernel_of(attributes, w), w.shape[1]
        begins, sizes = transposed(attributes, kernel, x.shape[2:])
        steps = tuple(attributes.get("strides") or (1,) * len(kernel))
        dilations = tuple(attributes.get("dilations") or (1,) * len(kernel))
        pads = []
        for axis, size in enumerate(sizes):
            before = (kernel[axis] - 1) * dilations[axis]
            spread = max((x.shape[axis + 2] - 1) * steps[axis] + 1, 0)
            pads.append((before - begins[axis], size - spread + begins[axis]))
        turned = w.reshape(group, w.shape[0] // group, maps, *kernel).swapaxes(1, 2)
        turned = turned.reshape(group * maps, w.shape[0] // group, *kernel)
        y = lax.conv_general_dilated(
            x,
            lax.rev(turned, tuple(range(2, turned.ndim))),
            window_strides=(1,) * len(kernel),
            padding=pads,
            lhs_dilation=steps,
            rhs_dilation=dilations,
            feature_group_count=group,
            precision=lax.Precision.HIGHEST,
        )
        return y if bias is None else y + bias.reshape(-1, *(1,) * len(kernel))

    return Fresh(run)


OVERRIDES: dict[str, Builder] = {
    "Conv": conv,
    "ConvTranspose": widened(conv_transpose),
}
