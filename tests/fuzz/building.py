"""A random program under construction: each node is evaluated by the oracle as it is added."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]
FLOATS = ("float32", "float64", "float16", "bfloat16")
SIGNED = ("int32", "int64", "int8", "int16")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ALL = (*NUMBERS, "bool")
LARGEST = 1000.0
"""A float larger than this goes no further: what comes of it tells little."""
TOLERANCE = {"float64": 1e-6, "float32": 1e-4, "float16": 1e-2, "bfloat16": 8e-2}
"""How far each dtype's rounding may carry a value, by the scale of all that it comes from."""


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype of an ONNX name."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A value of the program, as the oracle has it."""

    name: str
    array: Array
    exact: bool
    """True where engines can't differ by rounding, so that steps and comparisons are safe."""
    slack: float
    """The largest absolute error that rounding explains."""

    @property
    def dtype(self) -> str:
        """ONNX's name."""
        return self.array.dtype.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return self.array.shape

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return self.array.ndim


@dataclass(slots=True)
class Proposal:
    """A node that may be added, if the oracle can evaluate it."""

    operation: str
    inputs: Sequence[Value | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1
    exact: bool = False
    """True: of exact inputs come exact outputs."""
    gain: float = 1.0
    """By how much the operation may enlarge an error."""
    captured: Sequence[Value] = ()
    """What bodies read from around the node."""


class Build:
    """The program so far."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.generator = np.random.default_rng(seed)
        self.opset = self.random.choice((21, 22, 23, 28))
        self.symbolic = self.random.random() < 0.3
        self.pool: list[Value] = []
        self.nodes: list[onnx.NodeProto] = []
        self.made: list[Value] = []
        self.inputs: dict[str, Value] = {}
        self.constants: dict[str, Value] = {}

    def chance(self, share: float) -> bool:
        """True in that share of cases."""
        return self.random.random() < share

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of several."""
        return self.random.choice(choices)

    def shape(self, low: int = 0, high: int = 4) -> tuple[int, ...]:
        """Sizes from 1 to 5, seldom 0."""
        ndim = self.random.randint(low, high)
        return tuple(0 if self.chance(0.04) else self.random.randint(1, 5) for _ in range(ndim))

    def array(self, dtype: str, shape: tuple[int, ...], *, special: bool = True) -> Array:
        """Numbers that every float dtype holds exactly; seldom NaN and infinities, if `special`."""
        if dtype == "bool":
            return self.generator.random(shape) < 0.5
        if dtype in FLOATS:
            drawn = self.generator.integers(-32, 33, shape) / 8.0
            if special and self.chance(0.04) and drawn.size:
                odd = self.pick((np.nan, np.inf, -np.inf, -0.0))
                drawn = np.where(self.generator.random(shape) < 0.2, odd, drawn)
            return np.asarray(drawn).astype(numpy_dtype(dtype))
        limits = np.iinfo(dtype)
        if self.chance(0.06):
            return self.generator.integers(
                limits.min, limits.max, shape, dtype=dtype, endpoint=True
            )
        return self.generator.integers(max(limits.min, -9), 10, shape).astype(dtype)

    def leaf(self, array: Array, *, constant: float = 0.35) -> Value:
        """A new input, or a constant."""
        name = f"x{len(self.inputs) + len(self.constants)}"
        value = Value(name, np.asarray(array), True, 0.0)
        (self.constants if self.chance(constant) else self.inputs)[name] = value
        return value

    def fresh(
        self, dtype: str, shape: tuple[int, ...], *, constant: float = 0.35, special: bool = True
    ) -> Value:
        """A new input or constant with random content."""
        return self.leaf(self.array(dtype, shape, special=special), constant=constant)

    def ints(self, values: Any, dtype: str = "int64") -> Value:
        """An operand such as axes, which engines want as a constant, or nearly always."""
        return self.leaf(np.array(values, dtype), constant=0.85)

    def value(
        self,
        dtypes: Sequence[str] = NUMBERS,
        low: int = 0,
        high: int = 5,
        *,
        exact: bool = False,
    ) -> Value:
        """A value that fits: one that is there, the later the likelier, or a new one."""
        fit = [
            one
            for one in self.pool
            if one.dtype in dtypes and low <= one.ndim <= high and (one.exact or not exact)
        ]
        if fit and self.chance(0.8):
            return fit[-1 - min(int(self.random.expovariate(0.6)), len(fit) - 1)]
        weights = [8 if name == "float32" else 2 if name in FLOATS else 1 for name in dtypes]
        (dtype,) = self.random.choices(dtypes, weights)
        value = self.fresh(dtype, self.shape(low, min(high, 4)))
        self.pool.append(value)
        return value

    def add(self, proposal: Proposal) -> bool:
        """Add the node, if the oracle evaluates it to something that is worth going on with."""
        given = [one for one in proposal.inputs if one is not None]
        named = {one.name: one for one in (*given, *proposal.captured)}
        first = len(self.made)
        names = [f"v{first + i}" for i in range(proposal.outputs)]
        node = helper.make_node(
            proposal.operation,
            [one.name if one is not None else "" for one in proposal.inputs],
            names,
            name=f"n{len(self.nodes)}",
            **proposal.attributes,
        )
        results = self.evaluate(node, list(named.values()))
        if results is None or not all(map(usable, results)):
            return False
        exact = proposal.exact and all(one.exact for one in named.values())
        self.nodes.append(node)
        for name, result in zip(names, results, strict=True):
            value = Value(name, result, exact, slack(result, named.values(), proposal, exact))
            self.made.append(value)
            self.pool.append(value)
        return True

    def evaluate(self, node: onnx.NodeProto, given: list[Value]) -> list[Array] | None:
        """What the oracle makes of one node; None: it can't."""
        model = single(node, given, self.opset)
        feeds = {one.name: one.array.copy() for one in given}
        try:
            with np.errstate(all="ignore"):
                found = ReferenceEvaluator(model).run(None, feeds)
        except Exception:  # noqa: BLE001 - whatever it raises, this node is not for it
            return None
        arrays = [np.array(one) for one in found]
        return arrays if all(map(plain, arrays)) and as_inferred(model, arrays) else None

    def finish(self) -> onnx.ModelProto | None:
        """The model: what nothing uses, and some of the rest, are its outputs."""
        used = {name for node in self.nodes for name in node.input}
        outputs = [one for one in self.made if one.name not in used or self.chance(0.25)]
        outputs = outputs[-6:]
        if not outputs:
            return None
        inner = {name for node in self.nodes for name in captured(node)}
        wanted = used | inner | {one.name for one in outputs}
        given = [self.info(one) for name, one in self.inputs.items() if name in wanted]
        held = [
            onnx.numpy_helper.from_array(one.array, name)
            for name, one in self.constants.items()
            if name in wanted
        ]
        declared = [
            helper.make_tensor_value_info(one.name, element(one.array), [None] * one.ndim)
            for one in outputs
        ]
        graph = helper.make_graph(self.nodes, "drawn", given, declared, held)
        opset = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opset, ir_version=10)

    def info(self, value: Value) -> onnx.ValueInfoProto:
        """An input's declaration."""
        shape = [
            f"{value.name}_{axis}" if self.symbolic else size
            for axis, size in enumerate(value.shape)
        ]
        return helper.make_tensor_value_info(value.name, element(value.array), shape)


