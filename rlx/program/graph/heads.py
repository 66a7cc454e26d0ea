"""Shapes of queries, keys and values, and kinds of masks, as attention takes them."""

from __future__ import annotations

from rlx.device import shown
from rlx.errors import GraphError
from rlx.program.graph.arguments import ranked, whole
from rlx.program.graph.operands import Operand, differ


def check_heads(
    method: str, operands: tuple[Operand, Operand, Operand], num_heads: int, head_dim: int
) -> None:
    """Refuse queries, keys and values that do not have these heads.

    Raises:
        GraphError: a shape is not what `Graph.attention` says.
    """
    heads = whole(method, "num_heads", num_heads, least=1)
    size = whole(method, "head_dim", head_dim, least=1)
    query, key, value = operands
    dims = ranked(method, query)
    if len(dims) == 4:
        fits = not differ(dims[1], heads) and not differ(dims[3], size)
    else:
        fits = len(dims) == 3 and dims[2] == heads * size
    if not fits:
        raise GraphError(
            f"{method}: {query}, it must be [batch,{heads},length,{size}] or "
            f"[batch,length,{heads * size}] ({heads} heads of {size})"
        )
    for one in (key, value):
        if not _alike(ranked(method, one), dims, heads, size):
            raise GraphError(
                f"{method}: {query}, {one}: it must have the same batch and head_dim, "
                f"and a number of heads that divides {heads}"
            )
    lengths = [ranked(method, one)[-2] for one in (key, value)]
    counts = [_heads_of(ranked(method, one), size) for one in (key, value)]
    if differ(*lengths) or differ(*counts):
        raise GraphError(f"{method}: {key}, {value}: they must have one length and the same heads")


def _alike(
    dims: tuple[int | str | None, ...],
    query: tuple[int | str | None, ...],
    heads: int,
    size: int,
) -> bool:
    if len(dims) != len(query) or differ(dims[0], query[0]):
        return False
    if len(dims) == 4 and differ(dims[3], size):
        return False
    count = _heads_of(dims, size)
    return count is None or (count > 0 and heads % count == 0)


def _heads_of(dims: tuple[int | str | None, ...], size: int) -> int | None:
    """How many heads there are; 0: not a whole number, None: not known."""
    if len(dims) == 4:
        return dims[1] if isinstance(dims[1], int) else None
    return dims[2] // size if isinstance(dims[2], int) and dims[2] % size == 0 else 0


def mask_window(method: str, kind: object) -> int | None:
    """How many keys before its own a query sees: None, all and those after; -1, all; or a number.

    Raises:
        GraphError: there is no such kind.
    """
    text = kind.strip().lower() if isinstance(kind, str) else ""
    if text in ("none", "causal"):
        return None if text == "none" else -1
    name, colon, width = text.partition(":")
    if name == "sliding" and colon and width.isascii() and width.isdecimal():
        return int(width)
    raise GraphError(
        f"{method}: there is no mask_kind {shown(kind)}",
        fix="pass none, causal, or sliding:W with the number of earlier keys, such as sliding:4.",
    )
