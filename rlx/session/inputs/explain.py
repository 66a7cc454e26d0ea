"""Why inputs do not fit a program: everything that is wrong with them, in one error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.errors import InputError, printable
from rlx.session.inputs.arrays import HOST, Problem, read
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rlx.program import Value
    from rlx.session.inputs.native import Native

Problems = list[tuple[str, str | None]]
"""What is wrong, each with its fix."""


def admit(
    program: str, declared: Sequence[Value], values: Sequence[Any], *, native: Native = HOST
) -> tuple[Any, ...]:
    """The values in the form that backends take, in order.

    Raises:
        InputError: naming everything that is wrong.
    """
    if len(values) != len(declared):
        names = ", ".join(printable(one.name) for one in declared)
        takes = f"{len(declared)} input{'s' * (len(declared) != 1)}"
        listed = f" ({names})" if names else ""
        given = f"{len(values)} {'was' if len(values) == 1 else 'were'} passed"
        raise InputError(
            f"{printable(program)}: it takes {takes}{listed}, {given}",
            fix="pass the inputs by position in that order, or by name with run().",
        )
    problems: Problems = []
    admitted = _check(declared, values, problems, native)
    if problems:
        _refuse(program, problems)
    return admitted


def pick(
    program: str, declared: Sequence[Value], named: Mapping[str, Any], *, native: Native = HOST
) -> tuple[Any, ...]:
    """The values of a mapping in the program's order, read and checked.

    Raises:
        InputError: naming everything that is wrong, unknown and missing names included.
    """
    if not hasattr(named, "keys"):
        raise InputError(
            f"{printable(program)}: run() takes a mapping of names to arrays, "
            f"got {type(named).__name__}",
            fix="pass {name: array, ...}, or call the model with arrays by position.",
        )
    names = [one.name for one in declared]
    problems: Problems = []
    for given in named:
        if given not in names:
            near = nearest(given, names) if isinstance(given, str) else None
            hint = f", did you mean {near!r}?" if near else ""
            problems.append((f"there is no input {given!r}{hint}", _known(names)))
    missing = [one for one in names if one not in named]
    problems += [(f"input {one!r} is missing", _known(names)) for one in missing]
    present = [one for one in declared if one.name in named]
    admitted = _check(present, [named[one.name] for one in present], problems, native)
    if problems:
        _refuse(program, problems)
    return admitted


def _known(names: Sequence[str]) -> str:
    return f"pass exactly {', '.join(map(printable, names))}." if names else "pass nothing."


def _check(
    declared: Sequence[Value], values: Sequence[Any], problems: Problems, native: Native
) -> tuple[Any, ...]:
    sizes: dict[str, tuple[int, str]] = {}
    admitted = []
    for one, value in zip(declared, values, strict=True):
        array = read(value, one.type, native)
        found = array if isinstance(array, Problem) else _shape(one, array, sizes)
        if found is not None:
            gap = "" if found.text.startswith("[") else " "
            problems.append((f"input {one.name!r}{gap}{found.text}", found.fix))
        admitted.append(array)
    return tuple(admitted)


def _shape(one: Value, array: Any, sizes: dict[str, tuple[int, str]]) -> Problem | None:
    """What is wrong with the shape; `sizes` holds each symbol's first size and its input."""
    wanted = one.type.shape
    if one.type.kind != "tensor" or wanted is None:
        return None
    shown = "(" + ", ".join("?" if size is None else str(size) for size in wanted) + ")"
    if array.ndim != len(wanted):
        many = f"{array.ndim} dimension{'s' * (array.ndim != 1)}"
        return Problem(f"has {many}, shape {tuple(array.shape)}, it takes {len(wanted)}: {shown}")
    sizes_got = tuple(array.shape)
    for axis, (size, got) in enumerate(zip(wanted, sizes_got, strict=True)):
        if isinstance(size, int) and size != got:
            return Problem(f"has shape {sizes_got}, it takes {shown}: axis {axis} must be {size}")
        if isinstance(size, str):
            first, where = sizes.setdefault(size, (got, one.name))
            if first != got:
                return Problem(
                    f"has {size} = {got} on axis {axis}, input {where!r} has {size} = {first}",
                    f"pass the same {size} everywhere.",
                )
    return None


def _refuse(program: str, problems: Problems) -> None:
    text = "; ".join(what for what, _ in problems)
    fixes = {fix for _, fix in problems}
    fix = fixes.pop() if len(fixes) == 1 else None
    raise InputError(f"{printable(program)}: {text}", fix=fix)
