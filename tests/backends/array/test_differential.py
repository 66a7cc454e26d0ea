"""Kernels against onnxruntime, and whole plans against ONNX's evaluator, on drawn programs."""

from __future__ import annotations

import numpy as np
import onnx
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from onnx.reference import ReferenceEvaluator

from rlx.backends.array.numpy import open_cpu
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.program import load

few = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
shapes = npst.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5)


def counted(shape):
    """Different values in every place."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def n(values):
    return np.array(values, np.int64)


@few
@given(st.data())
def test_broadcasting_agrees(run_node, run_onnxruntime, data):
    drawn = data.draw(npst.mutually_broadcastable_shapes(num_shapes=2, max_side=4))
    inputs = [np.asarray(counted(shape) + 1) for shape in drawn.input_shapes]
    operation = data.draw(st.sampled_from(["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"]))
    (wanted,) = run_onnxruntime(operation, {}, inputs)
    (found,) = run_node(operation, {}, inputs, [wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@few
@given(st.data())
def test_slices_agree(run_node, run_onnxruntime, data):
    x = counted(data.draw(shapes))
    axes = data.draw(st.lists(st.integers(0, x.ndim - 1), min_size=1, unique=True))
    bound = st.integers(-7, 7) | st.just(-(2**31))  # onnxruntime takes INT_MAX for "to the start"
    starts, ends = ([data.draw(bound) for _ in axes] for _ in range(2))
    steps = [data.draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in axes]
    inputs = [x, n(starts), n(ends), n(axes), n(steps)]
    (wanted,) = run_onnxruntime("Slice", {}, inputs)
    for constants, symbolic in (((), True), ((1, 2, 3, 4), False)):
        (found,) = run_node("Slice", {}, inputs, [wanted], constants, symbolic)
        np.testing.assert_array_equal(found, wanted)


@few
@given(st.data())
def test_pads_agree(run_node, run_onnxruntime, data):
    x = counted(data.draw(shapes))
    mode = data.draw(st.sampled_from(["constant", "edge", "reflect", "wrap"]))
    low = -1 if mode == "constant" and min(x.shape) > 2 else 0
    high = 3 if mode == "constant" else min(x.shape) - 1
    pads = data.draw(st.lists(st.integers(low, high), min_size=2 * x.ndim, max_size=2 * x.ndim))
    inputs = [x, n(pads), np.array(7, np.float32)]
    (wanted,) = run_onnxruntime("Pad", {"mode": mode}, inputs)
    (found,) = run_node("Pad", {"mode": mode}, inputs, [wanted])
    np.testing.assert_array_equal(found, wanted)


@few
@given(st.data())
def test_gathers_agree(run_node, run_onnxruntime, data):
    x = counted(data.draw(shapes))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    size = x.shape[axis]
    shape = data.draw(npst.array_shapes(min_dims=0, max_dims=2, max_side=3))
    at = data.draw(npst.arrays(np.int64, shape, elements=st.integers(-size, size - 1)))
    (wanted,) = run_onnxruntime("Gather", {"axis": axis}, [x, at])
    for constants in ((), (1,)):
        (found,) = run_node("Gather", {"axis": axis}, [x, at], [wanted], constants)
        np.testing.assert_array_equal(found, wanted)


@few
@given(st.data())
def test_elements_gathered_and_scattered_agree(run_node, run_onnxruntime, data):
    x = counted(data.draw(shapes))
    axis = data.draw(st.integers(0, x.ndim - 1))
    smaller = tuple(data.draw(st.integers(1, size)) for size in x.shape)
    places = [np.random.default_rng(1).permutation(x.shape[axis]) for _ in range(x.size)]
    at = np.stack(places)[: np.prod(smaller) // smaller[axis], : smaller[axis]]
    at = np.moveaxis(at.reshape(*np.delete(smaller, axis), smaller[axis]), -1, axis)
    at = np.ascontiguousarray(at.astype(np.int64))
    attributes = {"axis": axis}
    (wanted,) = run_onnxruntime("GatherElements", attributes, [x, at])
    (found,) = run_node("GatherElements", attributes, [x, at], [wanted])
    np.testing.assert_array_equal(found, wanted)
    inputs = [x, at, -counted(smaller)]
    (wanted,) = run_onnxruntime("ScatterElements", attributes, inputs)
    (found,) = run_node("ScatterElements", attributes, inputs, [wanted])
    np.testing.assert_array_equal(found, wanted)


@few
@given(st.data())
def test_reductions_agree(run_node, run_onnxruntime, data):
    x = counted(data.draw(shapes)) / 16
    names = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]
    operation = "Reduce" + data.draw(st.sampled_from(names))
    axes = data.draw(st.lists(st.integers(0, x.ndim - 1), unique=True))
    signed = [axis - x.ndim * data.draw(st.booleans()) for axis in axes]
    attributes = {
        "keepdims": data.draw(st.integers(0, 1)),
        "noop_with_empty_axes": 0 if operation != "ReduceSum" else data.draw(st.integers(0, 1)),
    }
    (wanted,) = run_onnxruntime(operation, attributes, [x, n(signed)])
    assume(not np.isnan(wanted).any())  # overflowing on the way to 0 depends on the order
    for constants, symbolic in (((), True), ((1,), False)):
        (found,) = run_node(operation, attributes, [x, n(signed)], [wanted], constants, symbolic)
        np.testing.assert_allclose(found, wanted, rtol=1e-4)


@few
@given(st.data())
def test_the_largest_agree(run_node, run_onnxruntime, data):
    shape = data.draw(shapes)
    x = data.draw(npst.arrays(np.float32, shape, elements=st.integers(-3, 3).map(float)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    k = data.draw(st.integers(0, x.shape[axis]))
    attributes = {"axis": axis, "largest": data.draw(st.integers(0, 1))}
    wanted = run_onnxruntime("TopK", attributes, [x, n([k])], 2)
    found = run_node("TopK", attributes, [x, n([k])], wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@st.composite
def programs(draw):
    """Programs over 2×2 values in which memory is shared, dies and is needed again."""
    steps = [
        lambda x, _: f"Neg({x})",
        lambda x, _: f"Relu({x})",
        lambda x, _: f"Identity({x})",
        lambda x, _: f"Transpose({x})",
        lambda x, _: f"Flatten({x})",
        lambda x, y: f"Add({x}, {y})",
        lambda x, y: f"Mul({x}, {y})",
        lambda x, y: f"Max({x}, {y})",
        lambda x, y: f"MatMul({x}, {y})",
        lambda x, y: f"Clip({x}, low, high)",
    ]
    names, lines = ["x", "c"], []
    for at in range(draw(st.integers(1, 12))):
        step = draw(st.sampled_from(steps))
        one, other = (draw(st.sampled_from(names[-4:])) for _ in range(2))
        lines.append(f"v{at} = {step(one, other)}")
        names.append(f"v{at}")
    outputs = draw(st.lists(st.sampled_from(names[2:]), min_size=1, unique=True))
    declared = ", ".join(f"float[2,2] {name}" for name in outputs)
    return f"""<ir_version: 10, opset_import: ["": 22]>
      m (float[2,2] x) => ({declared})
      <float[2,2] c = {{1.0, -2.0, 3.0, -4.0}}, float low = {{-5.0}}, float high = {{9.0}}>
      {{ {" ".join(lines)} }}"""


@settings(max_examples=150, deadline=None)
@given(programs())
def test_plans_agree_and_share_no_memory(text):
    model = onnx.parser.parse_model(text)
    x = np.array([[2, -1], [0.5, 3]], np.float32)
    kept = x.copy()
    wanted = ReferenceEvaluator(model).run(None, {"x": x.copy()})
    executable = open_cpu(DeviceSpec("cpu"), {}).compile(load(model), CompileOptions())
    for _ in range(2):
        found = executable.run([x])
        np.testing.assert_array_equal(x, kept)
        for at, (one, other) in enumerate(zip(found, wanted, strict=True)):
            np.testing.assert_allclose(one, other, rtol=1e-5)
            assert not any(np.shares_memory(one, value) for value in (x, *found[:at]))
            one[...] = np.nan  # whatever a caller does to outputs must not show in the next run
