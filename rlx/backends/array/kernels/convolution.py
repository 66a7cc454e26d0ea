"""Conv, ConvTranspose and CausalConvWithState, over any number of spatial dimensions."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from rlx.backends.array import native_numpy_convolution
from rlx.backends.array.kernels.updates import add
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.kernels.windows import Windows, padded, windows
from rlx.backends.array.native import is_numpy
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.backends.array.site import Builder, Kernel, Site

Plan = Any
MOST_PLANS = 256
"""How many input shapes a kernel remembers before it starts again."""


def planner(site: Site) -> Callable[[Any, Any], Plan]:
    """A function (x, w) -> plan; a plan is a function (x, w) -> y, for their shapes."""
    xp, attributes = site.xp, site.attributes
    group = attributes.get("group", 1)
    plans: dict[tuple[Any, ...], Plan] = {}

    def find(x: Any, w: Any) -> Plan:
        key = (x.shape, w.shape)
        plan = plans.get(key)
        if plan is None:
            shape = windows(attributes, kernel_of(attributes, w), x.shape[2:])
            if shape.overhanging:
                raise ValueError(f"a kernel of {w.shape[2:]} does not fit into {x.shape[2:]}")
            if is_numpy(xp):
                plan = native_numpy_convolution.plan(shape, x.shape, w.shape, group)
            else:
                plan = portable_plan(xp, shape, x.shape, w.shape, group)
            if len(plans) >= MOST_PLANS:
                plans.clear()
            plans[key] = plan
        return plan

    return find


def kernel_of(attributes: Any, w: Any) -> tuple[int, ...]:
    """The kernel's sizes.

    Raises:
        ValueError: the attribute says otherwise.
    """
    sizes, stated = tuple(w.shape[2:]), attributes.get("kernel_shape")
    if stated and tuple(stated) != sizes:
        raise ValueError(f"kernel_shape is {tuple(stated)}, W's is {sizes}")
    return sizes


def portable_plan(
    xp: Any, shape: Windows, x_shape: tuple[int, ...], w_shape: tuple[int, ...], group: int
) -> Plan:
    """The sum over the kernel's elements of a matrix product of shifted inputs."""
    batch, maps, depth = x_shape[0], w_shape[0], w_shape[1]
    pixels = prod(shape.sizes)

    def run(x: Any, w: Any) -> Any:
        source = padded(xp, x, shape, 0)
        taps = xp.reshape(w, (group, maps // group, depth, shape.taps))
        y = None
        for index, where in enumerate(shape.slices()):
            shifted = xp.reshape(source[(..., *where)], (batch, group, depth, pixels))
            part = xp.matmul(taps[..., index], shifted)
            y = part if y is None else y + part
        return xp.reshape(y, (batch, maps, *shape.sizes))

    return run


def conv(site: Site) -> Kernel:
    """Build Conv."""
    xp, find = site.xp, planner(site)

    def run(x: Any, w: Any, bias: Any = None) -> Any:
        y = find(x, w)(x, w)
        if bias is not None:
            y += xp.reshape(bias, (-1, *(1,) * (y.ndim - 2)))
        return y

    return Fresh(run)


def conv_transpose(site: Site) -> Kernel:
    """Build ConvTranspose: each input pixel adds its kernel to the output."""
    xp, attributes = site.xp, site.attributes
    group = attributes.get("group", 1)

    def run(x: Any, w: Any, bias: Any = None) -> Any:
        batch, channels, spatial = x.shape[0], x.shape[1], x.shape[2:]
        kernel, maps = kernel_of(attributes, w), w.shape[1] * group
        begins, sizes = transposed(attributes, kernel, spatial)
        steps = attributes.get("strides") or (1,) * len(kernel)
        plain = {"strides": steps, "dilations": attributes.get("dilations")}
        taps = prod(kernel)
        w_view = xp.reshape(w, (group, channels // group, maps // group * taps))
        x_view = xp.reshape(x, (batch, group, channels // group, prod(spatial)))
        columns = xp.matmul(xp.matrix_transpose(w_view), x_view)
        columns = xp.reshape(columns, (batch, maps, taps, *spatial))
        reach = [
            (n - 1) * s + (k - 1) * d + 1
            for n, s, k, d in zip(
                spatial,
                steps,
                kernel,
                attributes.get("dilations") or (1,) * len(kernel),
                strict=True,
            )
        ]
        room = [max(r, b + o) for r, b, o in zip(reach, begins, sizes, strict=True)]
        y = xp.zeros((batch, maps, *room), dtype=x.dtype)
        for index, where in enumerate(windows(plain, kernel, reach).slices()):
            y = add(y, (..., *where), columns[:, :, index, ...])
        cut = (slice(b, b + o) for b, o in zip(begins, sizes, strict=True))
        y = y[(..., *cut)]
        if bias is not None:
            y += xp.reshape(bias, (-1, *(1,) * len(kernel)))
        return y

    return Fresh(run)


def transposed(
    attributes: Any, kernel: tuple[int, ...], spatial: tuple[int, ...]
) -> tuple[list[int], list[int]]:
    """Per axis, how much of the full result is cut off at its begin, and what size is kept."""
    ndim = len(kernel)
    strides = attributes.get("strides") or (1,) * ndim
    dilations = attributes.get("dilations") or (1,) * ndim
    extra = attributes.get("output_padding") or (0,) * ndim
    wanted = attributes.get("output_shape")
    auto = attributes.get("auto_pad", "NOTSET")
    full = [
        (n - 1) * s + (k - 1) * d + 1 + e
        for n, s, k, d, e in zip(spatial, strides, kernel, dilations, extra, strict=True)
    ]
    if wanted is None and not auto.startswith("SAME"):
        pads = (auto == "NOTSET" and attributes.get("pads")) or (0,) * (2 * ndim)
        sizes = [f - pads[i] - pads[i + ndim] for i, f in enumerate(full)]
        if any(size < 0 for size in sizes):
            raise ValueError(f"padding {tuple(pads)} takes more than the {tuple(full)} there is")
        return list(pads[:ndim]), sizes
    if wanted is None:
        # a kernel shorter than its stride leaves less than n * s, and nothing is added then
        sizes = [min(n * s, f) for n, s, f in zip(spatial, strides, full, strict=True)]
    else:
        sizes = list(wanted[-ndim:])
    totals = [max(f - size, 0) for f, size in zip(full, sizes, strict=True)]
    smaller = [total // 2 for total in totals]
    if auto == "SAME_UPPER":
        return smaller, sizes
    return [total - half for total, half in zip(totals, smaller, strict=True)], sizes


def causal_conv_with_state(site: Site) -> Kernel:
    """Build CausalConvWithState: a depthwise convolution over the past; the past moves along."""
    xp = site.xp
    activation = site.attributes.get("activation", "none")
    if activation not in {"none", "silu", "swish"}:
        raise NotImplementedError(f"CausalConvWithState: activation {activation!r}")

    def run(x: Any, w: Any, bias: Any = None, past: Any = None) -> Any:
        batch, channels, length = x.shape
        taps = w.shape[-1]
        if past is None:
            past = xp.zeros((batch, channels, taps - 1), dtype=x.dtype)
        line = xp.concat((past, x), axis=2)
        y = line[..., :length] * w[:, :, 0]
        for tap in range(1, taps):
            y = y + line[..., tap : tap + length] * w[:, :, tap]
        if bias is not None:
            y = y + bias[:, None]
        if activation != "none":
            y = y / (1 + xp.exp(-y))
        return y, line[..., line.shape[-1] - (taps - 1) :]

    return Fresh(run)


KERNELS: dict[str, Builder] = {
    "Conv": widened(conv),
    "ConvTranspose": widened(conv_transpose),
    "CausalConvWithState": widened(causal_conv_with_state),
}
