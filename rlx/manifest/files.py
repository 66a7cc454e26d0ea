"""Reading a manifest's bytes: plain files only, at most 1 MiB, and never waiting for a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.errors import printable
from rlx.files import NotPlain, open_plain
from rlx.manifest.text import MAX_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from rlx.manifest.faults import Faults


def read_bytes(path: Path, faults: Faults) -> bytes:
    """The file's bytes; of a file that is too large, one more than is allowed.

    Raises:
        ConfigError: the file is missing, is not a plain file, or cannot be read.
    """
    try:
        with open_plain(path) as file:
            return file.read(MAX_BYTES + 1)
    except NotPlain as error:
        message = f"a manifest must be a plain file, got {error.kind}"
        faults.add("file-not-regular", message, "name a plain YAML file.")
    except FileNotFoundError:
        dangling = path.is_symlink()
        message = "the link leads to no file" if dangling else "the file is not there"
        fix = "correct the link, or remove it." if dangling else "correct the path."
        faults.add("file-missing", message, fix)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        message = f"the file can't be read: {printable(reason)}"
        faults.add("file-unreadable", message, "check the path and its permissions.")
    return faults.stop()
