"""Every error that rlx raises: each class has a stable code, and each error says what to do."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import ClassVar

    from rlx.origin import Origin

_INVISIBLE = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0))
) | frozenset(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10))))
"""Characters that Unicode calls printable although nothing, or a blank, is seen of them."""


def printable(text: str) -> str:
    """Foreign text as one line that shows every character: a manifest, a path, an engine's message.

    Line breaks, control, bidirectional, zero-width and unassigned characters become escapes such
    as `\\n` and `\\u200b`. Applying it twice changes nothing more. Markup is the printer's matter.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() and char not in _INVISIBLE
        else char.encode("unicode_escape").decode()
        for char in text
    )


def said(error: BaseException) -> str:
    """What an exception says, without what it says to do: for errors that take up another.

    Who raises the outer error says what to do, once.
    """
    text = error.message if isinstance(error, RlxError) else str(error)
    return text.partition(". Fix: ")[0]


def told(error: BaseException) -> str:
    """An exception's type and what it says; the type alone where it says nothing."""
    text = said(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@dataclass(frozen=True, slots=True)
class Code:
    """What one code means, and what to do about it in general; an occurrence may know better."""

    meaning: str
    fix: str


class RlxError(Exception):
    """Base of all errors of rlx.

    `code` is stable and belongs to the class. `fix` says what to do: the class's advice, or a
    more exact one given with the error. `origin` is the place to go to, where there is one.
    """

    code: ClassVar[str] = "rlx-error"
    fix: str = "report this as a bug of rlx, with the whole message."

    def __init__(self, message: str, *, fix: str | None = None, origin: Origin | None = None):
        self.message = message
        self.origin = origin
        if fix is not None:
            self.fix = fix
        super().__init__(message)

    def __str__(self) -> str:
        where = f"{self.origin}: " if self.origin is not None else ""
        return f"{where}{self.message}. Fix: {self.fix}"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in a configuration, at one place; `related` are the other places in it."""

    code: str
    message: str
    fix: str
    origin: Origin
    related: tuple[Origin, ...] = field(default=())
    severity: str = "error"
    """`error`, or `warning` (equal ranks; an error under `--strict`)."""

    def __str__(self) -> str:
        return f"{self.origin}: {self.message}. Fix: {self.fix}"


class ConfigError(RlxError, ValueError):
    """The configuration is broken; `faults` holds everything that is wrong, in file order."""

    code = "config"
    fix = "correct the places listed, then run `rlx validate`."

    def __init__(self, faults: Iterable[Fault]):
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __str__(self) -> str:
        return self.message


class SettingError(RlxError, ValueError):
    """An `RLX_*` variable, a scope or an argument has a name or a value that rlx does not know."""

    code = "setting"
    fix = "run `rlx env` to see every setting, its value and its source."


class InvalidDevice(RlxError, ValueError):
    """A device spec is not written as `name[:index]`."""

    code = "invalid-device"
    fix = "write a device as name or name:index, such as cuda or cuda:1."


class UnknownDevice(RlxError, ValueError):
    """No registered device has this name or alias."""

    code = "unknown-device"
    fix = "run `rlx devices` to see the known names, or declare the device in a backends.yaml."


class UnknownBackend(RlxError, ValueError):
    """No registered backend has this id."""

    code = "unknown-backend"
    fix = "run `rlx backends` to see the registered ids."


class DuplicateBackend(RlxError, ValueError):
    """A backend was registered under an id that is taken."""

    code = "duplicate-backend"
    fix = "choose another id, or pass replace=True."


class Unavailable(RlxError, RuntimeError):
    """What was asked for cannot be used here; `route` holds all candidates' reasons, if routed."""

    code = "unavailable"
    fix = "run `rlx devices` to see what can run here, and what to install for the rest."

    def __init__(
        self,
        message: str,
        *,
        fix: str | None = None,
        origin: Origin | None = None,
        route: object = None,
    ):
        super().__init__(message, fix=fix, origin=origin)
        self.route = route


class NoBackend(Unavailable):
    """No backend can run the program as asked; the message lists every candidate's first reason."""

    code = "no-backend"
    fix = "follow a fix listed above, or ask for another device."

    def __str__(self) -> str:
        return self.message


class OpenFailed(RlxError, RuntimeError):
    """A backend's factory raised, returned nonsense, or could not be imported."""

    code = "open-failed"
    fix = "see the cause above; `rlx devices --refresh` probes again."


class ContractError(RlxError, RuntimeError):
    """A backend broke the protocol: another device than promised, wrong outputs, a wrong type."""

    code = "contract"
    fix = "report this to the backend's author."


class PrecisionError(RlxError, RuntimeError):
    """The engine would compute in less than the precision asked for."""

    code = "precision"
    fix = "ask for that precision, or set precision_policy to warn or allow."


class ProgramError(RlxError, ValueError):
    """A program cannot be read, is not valid, or is newer than this rlx."""

    code = "program"
    fix = "check the file with `onnx.checker.check_model`, and export it again."


class UnsafeProgram(ProgramError):
    """A program file reaches outside its folder, or claims a size that it may not have."""

    code = "unsafe-program"
    fix = "keep external data beside the model, as a plain file named without `..`."


class GraphError(RlxError, ValueError):
    """An argument of a graph's method is not what the method takes."""

    code = "graph"
    fix = "pass what the message names; `help(rlx.Graph)` shows every method."


class GraphConsumed(RlxError, RuntimeError):
    """A graph was used after it was compiled."""

    code = "graph-consumed"
    fix = "build another graph: compiling one consumes it."


class InputError(RlxError, ValueError):
    """An input's name, dtype or shape is not what the program declares."""

    code = "input"
    fix = "pass each input under its name, with the dtype and shape that the message names."


class ExecutionError(RlxError, RuntimeError):
    """An opened backend failed while it compiled or ran a program."""

    code = "execution"
    fix = "see the cause above; another backend may run the program: try `rlx explain --all`."


class SessionClosed(RlxError, RuntimeError):
    """A session, lease or executable was used after it was closed."""

    code = "closed"
    fix = "use it inside its `with` block, or make a new one."


class TrustError(RlxError, RuntimeError):
    """The record of trusted files can't be read or written, or does not hold what is asked for."""

    code = "trust"
    fix = "run `rlx trust --list` to see what is trusted."


class EditError(RlxError, ValueError):
    """A manifest can't be edited in place as asked."""

    code = "edit"
    fix = "edit the file yourself, then run `rlx validate`."


class UnsupportedFeature(RlxError, NotImplementedError):
    """The backend registered no such facet: compiler, materializer or payload format."""

    code = "unsupported-feature"
    fix = "choose a backend that has it: run `rlx backends`."


class ArtifactError(RlxError, ValueError):
    """An artifact can't be read, written or used here."""

    code = "artifact"
    fix = "build it again with `rlx build`."


class CorruptArtifact(ArtifactError):
    """An artifact is damaged, cut short, too large, or no artifact at all."""

    code = "corrupt-artifact"
    fix = "copy the file again, or build it again with `rlx build`."


class ForeignArtifact(ArtifactError):
    """An artifact is for a target, device or payload format that this registry does not have."""

    code = "foreign-artifact"
    fix = "build it for a target that `rlx backends` lists here."


class StaleArtifact(ArtifactError):
    """An artifact was made otherwise than it would be now: by another toolchain or registration."""

    code = "stale-artifact"
    fix = "build it again with `rlx build`."
