"""A route as plain data, and the JSON Schema of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.router.verdicts import CODES

if TYPE_CHECKING:
    from rlx.origin import Origin
    from rlx.router import Route
    from rlx.router.verdicts import Candidate, Reason


def to_json(route: Route) -> dict[str, Any]:
    """The decision, in decision order; the same keys whatever was decided."""
    program, request = route.program, route.request
    return {
        "program": None
        if program is None
        else {"name": program.name, "digest": program.digest, "nodes": program.node_count},
        "backend": route.backend,
        "device": None if route.device is None else str(route.device),
        "degraded": route.degraded,
        "registry": route.question.registry.digest,
        "request": {
            "devices": [str(spec) for spec in request.devices],
            "backend": request.backend,
            "source": _place(request.source),
            "disabled": list(request.disabled),
            "precedence": list(request.precedence),
            "require": list(request.require),
            "kernel_dispatch": request.kernel_dispatch,
            "precision": request.precision,
            "precision_policy": request.precision_policy,
        },
        "dispatch": None
        if route.backend is None or program is None
        else route.dispatch_report.to_json(),
        "candidates": [_candidate(route, one) for one in route.candidates],
    }


def _candidate(route: Route, one: Candidate) -> dict[str, Any]:
    registration = route.question.registry.get(one.backend)
    return {
        "backend": one.backend,
        "device": one.device,
        "rank": one.rank,
        "rank_source": _place(registration.source("rank")) if registration else None,
        "verdict": one.verdict,
        "reasons": [_reason(reason) for reason in one.reasons],
    }


def _reason(reason: Reason) -> dict[str, Any]:
    return {
        "code": reason.code,
        "detail": reason.detail,
        "fix": reason.fix,
        "source": _place(reason.source),
        "data": _data(reason.data),
    }


def _data(pairs: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """A reason's data; what a lowering lacks is data of the same form."""
    return {
        key: [_data(piece) for piece in value] if key == "lowering" else _plain(value)
        for key, value in pairs
    }


def _place(origin: Origin | None) -> str | None:
    return str(origin) or None if origin is not None else None


def _plain(value: Any) -> Any:
    """A value of a reason's data as JSON has it; what JSON lacks (bytes, infinity) as its text."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else repr(value)


def _closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT = {"type": "string"}
_MAYBE = {"type": ["string", "null"]}
_COUNT = {"type": "integer", "minimum": 0}
_DISPATCH = {
    "type": "string",
    "pattern": "^(native|prefer-native|common)(,[^,=]+=(native|prefer-native|common))*$",
}
_OPERATIONS = _list(_closed(operation=_TEXT, nodes=_COUNT))
_REPORT = _closed(
    backend=_TEXT,
    kernel_dispatch=_DISPATCH,
    compile_ready={"type": "boolean"},
    nodes=_COUNT,
    paths=_closed(native=_COUNT, lowered=_COUNT, missing=_COUNT),
    operations=_list(
        _closed(operation=_TEXT, path={"enum": ["native", "lowered", "missing"]}, nodes=_COUNT)
    ),
    lowered=_list(_closed(operation=_TEXT, became=_OPERATIONS)),
    executed=_OPERATIONS,
    stages=_COUNT,
    missing=_list(_closed(index=_COUNT, node=_TEXT, operation=_TEXT, detail=_TEXT, source=_MAYBE)),
)

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "rlx route: the decision for one program, with every candidate's reasons",
    **_closed(
        program={"anyOf": [{"type": "null"}, _closed(name=_TEXT, digest=_TEXT, nodes=_COUNT)]},
        backend=_MAYBE,
        device=_MAYBE,
        degraded={"type": "boolean"},
        registry=_TEXT,
        request=_closed(
            devices=_list(_TEXT),
            backend=_MAYBE,
            source=_MAYBE,
            disabled=_list(_TEXT),
            precedence=_list(_TEXT),
            require=_list(_TEXT),
            kernel_dispatch=_DISPATCH,
            precision={"enum": ["f32", "f16", "bf16", None]},
            precision_policy={"enum": ["error", "warn", "allow"]},
        ),
        dispatch={"anyOf": [{"type": "null"}, _REPORT]},
        candidates=_list(
            _closed(
                backend=_TEXT,
                device=_TEXT,
                rank={"type": "integer", "minimum": 0, "maximum": 4294967295},
                rank_source=_MAYBE,
                verdict={"enum": ["selected", "rejected", "not-reached"]},
                reasons=_list(
                    _closed(
                        code={"enum": list(CODES)},
                        detail=_TEXT,
                        fix=_MAYBE,
                        source=_MAYBE,
                        data={"type": "object"},
                    )
                ),
            )
        ),
    ),
}
