"""Runs a package off a Mac: what is in its files, read back, one MIL operation after the other.

coremltools infers the values of most operations from constants, in NumPy; the others are written
here from its documentation. So a package's bytes are judged without the code that made them.
"""

import numpy as np
import torch
from torch.nn import functional

from rlx.backends.coreml.library import import_library


def load(package):
    """The package's main function as coremltools reads it back from the files."""
    from coremltools.converters.mil.frontend import milproto

    ct = import_library()
    spec = ct.utils.load_spec(str(package))
    weights = package / "Data" / "com.apple.CoreML" / "weights"
    return spec, milproto.load.load(spec, spec.specificationVersion, str(weights)).functions["main"]


def run(function, inputs):
    """The outputs by name; `inputs` by name, of the dtypes that the package says."""
    values = dict(inputs)
    with np.errstate(all="ignore"):
        for op in function.operations:
            if op.op_type == "const":
                continue
            results = _evaluate(op, values)
            for var, result in zip(op.outputs, results, strict=True):
                result = np.asarray(result)
                assert result.shape == tuple(var.shape), (op.op_type, result.shape, var.shape)
                assert result.dtype == _dtype(var), (op.op_type, result.dtype, _dtype(var))
                values[var.name] = result
    return {var.name: values[var.name] for var in function.outputs}


def _dtype(var):
    from coremltools.converters.mil.mil.types import nptype_from_builtin

    return np.dtype(nptype_from_builtin(var.dtype))


def _evaluate(op, values):
    given = {}
    for name, var in op.inputs.items():
        if isinstance(var, list | tuple):
            given[name] = [_value(one, values) for one in var]
        elif var is not None:
            given[name] = _value(var, values)
    if op.op_type in OWN:
        made = OWN[op.op_type](**given)
        return made if isinstance(made, tuple) else (made,)
    return _inferred(op.op_type, given)


def _value(var, values):
    return values.get(var.name, var.val)


def _inferred(kind, given):
    """What coremltools says that the operation makes of these constants."""
    from coremltools import target
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import Function

    with Function({}, opset_version=target.iOS17):
        made = getattr(Builder, kind)(**given)
    outputs = made if isinstance(made, list | tuple) else [made]
    assert all(one.val is not None for one in outputs), f"coremltools does not compute {kind}"
    return [np.asarray(one.val) for one in outputs]


def _tensor(array):
    return torch.from_numpy(np.array(array, order="C"))


def _padded(x, pad, value=0.0):
    """`pad` as MIL has it, before and after each axis in turn; torch begins with the last axis."""
    pairs = [tuple(map(int, pad[at : at + 2])) for at in range(0, len(pad), 2)]
    return functional.pad(
        _tensor(x), [size for pair in reversed(pairs) for size in pair], value=value
    )


def _conv(x, weight, pad, strides, dilations, groups, pad_type, bias=None):
    assert pad_type == "custom"
    run = (functional.conv1d, functional.conv2d, functional.conv3d)[x.ndim - 3]
    bias = None if bias is None else _tensor(bias)
    stride, dilation = tuple(map(int, strides)), tuple(map(int, dilations))
    made = run(_padded(x, pad), _tensor(weight), bias, stride, 0, dilation, int(groups))
    return made.numpy()


def _conv_transpose(
    x, weight, pad, strides, dilations, groups, pad_type, bias=None, output_shape=None
):
    """`output_shape` is what the pads leave: a shape that is another is noticed afterwards."""
    assert pad_type == "custom"
    run = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[
        x.ndim - 3
    ]
    bias = None if bias is None else _tensor(bias)
    stride, dilation = tuple(map(int, strides)), tuple(map(int, dilations))
    made = run(_tensor(x), _tensor(weight), bias, stride, 0, 0, int(groups), dilation).numpy()
    cut = [
        slice(int(pad[2 * at]), size - int(pad[2 * at + 1]))
        for at, size in enumerate(made.shape[2:])
    ]
    return np.ascontiguousarray(made[(slice(None), slice(None), *cut)])


