"""The shape of each manifest kind: strict, frozen pydantic models; rules across keys are freeze's."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1)]
Rank = Annotated[int, Field(ge=0, le=4294967295)]
Scalar = str | int | float | bool | None


class Model(BaseModel):
    """Frozen, strict, and closed: an unknown key is an error."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class DeviceModel(Model):
    """A kind of hardware."""

    id: Name
    name: Name
    aliases: tuple[Name, ...] = ()


class CapabilityModel(Model):
    """A named yes/no fact about a backend."""

    id: Name
    description: Name


class NdimModel(Model):
    """An inclusive bound on the number of dimensions of every tensor input."""

    min: Annotated[int, Field(ge=0)] = 0
    max: Annotated[int, Field(ge=0)] | None = None


class RowModel(Model):
    """One group of claims."""

    operations: Annotated[tuple[Name, ...], Field(min_length=1)]
    types: dict[str, Annotated[tuple[Name, ...], Field(min_length=1)]] = {}
    attributes: dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]] = {}
    ndim: NdimModel | None = None


class EvidenceModel(Model):
    """Why a coverage is believed."""

    kind: Literal["measured", "inherited", "declared"]
    engine: str | None = None
    platform: str | None = None
    backend: str | None = None
    """The backend inherited from; required with `inherited`, and only there."""


class InlineCoverageModel(Model):
    """Coverage written inside a backend's registration."""

    rows: tuple[RowModel, ...]
    evidence: EvidenceModel | None = None


class ProbeModel(Model):
    """One check; exactly one of the kinds is given (freeze checks which)."""

    platform: tuple[Name, ...] | None = None
    module: Name | None = None
    version: Name | None = None
    library: Name | None = None
    path: Name | None = None
    call: Name | None = None
    timeout: Annotated[float, Field(gt=0)] | None = None


class BackendModel(Model):
    """One backend's registration."""

    id: Name
    device: Name
    target: Name | None = None
    rank: Rank = 4294967295
    dispatches: bool = False
    reference_oracle: bool = False
    software: bool = False
    enabled: bool = True
    factory: Name | None = None
    install: Name | None = None
    probes: tuple[ProbeModel, ...] = ()
    capabilities: tuple[Name, ...] = ()
    coverage: str | InlineCoverageModel | None = None
    payload_format: Name | None = None
    compiler: Name | None = None
    compiles: str | InlineCoverageModel | None = None
    materializer: Name | None = None
    options: dict[str, Any] = {}
    safe_options: tuple[Name, ...] = ()
    replace: bool = False


class OverrideModel(Model):
    """A change to a registration of an earlier layer; what is absent stays."""

    id: Name
    rank: Rank | None = None
    enabled: bool | None = None
    dispatches: bool | None = None
    capabilities: tuple[Name, ...] | None = None
    options: dict[str, Any] | None = None
    install: Name | None = None
    probes: tuple[ProbeModel, ...] | None = None


class RoutingModel(Model):
    """What is asked for where no argument, scope or variable asks."""

    kernel_dispatch: Literal["native", "prefer-native", "common"] | None = None
    device: Name | None = None
    backend: Name | None = None


class BackendsModel(Model):
    """`kind: Backends`: devices, capabilities, backends, overrides and routing."""

    apiVersion: Literal["rlx/v1"]  # noqa: N815
    kind: Literal["Backends"]
    devices: tuple[DeviceModel, ...] = ()
    capabilities: tuple[CapabilityModel, ...] = ()
    backends: tuple[BackendModel, ...] = ()
    overrides: tuple[OverrideModel, ...] = ()
    routing: RoutingModel | None = None


class CoverageModel(Model):
    """`kind: Coverage`: the claims of one backend, in a file of their own."""

    apiVersion: Literal["rlx/v1"]  # noqa: N815
    kind: Literal["Coverage"]
    evidence: EvidenceModel
    rows: tuple[RowModel, ...]


class OperandModel(Model):
    """A formal input or output."""

    name: Name
    type: Name
    option: Literal["single", "optional", "variadic"] = "single"
    min_arity: Annotated[int, Field(ge=0)] = 1
    """The fewest values a variadic operand takes."""
    homogeneous: bool = True
    """False: each value of a variadic operand may have a dtype of its own."""


class AttributeModel(Model):
    """A formal attribute."""

    name: Name
    type: Name
    required: bool = False
    default: Any = None


class OperationModel(Model):
    """One operation: arity, attributes, type constraints."""

    name: Name
    since: Annotated[int, Field(ge=1)] = 1
    inputs: tuple[OperandModel, ...] = ()
    outputs: tuple[OperandModel, ...] = ()
    attributes: tuple[AttributeModel, ...] = ()
    types: dict[str, Annotated[tuple[Name, ...], Field(min_length=1)]] = {}
    """The dtypes that each type variable may have."""
    deterministic: bool | None = None
    body: bool = False
    """True when ONNX defines the operation by a function body."""


class OperationsModel(Model):
    """`kind: Operations`: a vocabulary."""

    apiVersion: Literal["rlx/v1"]  # noqa: N815
    kind: Literal["Operations"]
    opset: int | None = None
    """The canonical opset of the `ai.onnx` domain; only in the packaged file."""
    operations: tuple[OperationModel, ...]


KINDS: dict[str, type[Model]] = {
    "Backends": BackendsModel,
    "Coverage": CoverageModel,
    "Operations": OperationsModel,
}
