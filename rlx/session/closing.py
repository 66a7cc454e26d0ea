"""What a `with` block closes: shared by all that has nothing more to do at its end than `close`."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class Closing:
    """A `with` block over it ends with its `close`."""

    __slots__ = ()

    def close(self) -> None:
        """Release what it holds; calling it again does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
