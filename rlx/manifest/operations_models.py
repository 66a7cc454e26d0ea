"""The shape of the `Operations` manifest: a vocabulary of operations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from rlx.manifest.base import FlatValue, ManifestModel, Model, Name


class OperandModel(Model):
    """A formal input or output."""

    model_config = ConfigDict(title="operand")

    name: Name = Field(description="The operand's name.", examples=["X"])
    type: Name = Field(
        description="A type variable, or the one dtype that the operand has.",
        examples=["T", "int64"],
    )
    option: Literal["single", "optional", "variadic"] = Field(
        default="single", description="How often the operand occurs.", examples=["optional"]
    )
    min_arity: Annotated[int, Field(ge=0)] = Field(
        default=1, description="The fewest values that a variadic operand takes.", examples=[1]
    )
    homogeneous: bool = Field(
        default=True,
        description="False: each value of a variadic operand may have a dtype of its own.",
        examples=[False],
    )


class AttributeModel(Model):
    """A formal attribute."""

    model_config = ConfigDict(title="attribute")

    name: Name = Field(description="The attribute's name.", examples=["axis"])
    type: Name = Field(
        description="ONNX's name of the attribute's type.", examples=["INT", "FLOATS", "GRAPH"]
    )
    required: bool = Field(
        default=False, description="True: every node writes it.", examples=[True]
    )
    default: FlatValue = Field(
        default=None, description="What a node that omits it means; null: nothing.", examples=[-1]
    )


class OperationModel(Model):
    """One operation: arity, attributes, type constraints."""

    model_config = ConfigDict(title="operation")

    name: Name = Field(
        description="`Name` in the ai.onnx domain, `domain::Name` elsewhere.", examples=["Conv"]
    )
    since: Annotated[int, Field(ge=1)] = Field(
        default=1, description="The opset version that this schema came with.", examples=[13]
    )
    inputs: tuple[OperandModel, ...] = Field(
        default=(), description="Inputs, in order.", examples=[[{"name": "X", "type": "T"}]]
    )
    outputs: tuple[OperandModel, ...] = Field(
        default=(), description="Outputs, in order.", examples=[[{"name": "Y", "type": "T"}]]
    )
    attributes: tuple[AttributeModel, ...] = Field(
        default=(), description="Attributes.", examples=[[{"name": "axis", "type": "INT"}]]
    )
    types: dict[Name, Annotated[tuple[Name, ...], Field(min_length=1)]] = Field(
        default={},
        description="The dtypes that each type variable may have.",
        examples=[{"T": ["float16", "float32"]}],
    )
    deterministic: bool | None = Field(
        default=None,
        description="False: the same inputs may give other results; null: ONNX does not say.",
        examples=[True],
    )
    body: bool = Field(
        default=False,
        description="True: ONNX defines the operation by a function body.",
        examples=[True],
    )
    lowering: Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="The body of an ONNX function, in ONNX's text syntax: a node a line. Where a "
        "backend does not claim the operation, its nodes take its place.",
        examples=["gate = Sigmoid (x)\ny = Mul (x, gate)\n"],
    )


class OperationsModel(ManifestModel):
    """An Operations manifest: the vocabulary that coverage is checked against."""

    model_config = ConfigDict(title="Operations manifest")

    kind: Literal["Operations"] = Field(description="The manifest's kind.", examples=["Operations"])
    opset: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="The canonical opset of the ai.onnx domain; only in the packaged file.",
        examples=[28],
    )
    operations: tuple[OperationModel, ...] = Field(
        description="The operations.",
        examples=[[{"name": "acme::Fft", "inputs": [{"name": "X", "type": "float32"}]}]],
    )
