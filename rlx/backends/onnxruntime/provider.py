"""An execution provider as one registration names it: how it is probed, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rlx.backends.protocol import Found
from rlx.errors import RlxError, SettingError, Unavailable, said, told
from rlx.spelling import nearest

if TYPE_CHECKING:
    from rlx.backends.onnxruntime.backend import OnnxRuntime
    from rlx.device import DeviceSpec

CPU = "CPUExecutionProvider"
READS_BACK = "get_provider_graph_assignment_info"
"""The method of a session that says which provider has which node."""
_settled: dict[str, Mapping[str, str]] = {}
"""By backend, the settings that hold in this process from its first session on."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One device of a provider, as a session asks for it."""

    settings: Mapping[str, str]
    device: Any = None
    """The `OrtEpDevice` of a plugin; None: the provider is built in."""
    computes: str | None = None
    """The dtype, or `tf32`, that it computes float32 in; None: as the program says."""
    software: bool = False
    detail: str = ""


Place = Callable[[Any, "Provider", int, Mapping[str, str]], Placed]
"""Finds a device by its index, with the provider's options; raises Unavailable."""


def by_index(engine: Any, provider: Provider, index: int, settings: Mapping[str, str]) -> Placed:
    """For providers that take the index of a device, or have only one."""
    devices = plugin_devices(engine, provider)
    if devices is None:
        numbered = {"device_id": str(index)} if provider.numbered else {}
        if index and not provider.numbered:
            raise provider.lacks(index)
        return Placed({**settings, **provider.fixed, **numbered}, computes=provider.computes)
    if index >= len(devices):
        raise provider.lacks(index, len(devices))
    found = devices[index]
    detail = str(found.device.metadata.get("Description") or found.device.vendor or "")
    return Placed({**settings, **provider.fixed}, found, provider.computes, detail=detail)


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider; `open` and `probe` are what a registration names."""

    id: str
    """The backend's id."""
    name: str
    """The provider's name in onnxruntime."""
    device: str
    """The device's id."""
    keys: tuple[str, ...] = ()
    """The options that it takes, and that leave its precision and its device alone."""
    ours: Mapping[str, str] = field(default_factory=dict)
    """The options that rlx sets or leaves alone, and what to do instead of setting them."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """What rlx sets."""
    session: Mapping[str, str] = field(default_factory=dict)
    """What rlx sets of the session itself."""
    place: Place = by_index
    numbered: bool = False
    """Whether it takes `device_id`."""
    package: str | None = None
    """The distribution that has it, in place of onnxruntime."""
    plugin: str | None = None
    """The Python module of the plugin that has it, where it is not built in."""
    library: str | None = None
    """The path of the plugin's library, where there is no module that knows it."""
    hardware: tuple[str, ...] = ()
    """The kinds of a plugin's devices (`CPU`, `GPU`, `NPU`) that are meant; empty: all."""
    computes: str | None = None
    """The dtype, or `tf32`, that it computes float32 in; None: as the program says."""
    sticky: bool = False
    """Whether the settings of the first session hold until the process ends."""

    def open(self, spec: DeviceSpec, options: Mapping[str, object]) -> OnnxRuntime:
        """Open one of its devices.

        Raises:
            SettingError: an option that the provider does not know, or that rlx sets itself.
            Unavailable: this onnxruntime has no such provider, or the provider no such device.
        """
        from rlx.backends.forks import refuse_forked
        from rlx.backends.onnxruntime.backend import OnnxRuntime
        from rlx.backends.onnxruntime.engine import import_engine
        from rlx.backends.onnxruntime.options import checked

        session, settings = checked(self.id, options, self.keys, self.ours)
        if self.name != CPU:
            refuse_forked(self.id)
        engine = import_engine()
        placed = self.placed(engine, spec.index or 0, settings)
        self._settle(placed.settings)
        if self.name != CPU and (wrong := self._wrong(engine, placed)) is not None:
            raise Unavailable(f"{self.id} cannot use {spec}: {wrong}", fix="see `rlx devices`.")
        return OnnxRuntime(engine, self, placed, session)

    def probe(self, index: int) -> Found | str:
        """What the device is, or why onnxruntime can't use it: a sum is computed on it.

        To be called in a process of its own.
        """
        from rlx.backends.onnxruntime.engine import import_engine

        try:
            engine = import_engine()
            placed = self.placed(engine, index, {})
        except RlxError as error:
            return error.message
        except Exception as error:  # noqa: BLE001 - whatever a driver says is the reason
            return told(error)
        wrong = self._wrong(engine, placed)
        return Found(placed.software, placed.detail) if wrong is None else wrong

    def _wrong(self, engine: Any, placed: Placed) -> str | None:
        """What is wrong with the device: a sum is computed on it."""
        from rlx.backends.onnxruntime.trial import tried

        try:
            return tried(engine, self, placed)
        except RlxError as error:
            return error.message
        except Exception as error:  # noqa: BLE001 - whatever a driver says is the reason
            return told(error)

    def placed(self, engine: Any, index: int, settings: Mapping[str, str]) -> Placed:
        """The device of this index.

        Raises:
            Unavailable: there is none, or no such provider; or it can't be read back what runs
                where.
        """
        if self.name != CPU and not hasattr(engine.InferenceSession, READS_BACK):
            raise Unavailable(
                f"onnxruntime {engine.__version__} can't say which provider has which node",
                fix="install onnxruntime 1.24 or newer.",
            )
        return self.place(engine, self, index, settings)

    def lacks(self, index: int, count: int = 1) -> Unavailable:
        """The error for a device that is not there."""
        device = self.device
        if count == 1:
            return Unavailable(
                f"{self.id} has only {device}:0, got {device}:{index}", fix=f"ask for {device}."
            )
        return Unavailable(
            f"{self.id} finds {count} devices, none of index {index}", fix="see `rlx devices`."
        )

    def _settle(self, settings: Mapping[str, str]) -> None:
        if not self.sticky:
            return
        first = _settled.setdefault(self.id, dict(settings))
        if first != settings:
            raise SettingError(
                f"{self.id} was opened in this process with {_shown(first)}, which holds until "
                f"the process ends; got {_shown(settings)}",
                fix="use the same options, or another process.",
            )


