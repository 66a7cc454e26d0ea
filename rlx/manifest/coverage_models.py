"""The shape of coverage: rows, evidence, and the `Coverage` manifest."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from rlx.manifest.base import FlatValue, ManifestModel, Model, Name

PATH_TAG = "\0path"
INLINE_TAG = "\0inline"
"""Tags stand in pydantic's error paths: with a NUL, which no key can hold, they are told apart."""


class NdimModel(Model):
    """An inclusive bound on the number of dimensions of every tensor input."""

    model_config = ConfigDict(title="ndim bound")

    min: Annotated[int, Field(ge=0)] = Field(
        default=0, description="The fewest dimensions.", examples=[1]
    )
    max: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="The most dimensions; null or absent: no bound.", examples=[4]
    )


class RowModel(Model):
    """One group of claims: each of the operations, at each of these types, attributes and ndims."""

    model_config = ConfigDict(title="coverage row")

    operations: Annotated[tuple[Name, ...], Field(min_length=1)] = Field(
        description="Operations that the row is about; `Name` in ai.onnx, else `domain::Name`.",
        examples=[["Add", "Mul"]],
    )
    types: dict[Name, Annotated[tuple[Name, ...], Field(min_length=1)]] = Field(
        default={},
        description="The dtypes claimed for each type variable that the operation's schema leaves "
        "open; an operand that is left out needs its variable too.",
        examples=[{"T": ["float32", "float64"]}],
    )
    attributes: dict[Name, Annotated[tuple[FlatValue, ...], Field(min_length=1)]] = Field(
        default={},
        description="The values claimed for an attribute; one not named may have any value. A "
        "list-valued attribute is written as a list in the list; null: omitted, without default.",
        examples=[{"mode": ["constant", "edge"]}],
    )
    ndim: NdimModel | None = Field(
        default=None,
        description="Bounds the number of dimensions of every tensor input.",
        examples=[{"max": 4}],
    )


class EvidenceModel(Model):
    """Why a coverage is believed."""

    model_config = ConfigDict(title="evidence")

    kind: Literal["measured", "inherited", "declared"] = Field(
        description="measured: by running it; inherited: from another backend; declared: by its "
        "author.",
        examples=["declared"],
    )
    engine: Name | None = Field(
        default=None,
        description="The engine and its version that the evidence was taken with.",
        examples=["onnxruntime 1.32.0"],
    )
    platform: Name | None = Field(
        default=None,
        description="The platform that the evidence was taken on.",
        examples=["linux-x86_64"],
    )
    backend: Name | None = Field(
        default=None,
        description="The id of the backend inherited from; with inherited, and only there.",
        examples=["onnxruntime-cpu"],
    )


class InlineCoverageModel(Model):
    """Coverage written inside a backend's registration."""

    model_config = ConfigDict(title="coverage")

    rows: tuple[RowModel, ...] = Field(
        description="What is claimed; an operation in several rows has alternatives.",
        examples=[[{"operations": ["Add"], "types": {"T": ["float32"]}}]],
    )
    evidence: EvidenceModel | None = Field(
        default=None,
        description="Why the claims are believed; absent: declared.",
        examples=[{"kind": "declared"}],
    )


def _tag(value: Any) -> str | None:
    if isinstance(value, str):
        return PATH_TAG
    return INLINE_TAG if isinstance(value, (dict, InlineCoverageModel)) else None


CoverageReference = Annotated[
    Annotated[Name, Tag(PATH_TAG)] | Annotated[InlineCoverageModel, Tag(INLINE_TAG)],
    Discriminator(_tag),
]
"""A path below the folder of the file that names it, or the coverage itself."""


class CoverageModel(ManifestModel):
    """A Coverage manifest: the claims of one backend, in a file of their own."""

    model_config = ConfigDict(title="Coverage manifest")

    kind: Literal["Coverage"] = Field(description="The manifest's kind.", examples=["Coverage"])
    evidence: EvidenceModel = Field(
        description="Why the claims are believed.", examples=[{"kind": "declared"}]
    )
    rows: tuple[RowModel, ...] = Field(
        description="What is claimed; an operation in several rows has alternatives.",
        examples=[[{"operations": ["Add"], "types": {"T": ["float32"]}}]],
    )
    inherits: Name | None = Field(
        default=None,
        description="Another Coverage file, by its path below this file's folder, whose rows are "
        "claimed as well; the evidence is then inherited.",
        examples=["torch-cpu.yaml"],
    )
    without: tuple[Name, ...] | None = Field(
        default=None,
        description="Operations that are not inherited; with inherits, and only there.",
        examples=[["DFT"]],
    )
    without_dtypes: tuple[Name, ...] | None = Field(
        default=None,
        description="dtypes that are not inherited, nor sequences, optionals and maps of them; "
        "with inherits, and only there.",
        examples=[["float64", "string"]],
    )
