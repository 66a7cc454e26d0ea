"""The manifest kinds, and the `Backends` manifest; rules across keys are freeze's.

Descriptions and examples here are also the JSON Schemas' and the advice in error messages. A
dict field (`types`, `attributes`, `options`) is mutable: freeze makes it a tuple of pairs.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from rlx.manifest.backend_models import BackendModel, OverrideModel, ProbeModel
from rlx.manifest.base import FlatValue, ManifestModel, Model, Name, Rank, Scalar
from rlx.manifest.coverage_models import (
    CoverageModel,
    CoverageReference,
    EvidenceModel,
    InlineCoverageModel,
    NdimModel,
    RowModel,
)
from rlx.manifest.operations_models import (
    AttributeModel,
    OperandModel,
    OperationModel,
    OperationsModel,
)
from rlx.manifest.tolerances_models import ToleranceModel, TolerancesModel


class DeviceModel(Model):
    """A kind of hardware."""

    model_config = ConfigDict(title="device")

    id: Name = Field(description="The name that users type, as RLX_DEVICE.", examples=["cuda"])
    name: Name = Field(description="The name that people read.", examples=["CUDA"])
    aliases: tuple[Name, ...] = Field(
        default=(), description="Other names that users may type.", examples=[["nvidia"]]
    )
    masks: tuple[Name, ...] = Field(
        default=(),
        description="The variables by which engines hide such hardware: probes depend on them.",
        examples=[["CUDA_VISIBLE_DEVICES"]],
    )
    pci: tuple[Name, ...] = Field(
        default=(),
        description="What such hardware is on a PCI bus, as `lspci -d` has it: "
        "[vendor]:[device][:class], in hexadecimal, x for any digit.",
        examples=[["10de::03xx"]],
    )


class CapabilityModel(Model):
    """A named yes/no fact about a backend."""

    model_config = ConfigDict(title="capability")

    id: Name = Field(
        description="The name that backends and callers use.", examples=["dynamic_shapes"]
    )
    description: Name = Field(
        description="What a backend that has it can do.",
        examples=["runs one executable at several sizes"],
    )


class RoutingModel(Model):
    """What is asked for where no argument, scope or variable asks."""

    model_config = ConfigDict(title="routing")

    kernel_dispatch: Literal["native", "prefer-native", "common"] | None = Field(
        default=None,
        description="native: no lowering; prefer-native: native where claimed; "
        "common: lower all that can be.",
        examples=["prefer-native"],
    )
    kernel_dispatch_overrides: dict[Name, Literal["native", "prefer-native", "common"]] | None = (
        Field(
            default=None,
            description="The same for single operations, by name.",
            examples=[{"Gelu": "common"}],
        )
    )
    device: Name | None = Field(
        default=None, description="As RLX_DEVICE: devices in order.", examples=["cuda,cpu"]
    )
    backend: Name | None = Field(
        default=None, description="As RLX_BACKEND: a backend's id.", examples=["numpy"]
    )


class BackendsModel(ManifestModel):
    """A Backends manifest: devices, capabilities, backends, overrides and routing."""

    model_config = ConfigDict(title="Backends manifest")

    kind: Literal["Backends"] = Field(description="The manifest's kind.", examples=["Backends"])
    devices: tuple[DeviceModel, ...] = Field(
        default=(), description="Devices.", examples=[[{"id": "dsp", "name": "DSP"}]]
    )
    capabilities: tuple[CapabilityModel, ...] = Field(
        default=(),
        description="Capabilities.",
        examples=[[{"id": "fast_copy", "description": "copies between devices directly"}]],
    )
    backends: tuple[BackendModel, ...] = Field(
        default=(),
        description="Registrations.",
        examples=[[{"id": "mine", "device": "dsp", "rank": 45}]],
    )
    overrides: tuple[OverrideModel, ...] = Field(
        default=(),
        description="Changes to registrations of earlier layers.",
        examples=[[{"id": "numpy", "rank": 5}]],
    )
    routing: RoutingModel | None = Field(
        default=None,
        description="What is asked for where nothing else asks.",
        examples=[{"device": "cpu"}],
    )


KINDS: dict[str, type[ManifestModel]] = {
    "Backends": BackendsModel,
    "Coverage": CoverageModel,
    "Operations": OperationsModel,
    "Tolerances": TolerancesModel,
}

__all__ = [
    "KINDS",
    "AttributeModel",
    "BackendModel",
    "BackendsModel",
    "CapabilityModel",
    "CoverageModel",
    "CoverageReference",
    "DeviceModel",
    "EvidenceModel",
    "FlatValue",
    "InlineCoverageModel",
    "ManifestModel",
    "Model",
    "Name",
    "NdimModel",
    "OperandModel",
    "OperationModel",
    "OperationsModel",
    "OverrideModel",
    "ProbeModel",
    "Rank",
    "RoutingModel",
    "RowModel",
    "Scalar",
    "ToleranceModel",
    "TolerancesModel",
]
