"""The JSON Schema of each manifest kind, generated from the models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from rlx.manifest.models import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from rlx.manifest.models import ManifestModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FIX = "run `rlx schema --write`."
"""What to do about a stale file."""


def schemas() -> dict[str, dict[str, Any]]:
    """Each kind's schema, by the name that its file has: `backends`, `coverage`, `operations`."""
    return {kind.lower(): _schema(kind) for kind in KINDS}


def render(schema: dict[str, Any]) -> str:
    """The schema as its file holds it."""
    return json.dumps(schema, indent=2, ensure_ascii=True) + "\n"


def write(folder: Path) -> None:
    """Write every kind's schema into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        (folder / f"{name}.schema.json").write_text(render(schema), encoding="utf-8", newline="\n")


def check(folder: Path) -> list[str]:
    """The names of the files in the folder that are missing or not up to date."""
    stale = []
    for name, schema in schemas().items():
        file = folder / f"{name}.schema.json"
        if not file.is_file() or file.read_bytes() != render(schema).encode():
            stale.append(file.name)
    return stale


def _schema(kind: str) -> dict[str, Any]:
    body = describe(KINDS[kind])
    _tidy(body)
    identity = f"urn:rlx:schema:v1:{kind.lower()}"
    return {"$schema": DIALECT, "$id": identity, **body}


def describe(model: type[ManifestModel]) -> dict[str, Any]:
    """A model's JSON Schema as pydantic makes it, with keys in the order of the fields."""
    return model.model_json_schema(schema_generator=_InOrder)


class _InOrder(GenerateJsonSchema):
    def sort(
        self,
        value: JsonSchemaValue,
        parent_key: str | None = None,  # noqa: ARG002 - pydantic's signature
    ) -> JsonSchemaValue:
        """Leave the order as it is: an example starts with its id."""
        return value


def _tidy(schema: Any) -> None:
    """Drop what pydantic makes up: a title that repeats the key's name, a default of null."""
    if isinstance(schema, list):
        for one in schema:
            _tidy(one)
    elif isinstance(schema, dict):
        for name, one in schema.get("properties", {}).items():
            if one.get("title", "").replace(" ", "_").lower() == name.lower():
                del one["title"]
            if one.get("default", ...) is None:
                del one["default"]
        for one in schema.values():
            _tidy(one)
