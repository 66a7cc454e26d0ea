"""The decision as plain data: one shape, whatever was decided."""

import json

import jsonschema
import pytest

from rlx.device import DeviceSpec
from rlx.origin import Origin
from rlx.registration import Coverage
from rlx.router import Fact, decide
from rlx.router.document import SCHEMA
from rlx.settings import Request

WHERE = Origin("RLX_DEVICE", layer="environment")


def check(route):
    data = route.to_json()
    jsonschema.validate(data, SCHEMA)
    assert json.loads(json.dumps(data)) == data
    return data


def test_a_selection(make_registry, backend, mlp):
    registry = make_registry(backend("a", rank=1, module="x"), backend("b", rank=2))
    data = check(decide(registry, mlp, Request(), {("a", 0): Fact("no x")}))
    assert (data["backend"], data["device"], data["degraded"]) == ("b", "cpu:0", False)
    assert data["program"] == {"name": "mlp", "digest": mlp.digest, "nodes": 2}
    assert [one["verdict"] for one in data["candidates"]] == ["rejected", "selected"]
    assert data["candidates"][0]["reasons"] == [
        {
            "code": "unavailable",
            "detail": "no x",
            "fix": None,
            "source": "backends.yaml:41:5",
            "data": {"reason": "no x"},
        }
    ]


def test_a_refusal_names_operand_and_dtypes_apart(make_registry, backend, row, mlp):
    registry = make_registry(backend("a", coverage=Coverage((row("MatMul"),))))
    request = Request((DeviceSpec("cpu"),), source=WHERE)
    data = check(decide(registry, mlp, request, {}))
    assert (data["backend"], data["device"]) == (None, None)
    assert data["request"]["source"] == "RLX_DEVICE"
    assert data["candidates"][0]["reasons"][0]["data"] == {
        "kind": "type",
        "node": "mm",
        "operation": "MatMul",
        "operand": "A",
        "got": "bfloat16",
        "allowed": ["float32"],
        "beside": [],
    }


def test_requirements_alone_have_no_program(make_registry, backend, mlp):
    assert (
        check(decide(make_registry(backend("a")), mlp.requirements, Request(), {}))["program"]
        is None
    )


@pytest.mark.parametrize(
    ("got", "plain"), [(b"\xff", "b'\\xff'"), (float("inf"), "inf"), (1.5, 1.5)]
)
def test_attribute_values_that_json_lacks_become_text(make_registry, backend, row, got, plain):
    from rlx.program.types import Requirements, Signature

    rows = row("Relu", attributes=(("alpha", (1,)),))
    registry = make_registry(backend("a", coverage=Coverage((rows,))))
    needs = Requirements((Signature("Relu", (), (("alpha", got),)),), (0,), (1,))
    data = check(decide(registry, needs, Request(), {}))
    assert data["candidates"][0]["reasons"][0]["data"]["got"] == plain


def test_the_schema_is_closed():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, SCHEMA)
