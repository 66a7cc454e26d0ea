"""The `RLX_*` variables: one table of what each means, and how its text is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.device import DeviceSpec, shown
from rlx.errors import InvalidDevice, SettingError
from rlx.operations.policies import POLICIES, BadDispatch, parse
from rlx.origin import Origin
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PRECISION = ("f32", "f16", "bf16")
PRECISION_POLICY = ("error", "warn", "allow")
LOG = ("debug", "info", "warning", "error", "off")
UNSET = "auto"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_QUOTES = "\"'`\u201c\u201d\u2018\u2019"
_BLANKS = " \t"


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: its name, what it means, and what it may hold."""

    name: str
    meaning: str
    read: Callable[[str, Origin], Any]
    example: str
    default: str = "unset"
    routes: bool = False
    """True when a routing decision depends on it."""

    @property
    def origin(self) -> Origin:
        """The variable, as a place."""
        return Origin(self.name, layer="environment")

    def parse(self, text: str | None) -> Any:
        """The value; None where the variable is not set, empty or `auto`.

        Raises:
            SettingError: the text is quoted, or not what the variable may hold.
        """
        bare = (text or "").strip(_BLANKS)
        if not bare or bare.lower() == UNSET:
            return None
        if bare[0] in _QUOTES or bare[-1] in _QUOTES:
            raise SettingError(
                f"the value {shown(text)} holds quotes",
                fix=f"leave the quotes away: {self.name}={bare.strip(_QUOTES)}.",
                origin=self.origin,
            )
        return self.read(bare, self.origin)


def choice(value: object, allowed: tuple[str, ...], origin: Origin) -> str:
    """One of the allowed names, whatever its case.

    Raises:
        SettingError: it is another.
    """
    name = value.strip(_BLANKS).lower() if isinstance(value, str) else ""
    if name in allowed:
        return name
    raise SettingError(
        f"unknown value {shown(value)}, allowed: {', '.join(allowed)}",
        fix=suggestion(name, allowed),
        origin=origin,
    )


def dispatch(value: object, origin: Origin) -> str:
    """A `kernel_dispatch` in its one form: `prefer-native`, `common,Gelu=native`.

    Raises:
        SettingError: it is not written right.
    """
    try:
        return str(parse(value)) if isinstance(value, str) else choice(value, POLICIES, origin)
    except BadDispatch as error:
        raise SettingError(error.message, fix=error.fix, origin=origin) from error


def suggestion(name: str, known: Iterable[str]) -> str:
    """The fix for a name that is not known."""
    names = list(known)
    near = nearest(name, names)
    if near is not None:
        return f"did you mean {near}?"
    return f"write one of: {', '.join(names)}." if 0 < len(names) <= 20 else "see `rlx env`."


def _flag(text: str, origin: Origin) -> bool:
    return choice(text, (*_TRUE, *_FALSE), origin) in _TRUE


def _one_of(*allowed: str) -> Callable[[str, Origin], str]:
    return lambda text, origin: choice(text, allowed, origin)


def _devices(text: str, origin: Origin) -> tuple[DeviceSpec, ...]:
    try:
        return DeviceSpec.parse_request(text)
    except InvalidDevice as error:
        raise SettingError(error.message, fix=error.fix, origin=origin) from error


def _name(text: str, origin: Origin) -> str:
    if "," in text or len(text.split()) > 1:
        raise SettingError(f"one id is meant, got {shown(text)}", fix="name one.", origin=origin)
    return text.lower()


def _names(text: str, origin: Origin) -> tuple[str, ...]:
    names = tuple(part.strip(_BLANKS).lower() for part in text.split(","))
    for name in names:
        if not name or len(name.split()) > 1:
            raise SettingError(
                f"the list {shown(text)} holds {shown(name) if name else 'an empty name'}",
                fix="write names with one comma between them, such as a,b.",
                origin=origin,
            )
        if names.count(name) > 1:
            raise SettingError(
                f"the list {shown(text)} names {name} twice",
                fix="name each once.",
                origin=origin,
            )
    return names


def _path(text: str, origin: Origin) -> str:
    try:
        return str(Path(text).expanduser())
    except RuntimeError as error:
        raise SettingError(
            f"the path {shown(text)} names a home folder that is not known",
            fix="write the whole path.",
            origin=origin,
        ) from error


VARIABLES = (
    Variable(
        "RLX_DEVICE",
        "the device to run on, or a list in order",
        _devices,
        "cuda:1,cpu",
        routes=True,
    ),
    Variable("RLX_BACKEND", "the one backend to run on, by id", _name, "numpy", routes=True),
    Variable("RLX_CONFIG", "a manifest layered above the project's", _path, "~/rlx.yaml"),
    Variable(
        "RLX_CONFIG_ONLY",
        "read no layer but the packaged one and RLX_CONFIG",
        _flag,
        "1",
        default="0",
    ),
    Variable(
        "RLX_PRECEDENCE", "ids that come before rank", _names, "numpy,onnxruntime-cpu", routes=True
    ),
    Variable(
        "RLX_DISABLE", "ids, devices or aliases never to be used", _names, "cuda", routes=True
    ),
    Variable(
        "RLX_KERNEL_DISPATCH",
        "native kernels, or lowerings: a policy, then operations with one of their own",
        dispatch,
        "prefer-native,Gelu=common",
        default="prefer-native",
        routes=True,
    ),
    Variable(
        "RLX_DISPATCH_REPORT", "print each program's dispatch report", _flag, "1", default="0"
    ),
    Variable(
        "RLX_PRECISION", "the precision to compute in", _one_of(*PRECISION), "f16", routes=True
    ),
    Variable(
        "RLX_PRECISION_POLICY",
        "what happens where an engine would use less",
        _one_of(*PRECISION_POLICY),
        "warn",
        default="error",
        routes=True,
    ),
    Variable("RLX_CACHE_DIR", "the folder for what rlx keeps on disk", _path, "~/.cache/rlx"),
    Variable("RLX_LOG", "how much is logged", _one_of(*LOG), "debug", default="warning"),
)
"""Every variable that is read; README and `rlx env` are made from it."""
