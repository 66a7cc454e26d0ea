"""What all manifest models share: the base class, and the types of single values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

Name = Annotated[str, Field(min_length=1)]
Rank = Annotated[int, Field(ge=0, le=4294967295)]
Scalar = str | int | float | bool | None

_SCALARS = (str, int, float, type(None))


class Model(BaseModel):
    """Frozen, strict, and closed: an unknown key is an error. Built when first used."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


class ManifestModel(Model):
    """A whole manifest."""

    apiVersion: Literal["rlx/v1"] = Field(  # noqa: N815 - the name that other tools' files use
        description="The version of the manifest format.", examples=["rlx/v1"]
    )
    kind: str = Field(description="The manifest's kind.")


def _flat(value: Any) -> Any:
    """A scalar, or a list of scalars as a tuple; nothing else, so nothing mutable."""
    if isinstance(value, (list, tuple)):
        if all(isinstance(item, _SCALARS) for item in value):
            return tuple(value)
    elif isinstance(value, _SCALARS):
        return value
    raise PydanticCustomError("flat_value", "neither a scalar nor a list of scalars")


_SCALAR_TYPES = ["string", "number", "boolean", "null"]
FlatValue = Annotated[
    Any,
    AfterValidator(_flat),
    WithJsonSchema(
        {"anyOf": [{"type": _SCALAR_TYPES}, {"type": "array", "items": {"type": _SCALAR_TYPES}}]}
    ),
]
"""A scalar, or a list of scalars: an option's value, an attribute's value."""
