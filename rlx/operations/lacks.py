"""Why a node has no path on a backend; free of onnx, since routing reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.program.types import Signature

NOT_LOWERED = "kernel_dispatch native does not lower it"


@dataclass(frozen=True, slots=True)
class Lack:
    """Why a node is missing: it is not claimed, and `why` it is not lowered either.

    `inner` are the nodes that its lowering would need and that are missing, each kind once.
    """

    signature: Signature
    why: str = ""
    inner: tuple[Lack, ...] = ()
