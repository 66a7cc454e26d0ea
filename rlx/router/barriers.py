"""What becomes of a program's barriers on a backend: they are its own, or cut, or in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.operations.policies import parse
from rlx.program.cuts import has_open_sizes
from rlx.program.types import BARRIER

if TYPE_CHECKING:
    from collections.abc import Collection

    from rlx.program import Program, Requirements
    from rlx.registration import Registration
    from rlx.registries import Registry
    from rlx.settings import Request

NATIVE = "barriers"
"""The capability of a backend that runs a program with barriers in one launch."""
WHOLE = "no_stages"
"""The capability of a backend that must not be handed a program in stages."""
OPEN = "dynamic_shapes"


def path(capabilities: Collection[str], kernel_dispatch: str) -> str:
    """The path of barriers on a backend of these capabilities: native, lowered or missing.

    Lowered means that the program is cut there, and the backend handed the stages.
    """
    policy = parse(kernel_dispatch).of(BARRIER)
    native = NATIVE in capabilities
    if native and policy != "common":
        return "native"
    if policy != "native" and WHOLE not in capabilities:
        return "lowered"
    return "native" if native else "missing"


def lacking(
    registry: Registry,
    needs: Requirements,
    program: Program | None,
    request: Request,
    one: Registration,
) -> tuple[tuple[str, ...], str]:
    """The capabilities for want of which a backend can't have the barriers, and why; or nothing."""
    if NATIVE not in needs.capabilities:
        return (), ""
    found = path(one.capabilities, request.kernel_dispatch)
    if found == "missing":
        if WHOLE in one.capabilities:
            return (NATIVE,), "must not be handed the program in stages"
        return (NATIVE,), f"kernel_dispatch {request.kernel_dispatch} does not cut the program"
    if found == "lowered" and _opens(registry, needs, program) and OPEN not in one.capabilities:
        return (OPEN,), "sizes of what crosses a barrier are not known before it runs"
    return (), ""


def mask(registry: Registry, needs: Requirements, program: Program | None, request: Request) -> int:
    """The mask of the backends that barriers do not speak against, of a program that has some."""
    facets = registry.coverage.facets
    native = facets.capabilities.get(NATIVE, 0)
    policy = parse(request.kernel_dispatch).of(BARRIER)
    if policy == "native":
        return native
    cut = facets.everything & ~facets.capabilities.get(WHOLE, 0)
    native &= ~cut if policy == "common" else facets.everything
    if _opens(registry, needs, program):
        cut &= facets.capabilities.get(OPEN, 0)
    return native | cut


def _opens(registry: Registry, needs: Requirements, program: Program | None) -> bool:
    """True where the stages, and not the program, need the capability for sizes that vary."""
    if program is None or OPEN in needs.capabilities:
        return False
    if all(one.id != OPEN for one in registry.capabilities):
        return False  # what no manifest declares is not enforced
    kept = program.variants.get("open stages")
    if kept is None:
        kept = program.variants["open stages"] = has_open_sizes(program.body)
    return bool(kept)
