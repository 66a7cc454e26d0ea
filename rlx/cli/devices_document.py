"""The JSON Schema of what `rlx devices --json` says of a backend and of the host."""

from __future__ import annotations

from rlx.cli.documents import COUNT, FLAG, MAYBE_NUMBER, MAYBE_TEXT, TEXT, array, closed, maybe

FACT = closed(
    backend=TEXT,
    device=TEXT,
    index=COUNT,
    available=FLAG,
    reason=MAYBE_TEXT,
    fix=MAYBE_TEXT,
    software=FLAG,
    detail=TEXT,
    source=MAYBE_TEXT,
    live=maybe(
        ran=FLAG,
        program=MAYBE_TEXT,
        device=MAYBE_TEXT,
        version=MAYBE_TEXT,
        seconds=MAYBE_NUMBER,
        reason=MAYBE_TEXT,
        untried=MAYBE_TEXT,
        kept=FLAG,
    ),
)
HOST = closed(
    system=TEXT,
    machine=TEXT,
    **dict.fromkeys(("distribution", "version", "kernel", "libc", "libc_version"), MAYBE_TEXT),
    pci={
        **array(
            closed(
                **dict.fromkeys(("address", "vendor", "device", "class", "name"), TEXT),
                role={"enum": ["gpu", "npu"]},
            )
        ),
        "type": ["array", "null"],
    },
    drivers=array(closed(name=TEXT, version=TEXT)),
    nodes=array(TEXT),
)
