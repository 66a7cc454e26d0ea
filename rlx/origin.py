"""Where a value came from: a place in a file, an environment variable, or an argument."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """A place that a person can go to and edit.

    `path` is what a message shows: a path as the user gave it or relative to the working
    directory, `packaged backends.yaml` for the packaged layer, or the name of a variable or
    argument. Lines and columns count from 1; 0 means that the place has none.
    """

    path: str
    line: int = 0
    column: int = 0
    layer: str = ""
    """`packaged`, `plugin`, `system`, `user`, `project`, `environment`, `argument` or `code`."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path