def captured(node: onnx.NodeProto) -> set[str]:
    """The names that a node's bodies read."""
    graphs = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return {name for graph in graphs for inner in graph.node for name in inner.input} | {
        out.name for graph in graphs for out in graph.output
    }


def element(array: Array) -> int:
    """TensorProto's code of the dtype."""
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))


def single(node: onnx.NodeProto, given: Sequence[Value], opset: int) -> onnx.ModelProto:
    """One node as a program."""
    inputs = [
        helper.make_tensor_value_info(one.name, element(one.array), one.shape) for one in given
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([node], "one", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def as_inferred(model: onnx.ModelProto, arrays: Sequence[Array]) -> bool:
    """Whether dtypes and sizes are as ONNX infers them: where not, the oracle is wrong."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except onnx.shape_inference.InferenceError:
        return False
    for value, array in zip(inferred.graph.output, arrays, strict=True):
        kind = value.type.tensor_type
        if kind.elem_type not in (0, element(array)):
            return False
        sizes = [size.dim_value for size in kind.shape.dim if size.HasField("dim_value")]
        known = kind.HasField("shape") and len(sizes) == len(kind.shape.dim)
        if known and tuple(sizes) != array.shape:
            return False
    return True


def plain(array: Array) -> bool:
    """An array of a dtype that programs here are made of."""
    return array.dtype.name in ALL and array.size <= 20000


def usable(array: Array) -> bool:
    """Not so large that later results say nothing."""
    if array.dtype.name not in FLOATS or not array.size:
        return True
    wide = array.astype(np.float64)
    finite = np.abs(wide[np.isfinite(wide)])
    return float(finite.max(initial=0.0)) <= LARGEST


def largest(array: Array) -> float:
    """The largest finite magnitude, at least 1."""
    if array.dtype.name not in FLOATS or not array.size:
        return 1.0
    wide = np.abs(array.astype(np.float64))
    return max(1.0, float(wide[np.isfinite(wide)].max(initial=0.0)))


def slack(result: Array, given: Any, proposal: Proposal, exact: bool) -> float:
    """How far an engine's result may lie from the oracle's."""
    if exact:
        return 0.0
    operands = list(given)
    scale = max([largest(result), *(largest(one.array) for one in operands)])
    dtypes = [result.dtype.name, *(one.dtype for one in operands)]
    rounding = max([TOLERANCE[name] for name in dtypes if name in TOLERANCE] or [1e-6])
    carried = max((one.slack for one in operands), default=0.0)
    return (carried + rounding * scale) * proposal.gain
