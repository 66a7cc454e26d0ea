"""onnxruntime and its execution providers: one registration each, and no way to another device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.onnxruntime.options import checked
from rlx.backends.onnxruntime.provider import Provider
from rlx.backends.onnxruntime.providers import CPU, KNOWN, QNN_EMULATED
from rlx.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.isolated import Isolated
    from rlx.backends.onnxruntime.backend import OnnxRuntime
    from rlx.device import DeviceSpec

__all__ = ["open_cpu", "open_provider", "open_qnn_emulated"]


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> OnnxRuntime:
    """Open the CPU provider.

    `options`: `intra_op_threads` and `inter_op_threads` (0: the engine decides) and
    `graph_optimization` (`disable`, `basic`, `extended` or `all`).

    Raises:
        SettingError: an option that this adapter does not know; the engine would ignore it.
        Unavailable: there is no such CPU, or this build has no CPU provider.
    """
    return CPU.open(spec, options)


def open_qnn_emulated(spec: DeviceSpec, options: Mapping[str, object]) -> Isolated:
    """Open the emulated Hexagon in a process of its own, one for each set of options.

    `options`: QNN's own, such as `soc_model` and `htp_arch`, and those of `open_cpu`.

    Raises:
        SettingError: an option that QNN does not know, or that rlx sets itself.
        Unavailable: the plugin can't be used here, or the process does not start.
    """
    from rlx.backends.isolated import Isolated

    checked(QNN_EMULATED.id, options, QNN_EMULATED.keys, QNN_EMULATED.ours)
    factory = "rlx.backends.onnxruntime.providers:QNN_EMULATED.open"
    return Isolated(QNN_EMULATED.id, factory, spec, options)


def open_provider(spec: DeviceSpec, options: Mapping[str, object]) -> OnnxRuntime:
    """Open any other provider, for a registration of your own.

    `options`: `provider`, its name; `library`, the path of the plugin that has it, unless it is
    built in; and those of `open_cpu`. What else a provider takes is not known here, and onnxruntime
    ignores what it does not know: so nothing else is taken.

    Raises:
        SettingError: no provider is named, or an option is not known.
        Unavailable: this onnxruntime has no such provider, or the plugin none of its devices.
    """
    rest = dict(options)
    name, library = rest.pop("provider", None), rest.pop("library", None)
    if not isinstance(name, str) or not name:
        raise SettingError(
            f"provider must be a provider's name, got {name!r:.60}",
            fix=f"write provider: {next(iter(KNOWN))}, or another.",
        )
    if library is not None and not isinstance(library, str):
        raise SettingError(
            f"library must be a path, got {library!r:.60}", fix="write it in quotes, or leave it."
        )
    return Provider(name, name, spec.name, library=library).open(spec, rest)
