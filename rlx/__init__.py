"""rlx: a declarative registry of compute backends, and the router on top of it.

Importing this package imports nothing else; each public name is resolved when it is first used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
"""As in `typing`, whose import would cost more than all the rest of this file."""

if TYPE_CHECKING:
    from rlx.artifact.artifact import Artifact, read_artifact
    from rlx.device import Device, DeviceSpec
    from rlx.errors import (
        ArtifactError,
        ConfigError,
        ContractError,
        CorruptArtifact,
        DuplicateBackend,
        ExecutionError,
        ForeignArtifact,
        GraphConsumed,
        GraphError,
        InputError,
        InvalidDevice,
        NoBackend,
        OpenFailed,
        PrecisionError,
        ProgramError,
        RlxError,
        SessionClosed,
        SettingError,
        StaleArtifact,
        Unavailable,
        UnknownBackend,
        UnknownDevice,
        UnsafeProgram,
        UnsupportedFeature,
    )
    from rlx.program import Program, load
    from rlx.program.graph import Graph
    from rlx.registration import Coverage, Probe, Registration, Row
    from rlx.registries import Registry
    from rlx.router import Route
    from rlx.session import Session, route
    from rlx.session.building import (
        build,
        load_artifact,
        materializer,
        target_compiler,
        target_operation_facets,
    )
    from rlx.session.default import (
        acquire,
        acquire_preferred,
        available_devices,
        backend_for,
        default_registry,
        is_available,
        register_backend,
        registered_devices,
        reload,
    )
    from rlx.settings import use

_HOMES = {
    "rlx.artifact.artifact": ("Artifact", "read_artifact"),
    "rlx.session.default": (
        "acquire",
        "acquire_preferred",
        "available_devices",
        "backend_for",
        "default_registry",
        "is_available",
        "register_backend",
        "registered_devices",
        "reload",
    ),
    "rlx.device": ("Device", "DeviceSpec"),
    "rlx.errors": (
        "ArtifactError",
        "ConfigError",
        "ContractError",
        "CorruptArtifact",
        "DuplicateBackend",
        "ExecutionError",
        "ForeignArtifact",
        "GraphConsumed",
        "GraphError",
        "InputError",
        "InvalidDevice",
        "NoBackend",
        "OpenFailed",
        "PrecisionError",
        "ProgramError",
        "RlxError",
        "SessionClosed",
        "SettingError",
        "StaleArtifact",
        "Unavailable",
        "UnknownBackend",
        "UnknownDevice",
        "UnsafeProgram",
        "UnsupportedFeature",
    ),
    "rlx.program": ("Program", "load"),
    "rlx.program.graph": ("Graph",),
    "rlx.registration": ("Coverage", "Probe", "Registration", "Row"),
    "rlx.registries": ("Registry",),
    "rlx.router": ("Route",),
    "rlx.session": ("Session", "route"),
    "rlx.session.building": (
        "build",
        "load_artifact",
        "materializer",
        "target_compiler",
        "target_operation_facets",
    ),
    "rlx.settings": ("use",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604 - the names are those of the table above; a test compares
    "__version__",
    *_MODULES,
]


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'rlx' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
