"""A session whose nodes are where they were promised: read back from it, node by node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.backends.onnxruntime.engine import session_options
from rlx.errors import ContractError, ExecutionError, RlxError, Unavailable, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rlx.program import Program

CPU = "CPUExecutionProvider"
REFUSED = "explicitly disabled by the user"
"""How the engine says that nodes would have been left to the CPU."""
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a session is to be: a provider with its options, or one of a plugin's devices."""

    id: str
    """The backend's id, for messages."""
    name: str
    """The provider's name."""
    settings: Mapping[str, str]
    """The provider's options."""
    device: Any = None
    """The `OrtEpDevice` of a plugin; None: the provider is built in."""


def seated(engine: Any, model: bytes, seat: Seat, options: Mapping[str, Any]) -> Any:
    """A session of the model, every node of it on the provider.

    Raises:
        ExecutionError: the provider leaves nodes to the CPU; they are named.
        Unavailable: the provider itself does not start here.
        ContractError: the session is somewhere else all the same.
    """
    try:
        session = _session(engine, model, seat, options, alone=True)
    except Exception as error:
        if REFUSED not in str(error):
            raise
        raise _refusal(engine, model, seat, options) from error
    used = session.get_providers()
    if used[:1] != [seat.name] or set(used[1:]) - {CPU}:
        raise ContractError(f"{seat.id} runs on {', '.join(used)}, asked for {seat.name}")
    if seat.name != CPU:
        elsewhere = _listed(_elsewhere(session, seat.name))
        if elsewhere:
            raise ContractError(f"{seat.id} has {elsewhere} elsewhere than on {seat.name}")
    return session


def with_names(model: Any, program: Program) -> Any:
    """The model, its nodes named as the program names them: what is read back is then known."""
    for node, proto in zip(program.body.nodes, model.graph.node, strict=False):
        if not proto.name and proto.op_type == node.operation.rsplit("::", 1)[-1]:
            proto.name = node.name
    return model


def _session(
    engine: Any, model: bytes, seat: Seat, options: Mapping[str, Any], *, alone: bool
) -> Any:
    record = seat.name != CPU
    made = session_options(engine, options, alone=alone and record, record=record)
    providers = None
    if seat.device is None:
        providers = [(seat.name, dict(seat.settings))] if seat.settings else [seat.name]
    else:
        made.add_provider_for_devices([seat.device], dict(seat.settings))
    return engine.InferenceSession(
        model, made, providers=providers, enable_fallback=0, read_config_from_model=0
    )


def _refusal(engine: Any, model: bytes, seat: Seat, options: Mapping[str, Any]) -> RlxError:
    """Why nodes would be left to the CPU: a session that may leave them is asked, and not run."""
    try:
        session = _session(engine, model, seat, options, alone=False)
    except Exception as error:  # noqa: BLE001 - it can't name them, but they are left
        left = f"nodes that it can't name ({type(error).__name__}: {printable(str(error))[:200]})"
    else:
        if seat.name not in session.get_providers():
            return Unavailable(
                f"onnxruntime could not start {seat.name}, and would have left all to the CPU",
                fix="install the libraries that it needs: onnxruntime's own log names them.",
            )
        left = _listed(_elsewhere(session, seat.name)) or "nodes that it can't name"
    return ExecutionError(
        f"{seat.id} leaves {left} to the CPU",
        fix="choose another backend for this program: try `rlx explain --all`.",
    )


def _elsewhere(session: Any, name: str) -> Iterator[str]:
    """The nodes that are not on the provider, as messages name them."""
    for part in session.get_provider_graph_assignment_info():
        if part.ep_name != name:
            for node in part.get_nodes():
                domain = "" if node.domain in ("", "ai.onnx") else f"{node.domain}::"
                yield f"node {printable(node.name)!r} {domain}{node.op_type}"


def _listed(nodes: Iterator[str]) -> str:
    found = list(nodes)
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(found[:SHOWN]) + more
