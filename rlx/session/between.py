"""The values between the stages of a program: taken from one, compared, and handed to the next."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import ContractError, printable
from rlx.session.inputs.dtypes import onnx_name
from rlx.session.inputs.results import count, finish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.program import Value
    from rlx.session.inputs import Native


class Between:
    """What stands between the executables of one program; `made_by` is what messages call it."""

    def __init__(self, made_by: str, native: Native):
        self._made_by = made_by
        self._native = native

    def take(self, declared: Sequence[Value], outputs: Any) -> tuple[Any, ...]:
        """A stage's outputs as the next one takes them: the backend's own arrays, or NumPy's.

        Raises:
            ContractError: they are not as many, or not of the types, that the stage declares.
        """
        if self._native.adopt is None:
            return finish(self._made_by, declared, outputs)
        given = count(self._made_by, declared, outputs)
        return tuple(map(self._checked, declared, given))

    def _checked(self, declared: Value, value: Any) -> Any:
        """An output as the next stage takes it, of the dtype that is declared."""
        own = self._handed(value)
        wanted, tensor = declared.type.dtype, declared.type.kind == "tensor"
        if own is None or isinstance(own, np.ndarray | dict) or (tensor and isinstance(own, list)):
            return finish(self._made_by, (declared,), (own,))[0]
        if tensor:
            assert self._native.describe is not None
            found, _ = self._native.describe(own)
            if wanted and found != wanted:
                raise ContractError(
                    f"{printable(self._made_by)}: output {declared.name!r} is {found}, "
                    f"the program declares {wanted}"
                )
        return own

    def _handed(self, value: Any) -> Any:
        """An output as the next stage takes it: the backend's own array, or NumPy's."""
        if value is None or isinstance(value, np.ndarray | dict):
            return value
        if isinstance(value, list | tuple):
            return [self._handed(one) for one in value]
        assert self._native.adopt is not None
        own = self._native.adopt(value)
        return self._on_host(value) if own is None else own

    def _on_host(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._on_host(one) for one in value]
        if value is None or isinstance(value, np.ndarray | dict):
            return value
        to_host = self._native.to_host
        return np.asarray(value) if to_host is None else to_host(value)

    def same(self, new: list[Any], old: list[Any]) -> bool:
        """Whether a pass has changed nothing, bit for bit."""
        return all(
            one is two or _bits(self._on_host(one)) == _bits(self._on_host(two))
            for one, two in zip(new, old, strict=True)
        )

    def type(self, value: Any) -> str:
        """The dtype and shape of a value, as a message shows them."""
        if isinstance(value, np.ndarray):
            return f"{onnx_name(value.dtype)}{list(value.shape)}"
        if value is None or isinstance(value, list | tuple | dict) or self._native.describe is None:
            return "absent" if value is None else "a sequence"
        dtype, shape = self._native.describe(value)
        return f"{dtype}{list(shape)}"

    def copy(self, value: Any) -> Any:
        """The value in memory of its own."""
        if isinstance(value, list | tuple):
            return [self.copy(one) for one in value]
        if value is None or isinstance(value, np.ndarray | dict):
            return copy.deepcopy(value)
        host = np.array(self._on_host(value))
        return host if self._native.to_device is None else self._native.to_device(host)


def _bits(value: Any) -> Any:
    """What two values agree on exactly when they are the same, NaN included."""
    if isinstance(value, list | tuple):
        return [_bits(one) for one in value]
    if not isinstance(value, np.ndarray):
        return value
    content = value.tolist() if value.dtype == object else value.tobytes()
    return value.dtype.str, value.shape, content
