"""onnxruntime with other providers, plugins and assignments than it has here."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

CPU = "CPUExecutionProvider"
REFUSAL = (
    "This session contains graph nodes that are assigned to the default CPU EP, but fallback to "
    "CPU EP has been explicitly disabled by the user."
)


def part(provider: str, *nodes: tuple[str, str]) -> Any:
    """One part of a graph as the engine tells it: a provider, and its nodes' names and types."""
    made = [SimpleNamespace(name=name, op_type=kind, domain="") for name, kind in nodes]
    return SimpleNamespace(ep_name=provider, get_nodes=lambda: made)


def plugin_device(provider: str, kind: str = "NPU") -> Any:
    """A device as a plugin lists it."""
    hardware = SimpleNamespace(type=SimpleNamespace(name=kind), vendor="A maker", metadata={})
    metadata = {"library_path": "/plugin.so"}
    return SimpleNamespace(ep_name=provider, ep_metadata=metadata, device=hardware)


class Engine:
    """onnxruntime, but for what is given here; `InferenceSession` is made of it."""

    def __init__(
        self,
        available: list[str],
        used: list[str] | None = None,
        parts: list[Any] | None = None,
        *,
        devices: list[Any] | None = None,
        refuses: bool = False,
    ):
        self.__version__ = "1.20.0"
        self.available, self.devices = available, devices or []
        self.made: list[dict[str, Any]] = []
        self.registered: list[tuple[str, str]] = []
        outer = self

        class InferenceSession:
            def __init__(self, model: bytes, options: Any, **arguments: Any):
                alone = _alone(options)
                outer.made.append({"alone": alone, **arguments})
                if refuses and alone:
                    raise RuntimeError(REFUSAL)

            def get_providers(self) -> list[str]:
                return used or [CPU]

            def get_provider_graph_assignment_info(self) -> list[Any]:
                return parts or []

            def get_inputs(self) -> list[Any]:
                return [SimpleNamespace(name=name) for name in "xy"]

            def run(self, names: Any, feeds: dict[str, Any]) -> list[Any]:
                return [sum(feeds.values())]

        self.InferenceSession = InferenceSession

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("onnxruntime.capi._pybind_state"), name)

    def get_available_providers(self) -> list[str]:
        return self.available

    def get_ep_devices(self) -> list[Any]:
        return self.devices if self.registered else []

    def register_execution_provider_library(self, name: str, path: str) -> None:
        self.registered.append((name, path))


def _alone(options: Any) -> bool:
    try:
        return bool(options.get_session_config_entry("session.disable_cpu_ep_fallback") == "1")
    except Exception:  # noqa: BLE001 - the engine raises where nothing was set
        return False
