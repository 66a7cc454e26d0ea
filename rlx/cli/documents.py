"""The JSON Schema of what each command prints with `--json`."""

from __future__ import annotations

from typing import Any

from rlx.artifact.checking import WORDS
from rlx.catalogue import KINDS

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
ANY: Schema = {}


def array(items: Schema) -> Schema:
    """A list of one kind of thing."""
    return {"type": "array", "items": items}


def closed(**properties: Schema) -> Schema:
    """An object with exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def optional(schema: Schema, **properties: Schema) -> Schema:
    """The object, with keys that may be absent."""
    return {**schema, "properties": {**schema["properties"], **properties}}


def maybe(**properties: Schema) -> Schema:
    """An object with exactly these keys, or null."""
    return {"anyOf": [{"type": "null"}, closed(**properties)]}


def by_name(values: Schema) -> Schema:
    """An object with any keys."""
    return {"type": "object", "additionalProperties": values}


FAULT = closed(
    code=TEXT,
    severity={"enum": ["error", "warning"]},
    message=TEXT,
    fix=TEXT,
    path=TEXT,
    line=COUNT,
    column=COUNT,
    related=array(TEXT),
)
SETTING = closed(value=ANY, source=TEXT)
BACKEND = closed(
    id=TEXT,
    device=TEXT,
    target=TEXT,
    rank=COUNT,
    state={"enum": ["enabled", "oracle", "disabled", "emission-only"]},
    dispatches=FLAG,
    reference_oracle=FLAG,
    software=FLAG,
    enabled=FLAG,
    factory=MAYBE_TEXT,
    install=MAYBE_TEXT,
    capabilities=array(TEXT),
    options=by_name(ANY),
    coverage=closed(
        evidence=TEXT,
        inherited_from=MAYBE_TEXT,
        engine=MAYBE_TEXT,
        platform=MAYBE_TEXT,
        operations=array(TEXT),
    ),
    source=TEXT,
    history=by_name(array(SETTING)),
)
TRUSTED = closed(
    path=TEXT,
    when=TEXT,
    state={"enum": ["valid", "changed", "missing", "revoked"]},
    changed=array(TEXT),
    sha256=TEXT,
    references=array(closed(path=TEXT, sha256=TEXT)),
)
PLUGIN = closed(
    name=TEXT, version=TEXT, active=FLAG, reason=MAYBE_TEXT, files=array(TEXT), faults=array(FAULT)
)
SIDE = closed(name=TEXT, digest=TEXT)
PLACED = closed(backend=MAYBE_TEXT, device=MAYBE_TEXT, degraded=FLAG)
SPOT = closed(backend=MAYBE_TEXT, path={"enum": ["native", "lowered", "missing", None]})
CHANGE = closed(
    name=TEXT,
    path=MAYBE_TEXT,
    digest=TEXT,
    nodes=COUNT,
    changed=FLAG,
    old=PLACED,
    new=PLACED,
    causes=array(
        closed(code=TEXT, backend=MAYBE_TEXT, detail=TEXT, source=MAYBE_TEXT, old_source=MAYBE_TEXT)
    ),
    operations=array(
        closed(
            operation=TEXT,
            dtypes=TEXT,
            nodes=COUNT,
            old=SPOT,
            new=SPOT,
            reason=MAYBE_TEXT,
            source=MAYBE_TEXT,
        )
    ),
)
EDIT = closed(
    file=TEXT,
    backend=TEXT,
    key={"enum": ["rank", "enabled"]},
    value={"type": ["integer", "boolean"]},
    source=MAYBE_TEXT,
    was={"type": ["integer", "boolean", "null"]},
    was_source=MAYBE_TEXT,
    changed=FLAG,
    written=FLAG,
    created=FLAG,
    diff=TEXT,
    notes=array(TEXT),
)
VALUE = closed(
    name=TEXT,
    dtype=TEXT,
    shape={"type": ["array", "null"], "items": {"type": ["integer", "string", "null"]}},
)
ARTIFACT = dict(
    file=TEXT,
    program=closed(name=TEXT, digest=TEXT),
    **dict.fromkeys(("backend", "device", "target", "payload_format", "toolchain"), TEXT),
    precision=MAYBE_TEXT,
    registration=TEXT,
    registry=TEXT,
    inputs=array(VALUE),
    outputs=array(VALUE),
    operations=array(closed(operation=TEXT, nodes=COUNT)),
    parts=array(closed(name=TEXT, length=COUNT, sha256=TEXT)),
)
BROKEN = by_name(TEXT)
CONFORMANCE = closed(
    backend=TEXT,
    engine=TEXT,
    suite=closed(
        passed=COUNT, refused=COUNT, unjudged=COUNT, wrong=BROKEN, crash=BROKEN, hang=BROKEN
    ),
    trials=COUNT,
    verdicts=by_name(COUNT),
    kept_out=by_name(COUNT),
    flukes=array(TEXT),
    notes=array(TEXT),
    changed=array(TEXT),
    findings=array(
        closed(
            operation=TEXT,
            case=TEXT,
            verdict={"enum": ["false claim", "unclaimed success", "crash", "hang"]},
            detail=TEXT,
        )
    ),
)
OUTPUT = closed(
    name=TEXT,
    dtype=TEXT,
    shape=array(COUNT),
    min=MAYBE_NUMBER,
    max=MAYBE_NUMBER,
    mean=MAYBE_NUMBER,
    file=MAYBE_TEXT,
)


def documents() -> dict[str, Schema]:
    """The schema of each document, by the name of its file without `.schema.json`."""
    from rlx.cli.devices_document import FACT, HOST
    from rlx.router.document import SCHEMA as ROUTE

    body = {key: value for key, value in ROUTE.items() if not key.startswith("$") or key == "$defs"}
    return {
        "route": ROUTE,
        "backends-output": closed(
            digest=TEXT, backends=array(BACKEND), warnings=array(FAULT), plugins=array(PLUGIN)
        ),
        "devices-output": closed(
            host=HOST,
            devices=array(closed(id=TEXT, name=TEXT, aliases=array(TEXT))),
            facts=array(FACT),
        ),
        "validate-output": closed(valid=FLAG, checked=array(TEXT), faults=array(FAULT)),
        "diff-output": closed(
            old=SIDE, new=SIDE, changed=COUNT, unchanged=COUNT, programs=array(CHANGE)
        ),
        "env-output": closed(
            settings=array(
                closed(
                    name=TEXT,
                    value=TEXT,
                    source=TEXT,
                    losers=array(closed(value=TEXT, source=TEXT)),
                )
            )
        ),
        "run-output": closed(
            program=TEXT,
            route=body,
            compile_seconds=NUMBER,
            run_seconds=closed(first=NUMBER, min=NUMBER, repeat=COUNT),
            notes=array(TEXT),
            outputs=array(OUTPUT),
        ),
        "demo-output": closed(
            network=TEXT,
            route=body,
            seconds=closed(load=NUMBER, compile=NUMBER, run=NUMBER),
            largest_difference=NUMBER,
            agrees=FLAG,
        ),
        "conform-output": closed(ok=FLAG, backends=array(CONFORMANCE)),
        "build-output": closed(**ARTIFACT),
        "payload-show-output": closed(**ARTIFACT),
        "payload-check-output": closed(
            file=TEXT,
            verdict={"enum": list(WORDS)},
            reasons=array(TEXT),
            notes=array(TEXT),
        ),
        "payload-run-output": closed(
            file=TEXT, backend=TEXT, device=TEXT, notes=array(TEXT), outputs=array(OUTPUT)
        ),
        "schema-output": closed(schemas=array(TEXT), stale=array(TEXT)),
        "explain-code-output": closed(
            codes=array(
                closed(
                    code=TEXT,
                    kind={"enum": list(KINDS)},
                    meaning=TEXT,
                    fix=TEXT,
                    example=closed(
                        language={"enum": ["yaml", "python", "console"]}, shown=TEXT, printed=TEXT
                    ),
                )
            )
        ),
        "init-output": closed(file=TEXT),
        **{f"{name}-output": EDIT for name in ("rank", "enable", "disable")},
        "trust-output": closed(
            action={"enum": ["trusted", "listed", "revoked"]},
            files=array(TRUSTED),
            allows=array(closed(backend=MAYBE_TEXT, what=TEXT, value=TEXT, source=TEXT)),
        ),
        "error": closed(
            error=optional(
                closed(code=TEXT, message=TEXT, fix=TEXT, source=MAYBE_TEXT),
                faults=array(FAULT),
                route=body,
            )
        ),
    }
