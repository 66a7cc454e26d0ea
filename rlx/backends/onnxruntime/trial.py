"""A sum on a provider's device: whether it computes there, and rightly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.onnxruntime.assignment import Seat, seated

if TYPE_CHECKING:
    from rlx.backends.onnxruntime.provider import Placed, Provider


def tried(engine: Any, provider: Provider, placed: Placed) -> str | None:
    """None where 1.5 + 2.25 is 3.75 on the device, four times; else what it is.

    In the dtype that it computes in, so that nothing is asked for that it refuses.
    """
    import numpy as np
    from onnx import TensorProto, helper

    half = placed.computes == "float16"
    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    x, y, z = (helper.make_tensor_value_info(name, kind, [4]) for name in "xyz")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "y"], ["z"], "add")], "sum", [x, y], [z]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    seat = Seat(provider.id, provider.name, placed.settings, placed.device)
    session = seated(engine, model.SerializeToString(), seat, provider.session)
    dtype = np.float16 if half else np.float32
    (found,) = session.run(None, {"x": np.full(4, 1.5, dtype), "y": np.full(4, 2.25, dtype)})
    return None if found.tolist() == [3.75] * 4 else f"a sum of 1.5 and 2.25 gave {found.tolist()}"
