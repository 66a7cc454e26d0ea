"""The reference oracle: onnx's own evaluator, at the canonical opset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.precision import as_stated
from rlx.errors import SessionClosed, SettingError, Unavailable
from rlx.program import CANONICAL_OPSET

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rlx.backends.protocol import Array, CompileOptions
    from rlx.device import DeviceSpec
    from rlx.program import Program


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> Reference:
    """Open the evaluator; it has no options.

    Raises:
        SettingError: an option was given.
        Unavailable: an index other than 0 was asked for.
    """
    if spec.index not in (None, 0):
        raise Unavailable(f"reference has only cpu:0, got {spec}", fix="ask for cpu.")
    for name in options:
        raise SettingError(f"reference has no option {name!r}", fix="remove it.")
    return Reference()


class Reference:
    """onnx's evaluator: slow and plain, the independent definition of the right answer."""

    device = "cpu"

    @property
    def version(self) -> str:
        """The version of onnx."""
        import onnx

        return str(onnx.__version__)

    def compile(
        self,
        program: Program,
        options: CompileOptions,
    ) -> Evaluation:
        """Make an evaluator of the program."""
        as_stated(program, options, "the reference")
        return Evaluation(program)

    def close(self) -> None:
        """Nothing is held."""


class Evaluation:
    """One program's evaluator."""

    device = "cpu"

    def __init__(self, program: Program):
        from onnx.reference import ReferenceEvaluator

        self._names = tuple(value.name for value in program.inputs)
        self._outputs = [value.name for value in program.outputs]
        self._evaluator: Any = ReferenceEvaluator(program.to_onnx(CANONICAL_OPSET))

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Run once; NumPy's warnings about infinities and NaN are not the caller's."""
        import numpy as np

        evaluator = self._evaluator
        if evaluator is None:
            raise SessionClosed("this executable was closed", fix="compile again.")
        with np.errstate(all="ignore"):
            outputs = evaluator.run(self._outputs, dict(zip(self._names, inputs, strict=True)))
        return [_own(output) for output in outputs]

    def close(self) -> None:
        """Let the evaluator go."""
        self._evaluator = None


def _own(output: Any) -> Any:
    """An array instead of a NumPy scalar, in memory of its own.

    The evaluator hands out inputs, its constants and other outputs, and views of them.
    """
    import numpy as np

    if isinstance(output, list | tuple):
        return [_own(one) for one in output]
    return np.array(output) if isinstance(output, np.ndarray | np.generic) else output
