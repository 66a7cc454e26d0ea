"""The shape of the `Tolerances` manifest: where float32 can't meet what ONNX's suite asks for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from rlx.manifest.base import ManifestModel, Model, Name

LOOSEST = 1e-5
"""No absolute tolerance is looser: beyond, an answer would be wrong."""


class ToleranceModel(Model):
    """What some operations are allowed, and why."""

    model_config = ConfigDict(title="tolerance")

    operations: Annotated[tuple[Name, ...], Field(min_length=1)] = Field(
        description="Operations that it holds for.", examples=[["DFT"]]
    )
    rtol: Annotated[float, Field(ge=0, le=1e-3)] = Field(
        description="The difference allowed, relative to the right answer.", examples=[0.001]
    )
    atol: Annotated[float, Field(ge=0, le=LOOSEST)] = Field(
        description="The difference allowed besides, absolute.", examples=[0.000001]
    )
    reason: Name = Field(
        description="Why float32 can't do better.", examples=["sums of products cancel"]
    )


class TolerancesModel(ManifestModel):
    """A Tolerances manifest; only conformance reads it."""

    model_config = ConfigDict(title="Tolerances manifest")

    kind: Literal["Tolerances"] = Field(description="The manifest's kind.", examples=["Tolerances"])
    tolerances: tuple[ToleranceModel, ...] = Field(
        description="Tolerances, with their reasons.",
        examples=[[{"operations": ["DFT"], "rtol": 0.001, "atol": 0.000001, "reason": "sums"}]],
    )
