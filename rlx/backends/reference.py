"""The reference oracle: onnx's own evaluator, at the canonical opset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.precision import as_stated
from rlx.errors import ExecutionError, SettingError, Unavailable
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

        if self._evaluator is None:
            raise ExecutionError("this executable was closed", fix="compile again.")
        with np.errstate(all="ignore"):
            outputs = self._evaluator.run(
                self._outputs, dict(zip(self._names, inputs, strict=True))
            )
        return [_own(output, inputs) for output in outputs]

    def close(self) -> None:
        """Let the evaluator go."""
        self._evaluator = None


def _own(output: Any, inputs: Sequence[Array]) -> Any:
    """An array instead of a NumPy scalar, and a copy instead of a view of an input."""
    import numpy as np

    if isinstance(output, np.generic):
        return np.asarray(output)
    if isinstance(output, np.ndarray) and any(
        isinstance(given, np.ndarray) and np.may_share_memory(output, given) for given in inputs
    ):
        return output.copy()
    return output
