"""One node or more of every operation that the compiler emits, by family: data, no code."""

from dataclasses import dataclass, field

import numpy as np
import onnx

F32, I32, I64 = np.float32, np.int32, np.int64


@dataclass(frozen=True)
class Case:
    """One node: inputs whose places `constants` names are initializers."""

    operation: str
    inputs: tuple
    constants: tuple = ()
    attributes: dict = field(default_factory=dict)
    outputs: tuple = (F32,)


def draw(*shape, low=-2.0, high=2.0):
    """Numbers that differ from each other, always the same."""
    count = int(np.prod(shape))
    spread = np.random.default_rng(count).permutation(count) / max(count - 1, 1)
    return (low + (high - low) * spread).reshape(shape).astype(F32)


def ints(*values):
    return np.array(values, I64)


X = draw(2, 3, 4)
EDGES = np.array([-np.inf, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, np.inf, np.nan], F32)
WHOLE = np.array([-7, -3, -1, 0, 1, 2, 5], I32)
TRUTH = np.array([True, False, True, False])
IMAGE = draw(2, 4, 5, 6)

ELEMENTWISE = (
    *(Case(name, (EDGES,)) for name in ("Abs", "Ceil", "Floor", "Round", "Neg", "Sqrt", "Exp")),
    *(Case(name, (EDGES,)) for name in ("Log", "Erf", "Sin", "Cos", "Tanh", "Reciprocal")),
    *(Case(name, (draw(9, low=-0.9, high=0.9),)) for name in ("Asin", "Acos", "Atan", "Atanh")),
    *(Case(name, (draw(9),)) for name in ("Tan", "Sinh", "Cosh")),
    Case("Sign", (EDGES[:-1],)),
    Case("Abs", (WHOLE,), outputs=(I32,)),
    Case("IsNaN", (EDGES,), outputs=(bool,)),
    *(Case(name, (X, draw(3, 1))) for name in ("Add", "Sub", "Mul", "Max", "Min")),
    *(Case(name, (WHOLE, WHOLE[::-1].copy()), outputs=(I32,)) for name in ("Add", "Sub", "Mul")),
    Case("Div", (X, draw(4, low=1))),
    Case("Pow", (draw(6, low=0.1), draw(6))),
    Case("Mod", (WHOLE, np.array([3, -3, 2, 5, -4, 7, 3], I32)), outputs=(I32,)),
    Case("Sum", (X, draw(4), draw(3, 1))),
    Case("Mean", (X, draw(4), draw(3, 1))),
    Case("Clip", (X, F32(-1), F32(0.5)), (1, 2)),
    Case("Clip", (X, F32(1), F32(-1))),
    Case("Clip", (WHOLE, None, I32(3)), (2,), outputs=(I32,)),
    *(
        Case(name, (one, one[::-1].copy()), outputs=(bool,))
        for name in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
        for one in (EDGES, WHOLE.astype(I64))
    ),
    Case("Equal", (TRUTH, TRUTH[::-1].copy()), outputs=(bool,)),
    *(Case(name, (TRUTH, TRUTH[:1]), outputs=(bool,)) for name in ("And", "Or", "Xor")),
    Case("Not", (TRUTH,), outputs=(bool,)),
    Case("Where", (TRUTH, F32(1), F32(2))),
    Case("Where", (TRUTH, draw(3, 1), draw(4))),
    Case("Where", (TRUTH, ints(1, 2, 3, 4), ints(5)), outputs=(I64,)),
    Case("Cast", (X,), attributes={"to": onnx.TensorProto.INT32}, outputs=(I32,)),
    Case("Cast", (EDGES,), attributes={"to": onnx.TensorProto.BOOL}, outputs=(bool,)),
    Case("Cast", (X,), attributes={"to": onnx.TensorProto.FLOAT16}, outputs=(np.float16,)),
    Case("Cast", (TRUTH,), attributes={"to": onnx.TensorProto.FLOAT}),
    Case("Cast", (ints(3, -4),), attributes={"to": onnx.TensorProto.FLOAT}),
)
ACTIVATION = (
    *(Case(name, (X,)) for name in ("Relu", "Sigmoid", "Softplus", "Softsign", "Elu", "LeakyRelu")),
    Case("Elu", (X,), attributes={"alpha": 2.0}),
    Case("LeakyRelu", (X,), attributes={"alpha": 0.3}),
    Case("HardSigmoid", (X,), attributes={"alpha": 0.4, "beta": 0.3}),
    Case("Gelu", (X,)),
    Case("Gelu", (X,), attributes={"approximate": "tanh"}),
    *(Case("Softmax", (X,), attributes={"axis": axis}) for axis in (0, -1)),
    Case("LogSoftmax", (X * 2000,), attributes={"axis": 1}),
)
REDUCTION = (
    *(
        Case(name, (X, ints(*axes)), (1,), {"keepdims": keep})
        for name in (
            "ReduceSum",
            "ReduceProd",
            "ReduceMax",
            "ReduceMin",
            "ReduceMean",
            "ReduceL1",
            "ReduceL2",
            "ReduceSumSquare",
            "ReduceLogSumExp",
        )
        for axes, keep in (((-1,), 0), ((2, 0), 1))
    ),
    Case("ReduceSum", (X,), (), {"keepdims": 0}),
    Case("ReduceSum", (WHOLE, ints(0)), (1,), {"keepdims": 0}, (I32,)),
    *(
        Case(name, (X,), attributes={"axis": axis, "keepdims": keep}, outputs=(I64,))
        for name in ("ArgMax", "ArgMin")
        for axis, keep in ((1, 0), (-1, 1))
    ),
    Case("ReduceLogSumExp", (X * 2000,), (), {"keepdims": 0}),
    Case("ReduceLogSumExp", (EDGES.reshape(5, 2)[:, ::-1].copy(), ints(1)), (1,)),
    Case("CumSum", (X, np.array(1)), (1,)),
    Case("CumSum", (X, np.array(-1)), (1,), {"exclusive": 1, "reverse": 1}),
)
PRODUCTS = (
    Case("MatMul", (X, draw(4, 5))),
    Case("MatMul", (X, draw(4, 5)), (1,)),
    Case("MatMul", (draw(4), draw(4))),
    Case("MatMul", (X, draw(4))),
    Case("MatMul", (draw(3), X)),
    Case("Gemm", (draw(4, 3), draw(5, 4), draw(5)), (1, 2), {"transA": 1, "transB": 1}),
    Case("Gemm", (draw(3, 4), draw(4, 5), draw(3, 1)), (), {"alpha": 0.5, "beta": 2.0}),
)
WINDOWS = (
    Case("Conv", (draw(2, 3, 8), draw(4, 3, 3)), (1,)),
    Case(
        "Conv",
        (IMAGE, draw(6, 2, 3, 2), draw(6)),
        (1, 2),
        {"group": 2, "strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [1, 2]},
    ),
    *(
        Case("Conv", (IMAGE, draw(2, 4, 3, 2)), (1,), {"auto_pad": auto, "strides": [2, 2]})
        for auto in ("SAME_UPPER", "SAME_LOWER", "VALID")
    ),
    Case("Conv", (draw(1, 2, 3, 4, 5), draw(2, 2, 2, 2, 2)), (1,)),
    Case(
        "ConvTranspose",
        (IMAGE, draw(4, 3, 3, 2), draw(3)),
        (1, 2),
        {"strides": [2, 3], "pads": [1, 0, 0, 1]},
    ),
    Case("ConvTranspose", (IMAGE, draw(4, 2, 2, 2)), (1,), {"group": 2}),
    Case(
        "MaxPool", (IMAGE,), (), {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 0, 1]}
    ),
    Case("MaxPool", (draw(1, 2, 7),), (), {"kernel_shape": [3], "auto_pad": "SAME_UPPER"}),
    *(
        Case(
            "AveragePool",
            (IMAGE,),
            (),
            {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "count_include_pad": include},
        )
        for include in (0, 1)
    ),
    Case("GlobalAveragePool", (IMAGE,)),
    Case("GlobalMaxPool", (IMAGE,)),
)
STATISTICS = (draw(4), draw(4, low=0.5), draw(4), draw(4, low=0.1))
NORMALIZATION = (
    Case("BatchNormalization", (IMAGE, *STATISTICS), (1, 2, 3, 4), {"epsilon": 0.01}),
    Case("BatchNormalization", (draw(3, 4), *STATISTICS), (1, 2, 3, 4)),
    Case("InstanceNormalization", (IMAGE, draw(4), draw(4)), (1, 2), {"epsilon": 0.01}),
    Case("LayerNormalization", (X, draw(4), draw(4)), (1, 2), {"epsilon": 0.01}),
    Case("LayerNormalization", (X, draw(3, 4)), (1,), {"axis": 1}),
    Case("LayerNormalization", (X, draw(4), draw(1)), (), {}),
    Case("LRN", (IMAGE,), (), {"size": 3, "alpha": 0.5, "beta": 0.75, "bias": 2.0}),
)
SHAPING = (
    Case("Reshape", (X, ints(0, -1, 2)), (1,)),
    Case("Reshape", (draw(1), np.zeros(0, I64)), (1,)),
    Case("Reshape", (TRUTH, ints(2, 2)), (1,), outputs=(bool,)),
    Case("Flatten", (X,), (), {"axis": -1}),
    Case("Squeeze", (draw(1, 3, 1),)),
    Case("Squeeze", (draw(1, 3, 1), ints(-1)), (1,)),
    Case("Unsqueeze", (X, ints(-1, 0)), (1,)),
    Case("Unsqueeze", (F32(3), ints(0, 1)), (1,)),
    Case("Transpose", (X,)),
    Case("Transpose", (X,), (), {"perm": [1, 0, 2]}),
    Case("Identity", (X,)),
    Case("Dropout", (X,)),
    Case("Concat", (X, draw(2, 1, 4)), (), {"axis": -2}),
    Case("Concat", (TRUTH, TRUTH), (), {"axis": 0}, (bool,)),
    Case("Split", (X, ints(1, 3)), (1,), {"axis": -1}, (F32, F32)),
    Case("Split", (draw(7),), (), {"num_outputs": 3}, (F32, F32, F32)),
    Case("Slice", (X, ints(1), ints(2**63 - 1), ints(-1)), (1, 2, 3)),
    Case("Slice", (X, ints(-1, 3), ints(-(2**63), 0), ints(1, 2), ints(-2, -1)), (1, 2, 3, 4)),
    Case("Pad", (X, ints(1, 0, 2, 0, 1, 0), F32(3)), (1, 2)),
    Case("Pad", (X, ints(0, 1, 2, 0, 2, 1)), (1,), {"mode": "reflect"}),
    Case("Pad", (X, ints(1, 2), None, ints(-1)), (1, 3), {"mode": "edge"}),
    Case("Expand", (draw(3, 1), ints(2, 1, 4)), (1,)),
    Case("Expand", (TRUTH, ints(2, 4)), (1,), outputs=(bool,)),
    Case("Tile", (X, ints(1, 2, 3)), (1,)),
    Case("DepthToSpace", (draw(1, 8, 2, 3),), (), {"blocksize": 2}),
    Case("DepthToSpace", (draw(1, 8, 2, 3),), (), {"blocksize": 2, "mode": "CRD"}),
    Case("SpaceToDepth", (draw(1, 2, 4, 6),), (), {"blocksize": 2}),
    Case("SpaceToDepth", (draw(1, 2, 4, 6),), (), {"blocksize": 2, "mode": "CRD"}),
    *(
        Case(
            "Resize",
            (IMAGE, None, None, ints(2, 4, 15, 12)),
            (3,),
            {"nearest_mode": rounding, "coordinate_transformation_mode": way},
        )
        for way, rounding in (
            ("asymmetric", "floor"),
            ("half_pixel", "round_prefer_floor"),
            ("half_pixel", "round_prefer_ceil"),
        )
    ),
    Case("Resize", (IMAGE, None, np.array([1, 1, 4, 1], F32)), (2,)),
)
INDEXING = (
    Case("Gather", (X, ints(0, -1)), (1,), {"axis": 1}),
    Case("Gather", (X, ints(0, -1).reshape(1, 2)), (), {"axis": -1}),
    Case("Gather", (X, np.array(-2)), (1,), {"axis": 1}),
    Case("GatherElements", (X, np.array([[[0, -1, 1, 2]], [[1, 1, 0, -3]]])), (1,), {"axis": 1}),
    Case("GatherElements", (X, np.array([[[0, -1, 1, 2]], [[1, 1, 0, -3]]])), (), {"axis": 1}),
    Case("GatherND", (X, np.array([[0, -1], [1, 2]])), (1,)),
    Case("GatherND", (X, np.array([[0, -1], [1, 2]]))),
    Case("GatherND", (X, np.array([[2], [-1]])), (), {"batch_dims": 1}),
)
RECURRENT = tuple(
    Case(
        "LSTM",
        (
            draw(5, 2, 3),
            draw(count, 16, 3),
            draw(count, 16, 4),
            *more(count),
        ),
        (1, 2, 3),
        {"hidden_size": 4, "direction": direction},
        (F32, F32, F32),
    )
    for direction, count, more in (
        ("forward", 1, lambda n: (draw(n, 32), None, draw(n, 2, 4), draw(n, 2, 4, low=0))),
        ("reverse", 1, lambda n: ()),
        ("bidirectional", 2, lambda n: (draw(n, 32), None, draw(n, 2, 4), draw(n, 2, 4, low=0))),
    )
)
FAMILIES = {
    "elementwise": ELEMENTWISE,
    "activation": ACTIVATION,
    "reduction": REDUCTION,
    "products": PRODUCTS,
    "windows": WINDOWS,
    "normalization": NORMALIZATION,
    "shaping": SHAPING,
    "indexing": INDEXING,
    "recurrent": RECURRENT,
}


def model_of(cases):
    """One model of all the cases' nodes side by side, and its inputs by name."""
    nodes, given, held, outputs, feeds = [], [], [], [], {}
    for at, case in enumerate(cases):
        names = []
        for place, value in enumerate(case.inputs):
            names.append("" if value is None else f"x{at}_{place}")
            if value is None:
                continue
            array = np.asarray(value)
            if place in case.constants:
                held.append(onnx.numpy_helper.from_array(array, names[-1]))
                continue
            code = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            given.append(onnx.helper.make_tensor_value_info(names[-1], code, array.shape))
            feeds[names[-1]] = array
        made = [f"y{at}_{place}" for place in range(len(case.outputs))]
        name = f"{case.operation}_{at}"
        nodes.append(
            onnx.helper.make_node(case.operation, names, made, name=name, **case.attributes)
        )
        for value, dtype in zip(made, case.outputs, strict=True):
            code = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            outputs.append(onnx.helper.make_tensor_value_info(value, code, None))
    graph = onnx.helper.make_graph(nodes, "cases", given, outputs, held)
    opset = [onnx.helper.make_opsetid("", 28)]
    return onnx.helper.make_model(graph, opset_imports=opset), feeds
