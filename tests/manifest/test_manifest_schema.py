"""The JSON Schemas: up to date, and of one mind with the models."""

import json
import typing
from pathlib import Path

import jsonschema
import pytest
import yaml
from pydantic import ValidationError

from rlx import resources
from rlx.manifest import models as models_module
from rlx.manifest import parse, schema
from rlx.manifest.models import KINDS

MANIFESTS = Path(__file__).parent.parent / "manifests"
VALID = sorted(MANIFESTS.glob("valid/*.yaml"))
SHAPE = sorted(MANIFESTS.glob("invalid/shape/*.yaml"))
SYNTAX = sorted(MANIFESTS.glob("invalid/syntax/*.yaml"))
SCHEMAS = schema.schemas()


def kind_of(tree: object) -> str:
    kind = tree.get("kind") if isinstance(tree, dict) else None
    return kind if isinstance(kind, str) and kind in KINDS else "Backends"


def accepted_by_schema(tree: object) -> bool:
    return jsonschema.Draft202012Validator(SCHEMAS[kind_of(tree).lower()]).is_valid(tree)


def accepted_by_model(tree: object) -> bool:
    try:
        KINDS[kind_of(tree)].model_validate_json(json.dumps(tree))
    except ValidationError:
        return False
    return True


def tree_of(path: Path) -> object:
    document = parse(path.read_bytes(), path.name)
    return json.loads(json.dumps(document.root.plain()))


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_what_rlx_accepts_the_schema_and_strict_json_accept(path):
    tree = tree_of(path)
    assert accepted_by_schema(tree)
    assert accepted_by_model(tree)


def test_of_wrong_shapes_the_schema_accepts_only_an_integer_written_as_a_float():
    """JSON Schema calls 50.0 an integer; rlx does not."""
    assert {path.stem for path in SHAPE if accepted_by_schema(tree_of(path))} == {"rank-float"}
    assert [path.stem for path in SHAPE if accepted_by_model(tree_of(path))] == []


def test_what_json_schema_cannot_express_is_refused_by_the_parser_alone():
    """Read by a YAML 1.1 parser, these pass the schema: its user is not warned."""
    passing = set()
    for path in SYNTAX:
        try:
            tree = yaml.safe_load(path.read_bytes())
        except (yaml.YAMLError, ValueError):
            continue
        if accepted_by_schema(tree):
            passing.add(path.stem)
    assert passing == PASSING


PASSING = {
    "ambiguous-binary",
    "ambiguous-exponent-unsigned",
    "ambiguous-key-on",
    "ambiguous-leading-zeros",
    "ambiguous-loose",
    "ambiguous-negative-point",
    "ambiguous-octal",
    "ambiguous-on-off",
    "ambiguous-sexagesimal",
    "ambiguous-underscore",
    "ambiguous-underscore-float",
    "ambiguous-y-n",
    "ambiguous-yes",
    "anchor",
    "control-escape-c1",
    "control-escape-esc",
    "control-escape-key",
    "control-escape-nel",
    "control-escape-nul",
    "directive-tag",
    "directive-unknown",
    "directive-yaml",
    "duplicate-key",
    "duplicate-key-flow",
    "duplicate-key-quoted",
    "duplicate-key-three",
    "escape-surrogate",
    "key-boolean",
    "key-integer",
    "key-null",
    "line-nel",
    "merge-key",
    "merge-key-alias",
    "not-finite-inf",
    "not-finite-nan",
    "not-finite-overflow",
    "not-finite-plus-inf",
    "tag-not-specific",
    "utf16-be",
    "utf16-le",
}


def test_the_files_are_up_to_date():
    assert schema.check(resources.schemas()) == [], schema.FIX


def test_check_names_what_is_missing_or_stale(tmp_path):
    schema.write(tmp_path)
    assert schema.check(tmp_path) == []
    (tmp_path / "coverage.schema.json").write_text("{}", encoding="utf-8")
    (tmp_path / "backends.schema.json").unlink()
    assert schema.check(tmp_path) == ["backends.schema.json", "coverage.schema.json"]


def properties(body: object, name: str = ""):
    """Every property of a schema, with its name."""
    if isinstance(body, dict):
        for key, one in body.get("properties", {}).items():
            yield key, one
        for key, one in body.items():
            yield from properties(one, key)
    elif isinstance(body, list):
        for one in body:
            yield from properties(one, name)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_valid_closed_and_names_no_machine(name):
    body = SCHEMAS[name]
    jsonschema.Draft202012Validator.check_schema(body)
    assert body["$id"] == f"urn:rlx:schema:v1:{name}"
    for one in (body, *body["$defs"].values()):
        assert one["additionalProperties"] is False
        assert one["title"]
        assert one["description"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_has_a_description_and_examples_that_fit_it(name):
    body = SCHEMAS[name]
    for key, one in properties(body):
        assert one["description"].endswith("."), key
        assert one["examples"], key
        for example in one["examples"]:
            validator = jsonschema.Draft202012Validator({**one, "$defs": body["$defs"]})
            assert validator.is_valid(example), (key, example)


def choices(annotation):
    """The values of every Literal in a type."""
    if typing.get_origin(annotation) is typing.Literal:
        return set(typing.get_args(annotation))
    return {one for part in typing.get_args(annotation) for one in choices(part)}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_closed_choice_is_offered_to_editors(name):
    body = SCHEMAS[name]
    models = {one.__name__: one for one in vars(models_module).values() if isinstance(one, type)}
    root = next(one for kind, one in KINDS.items() if kind.lower() == name)
    for model, described in [
        (root, body),
        *((models[key], one) for key, one in body["$defs"].items()),
    ]:
        for key, field in model.model_fields.items():
            offered = json.dumps(described["properties"][key])
            for choice in choices(field.annotation):
                assert json.dumps(choice) in offered, (model, key)
            if choices(field.annotation):
                assert '"enum"' in offered or '"const"' in offered


def test_a_model_is_frozen():
    model = KINDS["Backends"].model_validate({"apiVersion": "rlx/v1", "kind": "Backends"})
    with pytest.raises(ValidationError, match="frozen"):
        model.kind = "Coverage"
