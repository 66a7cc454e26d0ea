"""Which manifests are in force: paths only; needs no file's content, no yaml and no pydantic."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from rlx import resources
from rlx.errors import printable

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FILE = "backends.yaml"
PROJECT_FILES = ("rlx.yaml", FILE, f"configs/{FILE}")
_MISNAMED = tuple(name.removesuffix("yaml") + "yml" for name in PROJECT_FILES)
_REPOSITORY = ".git"
_MOVING = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "ANDROID_DATA", "ANDROID_ROOT")
"""The variables by which platformdirs finds other folders than those that are usual on Linux."""

StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class LayerPath:
    """One file of one layer."""

    layer: str
    """`packaged`, `plugin`, `system`, `user`, `project`, `environment` (RLX_CONFIG) or
    `argument`."""
    path: Path
    shown: str
    """How messages name the file."""
    trusted: bool = True
    """False: a project's file that nobody named; it may set only what does no harm."""
    data: bytes | None = field(default=None, repr=False)
    """What the file is taken to hold, where that is not what stands there: an edit, to be judged
    before it is written."""

    @property
    def explicit(self) -> bool:
        """True when a user named the file, so that it must be a manifest."""
        return self.layer in ("environment", "argument")

    @property
    def may_be_foreign(self) -> bool:
        """True for a project's file whose name other tools may use as well."""
        return self.layer == "project" and self.path.name != PROJECT_FILES[0]

    @property
    def packaged_elsewhere(self) -> bool:
        """True for the packaged layer of a checkout of rlx that is not the one that is running."""
        folder = self.path.parent
        return (
            self.layer == "project"
            and folder.name == "configs"
            and resources.is_checkout(folder.parent)
        )

    @property
    def misnamed(self) -> bool:
        """True for a project's file that only another ending would make rlx's."""
        return self.layer == "project" and self.path.suffix == ".yml"


def find(
    config: Sequence[StrPath] = (),
    only: bool = False,
    cwd: StrPath | None = None,
    *,
    environment: StrPath | None = None,
    plugins: Iterable[LayerPath] = (),
) -> tuple[LayerPath, ...]:
    """The files of all layers, the strongest last; the packaged layer is always the first.

    `config` are the paths that arguments named, `environment` is the value of RLX_CONFIG. With
    `only`, the system, user and project layers are left out. A file that a user named is in the
    list whether or not it is there; a file found twice is in it once: where the user named it,
    or else in the earlier layer. `plugins` are the manifests that `find_plugins` found.
    """
    packaged = resources.configs() / FILE
    layers = [LayerPath("packaged", packaged, f"packaged {FILE}"), *plugins]
    if not only:
        folder = Path(cwd) if cwd is not None else working_directory()
        for found in (*_site(), *_project(folder)):
            if not any(_same(found.path, earlier.path) for earlier in layers):
                layers.append(found)
    named = [] if environment is None else [("environment", environment)]
    for layer, path in (*named, *(("argument", one) for one in config)):
        _name(LayerPath(layer, Path(path), printable(os.fspath(path)) or "."), layers)
    return tuple(layers)


def _name(found: LayerPath, layers: list[LayerPath]) -> None:
    """Add a file that a user named; it takes the place of the same file found before."""
    if _same(found.path, layers[0].path):
        layers[0] = replace(layers[0], path=found.path, shown=found.shown)
        return
    layers[1:] = [one for one in layers[1:] if not _same(one.path, found.path)]
    layers.append(found)


def _site() -> Iterator[LayerPath]:
    if _plainly_absent():
        return
    import platformdirs

    for layer, folder in (
        ("system", platformdirs.site_config_dir("rlx", appauthor=False)),
        ("user", platformdirs.user_config_dir("rlx", appauthor=False)),
    ):
        path = Path(folder) / FILE
        # Without a home the path is not absolute: it would be the project's, and be trusted.
        if path.is_absolute() and os.path.lexists(path):
            yield LayerPath(layer, path, printable(str(path)))


def user_file() -> Path | None:
    """Where the user's own manifest is, or would be; None: the user has no home."""
    import platformdirs

    path = Path(platformdirs.user_config_dir("rlx", appauthor=False)) / FILE
    return path if path.is_absolute() else None


def _plainly_absent() -> bool:
    """True where the system and the user have no file, and it takes no platformdirs to see that.

    On Linux without the variables that move them, the folders have fixed names. Importing
    platformdirs to be told so would be a tenth of what loading the packaged layer costs.
    """
    return (
        sys.platform == "linux"
        and not any(map(os.environ.get, _MOVING))
        and not any(map(os.path.lexists, ("/etc/xdg/rlx", os.path.expanduser("~/.config/rlx"))))  # noqa: PTH111 - never raises
    )


def working_directory() -> Path | None:
    """The working directory; None where it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:  # the folder was removed: it can hold no project
        return None


def project_folders(cwd: Path | None) -> tuple[Path, ...]:
    """The folders that may hold the project's file: from `cwd` up to the one that holds `.git`."""
    if cwd is None:
        return ()
    start = Path(os.path.abspath(cwd))  # noqa: PTH100 - links in the path stay, `..` goes
    folders = (start, *start.parents)
    tops = (i for i, folder in enumerate(folders) if os.path.lexists(folder / _REPOSITORY))
    return folders[: next(tops, 0) + 1]


def _project(cwd: Path | None) -> Iterator[LayerPath]:
    """The nearest project file, one at most."""
    for folder in project_folders(cwd):
        for name in (*PROJECT_FILES, *_MISNAMED):
            path = folder / name
            if os.path.lexists(path) and not os.path.isdir(path):  # noqa: PTH112 - never raises
                yield LayerPath("project", path, relative(path), trusted=False)
                return


def relative(path: Path) -> str:
    """The path from the working directory, where there is one on the same drive."""
    try:
        return printable(os.path.relpath(path))
    except (ValueError, FileNotFoundError):
        return printable(str(path))


def _same(one: Path, other: Path) -> bool:
    return _real(one) == _real(other)


def _real(path: Path) -> str:
    """The path without links; the path itself where it can't lead anywhere: reading it says so."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # relative to a folder that was removed; a NUL
        return str(path)
