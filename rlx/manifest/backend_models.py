"""The shape of one backend: its registration, its probes, and overrides of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from rlx.manifest.base import FlatValue, Model, Name, Rank
from rlx.manifest.coverage_models import CoverageReference


class ProbeModel(Model):
    """One cheap check that a backend can work here; exactly one of the kinds is given."""

    model_config = ConfigDict(title="probe")

    platform: tuple[Name, ...] | None = Field(
        default=None, description="Kind: sys.platform is one of these.", examples=[["darwin"]]
    )
    module: Name | None = Field(
        default=None,
        description="Kind: a top-level Python module that is found without importing it.",
        examples=["torch"],
    )
    version: Name | None = Field(
        default=None,
        description="With module: a PEP 440 specifier set that its version must fit.",
        examples=[">=2.4"],
    )
    library: Name | None = Field(
        default=None,
        description="Kind: a shared library that can be loaded.",
        examples=["libcuda.so.1"],
    )
    path: Name | None = Field(
        default=None,
        description="Kind: a path that exists, as a device node.",
        examples=["/dev/kfd"],
    )
    call: Name | None = Field(
        default=None,
        description="Kind: `module:attribute`, called in a child process; gives None or a reason.",
        examples=["rlx.backends.array.torch:probe_cuda"],
    )
    timeout: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="With call: seconds until it is given up.", examples=[10]
    )


class BackendModel(Model):
    """One backend's registration."""

    model_config = ConfigDict(title="backend")

    id: Name = Field(description="The backend's name, unique.", examples=["torch-cuda"])
    device: Name = Field(description="The id of the device that it runs on.", examples=["cuda"])
    target: Name | None = Field(
        default=None,
        description="What the backend compiles for; one provider each. Default: the id.",
        examples=["cuda-torch"],
    )
    rank: Rank = Field(
        default=4294967295,
        description="Precedence: lower wins; absent is last. Equal ranks go by id.",
        examples=[10],
    )
    dispatches: bool = Field(
        default=False,
        description="True: it executes programs and returns outputs; false: it only emits code.",
        examples=[True],
    )
    reference_oracle: bool = Field(
        default=False,
        description="True: the definition of the right answer; never chosen implicitly.",
        examples=[False],
    )
    software: bool = Field(
        default=False,
        description="True: a CPU emulates the device; never chosen implicitly.",
        examples=[False],
    )
    enabled: bool = Field(
        default=True, description="False: registered, but never chosen.", examples=[True]
    )
    factory: Name | None = Field(
        default=None,
        description="`module:attribute` that opens the backend on one device.",
        examples=["rlx.backends.array.torch:open_cuda"],
    )
    install: Name | None = Field(
        default=None,
        description="What to do where the engine is missing.",
        examples=["pip install 'rlx[torch]'"],
    )
    probes: tuple[ProbeModel, ...] = Field(
        default=(),
        description="Checks that it can work here, in order; the first reason stops.",
        examples=[[{"module": "torch", "version": ">=2.4"}]],
    )
    capabilities: tuple[Name, ...] = Field(
        default=(), description="Ids of capabilities that it has.", examples=[["dynamic_shapes"]]
    )
    coverage: CoverageReference | None = Field(
        default=None,
        description="What it claims: a path below this file's folder, or the rows themselves.",
        examples=["coverage/torch-cuda.yaml"],
    )
    payload_format: Name | None = Field(
        default=None, description="What the compiler emits; with compiler.", examples=["pt2"]
    )
    compiler: Name | None = Field(
        default=None,
        description="`module:attribute` that compiles programs; with payload_format.",
        examples=["rlx.backends.array.torch:compile_program"],
    )
    compiles: CoverageReference | None = Field(
        default=None,
        description="What the compiler claims, as coverage; never inferred from coverage.",
        examples=["coverage/torch-compiler.yaml"],
    )
    materializer: Name | None = Field(
        default=None,
        description="`module:attribute` that turns a payload into an executable.",
        examples=["rlx.backends.array.torch:materialize"],
    )
    options: dict[Name, FlatValue] = Field(
        default={}, description="Options for the factory.", examples=[{"cuda_graphs": True}]
    )
    safe_options: tuple[Name, ...] = Field(
        default=(),
        description="The options that a project file may set without being trusted.",
        examples=[["cuda_graphs"]],
    )
    replace: bool = Field(
        default=False,
        description="True: it may take the place of an earlier layer's backend of the same id.",
        examples=[True],
    )


class OverrideModel(Model):
    """A change to a registration of an earlier layer; what is absent stays."""

    model_config = ConfigDict(title="override")

    id: Name = Field(description="The backend to change.", examples=["onnxruntime-cpu"])
    rank: Rank | None = Field(default=None, description="The new rank.", examples=[5])
    enabled: bool | None = Field(default=None, description="False: never chosen.", examples=[False])
    dispatches: bool | None = Field(
        default=None, description="The new value of dispatches.", examples=[True]
    )
    capabilities: tuple[Name, ...] | None = Field(
        default=None, description="All capabilities, anew.", examples=[["deterministic"]]
    )
    options: dict[Name, FlatValue] | None = Field(
        default=None, description="Merged by key.", examples=[{"cuda_graphs": False}]
    )
    install: Name | None = Field(
        default=None,
        description="What to do where the engine is missing.",
        examples=["pip install 'rlx[torch]'"],
    )
    probes: tuple[ProbeModel, ...] | None = Field(
        default=None, description="All probes, anew.", examples=[[{"module": "torch"}]]
    )
    coverage: CoverageReference | None = Field(
        default=None,
        description="All that is claimed, anew: a Coverage file below this file's folder, or "
        "inline.",
        examples=["coverage/onnxruntime-cpu.yaml"],
    )
