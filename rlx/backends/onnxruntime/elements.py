"""What a provider does not take with elements, it does not take without.

A value without elements is settled when compiling, so that a program may come to nothing that the
provider would have to compute, whatever its operations and dtypes. The provider is asked all the
same: about the program with one element on each axis that has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.onnxruntime.assignment import Seat, seated
from rlx.errors import ExecutionError, told

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx

REFUSALS = ("EP_FAIL", "was inserted using the NHWC format")
"""How the engine says that a provider took nodes and then not: compiled, or in its own layout."""


def ask(engine: Any, model: onnx.ModelProto, seat: Seat, options: Mapping[str, Any]) -> None:
    """Make a session of the model with elements; sizes that do not fit together tell nothing.

    Raises:
        ExecutionError: the provider does not take every node.
    """
    plain = {name: value for name, value in options.items() if name != "entries"}  # no files
    try:
        seated(engine, with_elements(model).SerializeToString(), seat, plain)
    except ExecutionError:
        raise
    except Exception as error:
        if any(said in str(error) for said in REFUSALS):
            raise ExecutionError(
                f"{seat.id} does not compute this program, had it elements: {told(error)}",
                fix="choose another backend for this program: try `rlx explain --all`.",
            ) from error


def with_elements(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with inputs of size 1 where theirs is 0; what follows from them is left open."""
    import onnx

    made = onnx.ModelProto()
    made.CopyFrom(model)
    for value in made.graph.input:
        for size in value.type.tensor_type.shape.dim:
            if size.WhichOneof("value") == "dim_value" and size.dim_value == 0:
                size.dim_value = 1
    for value in made.graph.output:
        value.type.tensor_type.ClearField("shape")
    del made.graph.value_info[:]
    return made