def plugin_devices(engine: Any, provider: Provider) -> list[Any] | None:
    """The devices of the provider's plugin, of the kinds that are meant; None: it is built in.

    Raises:
        Unavailable: the provider is neither built in nor found in a plugin.
    """
    found = _listed(engine, provider)
    available = engine.get_available_providers()
    if not found and provider.name in available:
        return None
    path = provider.library
    if path is None and provider.plugin is not None:
        from importlib import import_module

        try:
            path = import_module(provider.plugin).get_library_path()
        except ModuleNotFoundError:
            path = None
    if not found:
        if path is None:
            raise _missing(provider, available)
        _register(engine, provider, path)
        found = _listed(engine, provider)
    if not found:
        plugins = [one for one in engine.get_ep_devices() if "library_path" in one.ep_metadata]
        near = nearest(provider.name, sorted({one.ep_name for one in plugins}))
        fix = f"did you mean {near!r}?" if near else "it finds none of the hardware it is for."
        raise Unavailable(f"{path} has no device of {provider.name} here", fix=fix)
    kinds = [one.device.type.name for one in found]
    meant = [
        one
        for one, kind in zip(found, kinds, strict=True)
        if not provider.hardware or kind in provider.hardware
    ]
    if not meant:
        raise Unavailable(
            f"{provider.name} has devices of kind {', '.join(sorted(set(kinds)))} here, "
            f"none of kind {' or '.join(provider.hardware)}",
            fix="see `rlx devices`.",
        )
    return meant


def _listed(engine: Any, provider: Provider) -> list[Any]:
    """The devices that a plugin lists, and no built-in provider: those have no library."""
    return [
        one
        for one in engine.get_ep_devices()
        if one.ep_name == provider.name and "library_path" in one.ep_metadata
    ]


def _register(engine: Any, provider: Provider, path: str) -> None:
    """Load a plugin, once for the process."""
    try:
        engine.register_execution_provider_library(provider.name, path)
    except Exception as error:
        if "already registered" not in str(error):
            raise Unavailable(
                f"onnxruntime {engine.__version__} can't load {path}: {said(error)}",
                fix="install a plugin that was built for it.",
            ) from error


def _missing(provider: Provider, available: list[str]) -> Unavailable:
    known = ", ".join(available)
    near = nearest(provider.name, available)
    if near is not None:
        return Unavailable(
            f"onnxruntime has no {provider.name}, it has {known}", fix=f"did you mean {near!r}?"
        )
    where = [provider.package] if provider.package else []
    where += [provider.plugin.replace("_", "-")] if provider.plugin else []
    has = f"; {' and '.join(where)} {'have' if len(where) > 1 else 'has'} it" if where else ""
    return Unavailable(
        f"this onnxruntime was built without {provider.name}, it has {known}{has}",
        fix="see `rlx backends` for what to install.",
    )


def _shown(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(settings.items())) or "no options"
