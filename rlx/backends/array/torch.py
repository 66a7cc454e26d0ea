"""The torch backends: PyTorch on CPUs, and on NVIDIA, AMD, Apple and Intel GPUs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rlx.backends.forks import refuse_forked, used_before_fork
from rlx.backends.protocol import Found
from rlx.errors import SettingError, Unavailable, told

if TYPE_CHECKING:
    from rlx.backends.array.engine import ArrayBackend
    from rlx.device import DeviceSpec


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open the CPU; there is one, and there are no options.

    Where PyTorch was used before this process was forked, its threads did not come along: it
    computes with one thread then.

    Raises:
        Unavailable: an index other than 0 was asked for.
        SettingError: an option was given.
    """
    if spec.index not in (None, 0):
        raise Unavailable(f"torch-cpu has only cpu:0, got {spec}", fix="ask for cpu.")
    _options("torch-cpu", options)
    if used_before_fork("torch-cpu"):
        import torch

        torch.set_num_threads(1)
    return _backend("cpu", 0, "torch-cpu", "cpu")


def open_cuda(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open an NVIDIA GPU.

    Options: `cuda_graphs`, true or false, true unless told: whether programs whose steps do not
    depend on their data are recorded as CUDA graphs, once for each set of input shapes.

    Raises:
        Unavailable: PyTorch cannot use this GPU.
        SettingError: another option.
    """
    graphs = _options("torch-cuda", options, "cuda_graphs")
    _require(probe_cuda, spec, "torch-cuda")
    return _backend("cuda", spec.index or 0, "torch-cuda", "cuda", graphs=graphs)


def open_rocm(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open an AMD GPU, with the option and the errors of `open_cuda`; the graphs are HIP's."""
    graphs = _options("torch-rocm", options, "cuda_graphs")
    _require(probe_rocm, spec, "torch-rocm")
    return _backend("cuda", spec.index or 0, "torch-rocm", "rocm", graphs=graphs)


def open_metal(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open Apple's GPU; there are no options. It raises as `open_cuda` does."""
    _options("torch-metal", options)
    _require(probe_metal, spec, "torch-metal")
    return _backend("mps", 0, "torch-metal", "metal")


def open_xpu(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open an Intel GPU; there are no options. It raises as `open_cuda` does."""
    _options("torch-xpu", options)
    _require(probe_xpu, spec, "torch-xpu")
    return _backend("xpu", spec.index or 0, "torch-xpu", "oneapi")


def probe_cuda(index: int) -> Found | str:
    """What the NVIDIA GPU is, or why PyTorch can't use it."""
    import torch

    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built without CUDA"
    return _probe("cuda", torch.cuda, index)


def probe_rocm(index: int) -> Found | str:
    """What the AMD GPU is, or why PyTorch can't use it."""
    import torch

    if torch.version.hip is None:
        return f"torch {torch.__version__} is built without ROCm"
    return _probe("cuda", torch.cuda, index)


def probe_metal(index: int) -> Found | str:
    """Whether PyTorch can use Apple's GPU, or why not."""
    import torch

    if not torch.backends.mps.is_built():
        return f"torch {torch.__version__} is built without Metal"
    if not torch.backends.mps.is_available():
        return "torch finds no Metal device"
    return f"metal has only index 0, got {index}" if index else _sum("mps", "Apple GPU")


def probe_xpu(index: int) -> Found | str:
    """What the Intel GPU is, or why PyTorch can't use it."""
    import torch

    if getattr(torch.version, "xpu", None) is None:
        return f"torch {torch.__version__} is built without XPU"
    return _probe("xpu", torch.xpu, index)


def _probe(kind: str, module: Any, index: int) -> Found | str:
    try:
        if not module.is_available():
            return f"torch finds no {kind} device"
        count = module.device_count()
        if index >= count:
            return f"torch finds {count} {kind} device(s), none of index {index}"
        return _sum(f"{kind}:{index}", str(module.get_device_name(index)))
    except Exception as error:  # noqa: BLE001 - whatever a driver says is the reason
        return told(error)


def _sum(device: str, name: str) -> Found | str:
    """The device, when it can compute."""
    import torch

    try:
        total = torch.ones(8, device=device).sum().item()
    except Exception as error:  # noqa: BLE001 - whatever a driver says is the reason
        return told(error)
    return Found(detail=name) if total == 8.0 else f"a sum of eight ones gave {total}"


def _options(id: str, options: Mapping[str, object], switch: str | None = None) -> bool:
    """The value of the one option there may be, true unless told."""
    others = sorted(options.keys() - {switch})
    if others:
        has = "no options" if switch is None else f"the option {switch}"
        raise SettingError(f"{id} has {has}, got {', '.join(others)}", fix="remove them.")
    value = options.get(switch, True) if switch is not None else True
    if not isinstance(value, bool):
        raise SettingError(
            f"{id}: {switch} is true or false, got {value!r}", fix="write one of them."
        )
    return value


def _require(probe: Callable[[int], Found | str], spec: DeviceSpec, id: str) -> None:
    refuse_forked(id)
    found = probe(spec.index or 0)
    if isinstance(found, str):
        raise Unavailable(f"{id} cannot use {spec}: {found}", fix="see `rlx devices`.")


def _backend(kind: str, index: int, name: str, id: str, *, graphs: bool = False) -> ArrayBackend:
    import torch

    from rlx.backends.array.engine import ArrayBackend
    from rlx.backends.array.native_torch_library import library

    device = torch.device(kind) if kind == "cpu" else torch.device(kind, index)
    return ArrayBackend(library(device, name, id, graphs=graphs))