def _windows(x, kernel_sizes, strides):
    axes = tuple(range(2, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(x, tuple(map(int, kernel_sizes)), axes)
    return windows[(slice(None), slice(None), *(slice(None, None, int(s)) for s in strides))]


def _max_pool(x, kernel_sizes, strides, pad, pad_type, ceil_mode=False):
    assert (pad_type, bool(ceil_mode)) == ("custom", False)
    windows = _windows(_padded(x, pad, -np.inf).numpy(), kernel_sizes, strides)
    return windows.max(axis=tuple(range(x.ndim, windows.ndim)))


def _avg_pool(
    x, kernel_sizes, strides, pad, pad_type, exclude_padding_from_average, ceil_mode=False
):
    assert (pad_type, bool(ceil_mode)) == ("custom", False)
    ones = np.ones_like(x) if exclude_padding_from_average else None
    windows = _windows(_padded(x, pad).numpy(), kernel_sizes, strides)
    axes = tuple(range(x.ndim, windows.ndim))
    if ones is None:
        return windows.mean(axis=axes)
    return windows.sum(axes) / _windows(_padded(ones, pad).numpy(), kernel_sizes, strides).sum(axes)


def _batch_norm(x, mean, variance, gamma, beta, epsilon):
    shape = (-1,) + (1,) * (x.ndim - 2)
    mean, variance, gamma, beta = (one.reshape(shape) for one in (mean, variance, gamma, beta))
    return gamma * (x - mean) / np.sqrt(variance + epsilon) + beta


def _instance_norm(x, gamma, beta, epsilon):
    axes, shape = tuple(range(2, x.ndim)), (-1,) + (1,) * (x.ndim - 2)
    centred = x - x.mean(axes, keepdims=True)
    variance = x.var(axes, keepdims=True)
    return gamma.reshape(shape) * centred / np.sqrt(variance + epsilon) + beta.reshape(shape)


def _local_response_norm(x, size, alpha, beta, k):
    reach = int(size) // 2
    squares = np.pad(x * x, ((0, 0), (reach, reach), (0, 0), (0, 0)))
    total = sum(squares[:, at : at + x.shape[1]] for at in range(int(size)))
    return x / (k + alpha / x.dtype.type(size) * total) ** beta


def _depth_to_space(x, block_size):
    """The depth's first axis counts the rows of a block: as TensorFlow, and ONNX's DCR."""
    n, c, h, w = x.shape
    b = int(block_size)
    apart = x.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    return apart.reshape(n, c // b**2, h * b, w * b)


def _space_to_depth(x, block_size):
    n, c, h, w = x.shape
    b = int(block_size)
    apart = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    return apart.reshape(n, c * b**2, h // b, w // b)


def _pixel_shuffle(x, upscale_factor):
    return functional.pixel_shuffle(_tensor(x), int(upscale_factor)).numpy()


def _reduction(reduce):
    """coremltools would compute these, but hands NumPy 2 a flag that it refuses."""
    return lambda x, axes, keep_dims: reduce(
        x, axis=tuple(map(int, axes)), keepdims=bool(keep_dims)
    ).astype(x.dtype)


def _pixel_unshuffle(x, downscale_factor):
    return functional.pixel_unshuffle(_tensor(x), int(downscale_factor)).numpy()


def _log_sum_exp(x, axis, keepdims):
    """As it is written, overflowing: what the device does instead is not documented."""
    return np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))


def _cumsum(x, axis, exclusive, reverse):
    axis = int(axis)
    x = np.flip(x, axis) if reverse else x
    total = np.cumsum(x, axis, dtype=x.dtype) - (x if exclusive else 0)
    return np.flip(total, axis) if reverse else total


def _gather_nd(x, indices, batch_dims, validate_indices=False):
    if batch_dims:
        pairs = zip(x, indices, strict=True)
        return np.stack([_gather_nd(a, at, int(batch_dims) - 1) for a, at in pairs])
    return x[tuple(np.moveaxis(indices, -1, 0))]


def _upsample(x, scale_factor_height, scale_factor_width):
    return x.repeat(int(scale_factor_height), -2).repeat(int(scale_factor_width), -1)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _lstm(x, initial_h, initial_c, direction, output_sequence, weight_ih, weight_hh, bias,
          weight_ih_back=None, weight_hh_back=None, bias_back=None, recurrent_activation="sigmoid",
          cell_activation="tanh", activation="tanh", peephole=None, clip=None):  # fmt: skip
    assert (bool(output_sequence), peephole, clip) == (True, None, None)
    assert (recurrent_activation, cell_activation, activation) == ("sigmoid", "tanh", "tanh")
    weights = [(weight_ih, weight_hh, bias), (weight_ih_back, weight_hh_back, bias_back)]
    ways = {"forward": [1], "reverse": [-1], "bidirectional": [1, -1]}[direction]
    sequences, hs, cs = [], [], []
    for at, step in enumerate(ways):
        ih, hh, b = weights[at]
        h, c = (np.split(one, len(ways), axis=1)[at] for one in (initial_h, initial_c))
        seen = []
        for frame in x[::step]:
            i, f, o, z = np.split(frame @ ih.T + h @ hh.T + b, 4, axis=1)
            c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(z)
            h = _sigmoid(o) * np.tanh(c)
            seen.append(h)
        sequences.append(np.stack(seen[::step]))
        hs.append(h)
        cs.append(c)
    return tuple(np.concatenate(one, axis=-1) for one in (sequences, hs, cs))


OWN = {
    "avg_pool": _avg_pool,
    "batch_norm": _batch_norm,
    "conv": _conv,
    "conv_transpose": _conv_transpose,
    "cumsum": _cumsum,
    "depth_to_space": _depth_to_space,
    "gather_nd": _gather_nd,
    "identity": lambda x: x,
    "instance_norm": _instance_norm,
    "local_response_norm": _local_response_norm,
    "lstm": _lstm,
    "max_pool": _max_pool,
    "pixel_shuffle": _pixel_shuffle,
    "pixel_unshuffle": _pixel_unshuffle,
    "reduce_l1_norm": _reduction(lambda x, **how: np.abs(x).sum(**how)),
    "reduce_l2_norm": _reduction(lambda x, **how: np.sqrt((x * x).sum(**how))),
    "reduce_log_sum_exp": _reduction(_log_sum_exp),
    "reduce_max": _reduction(np.max),
    "reduce_mean": _reduction(np.mean),
    "reduce_min": _reduction(np.min),
    "reduce_prod": _reduction(np.prod),
    "reduce_sum": _reduction(np.sum),
    "reduce_sum_square": _reduction(lambda x, **how: (x * x).sum(**how)),
    "silu": lambda x: x * _sigmoid(x),
    "space_to_depth": _space_to_depth,
    "squeeze": lambda x, axes: np.squeeze(x, tuple(map(int, axes))),
    "upsample_nearest_neighbor": _upsample,
}
