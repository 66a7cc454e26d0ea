"""What old operations meant is what the program computes at the canonical opset."""

import numpy as np
import onnx
import pytest

f32 = np.float32
CUBE = np.arange(24, dtype=f32).reshape(2, 3, 4)
IMAGE = np.arange(1, 9, dtype=f32).reshape(1, 1, 2, 4)


def equal(outputs: list[object], *expected: object) -> None:
    for output, value in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(np.asarray(output), value, rtol=1e-6)


def test_hardmax_once_took_all_dimensions_from_the_axis_as_one(parse, run):
    model = parse("g (float[2,3,4] x) => (float[2,3,4] y) { y = Hardmax<axis=1>(x) }", 11)
    expected = np.zeros((2, 3, 4), f32)
    expected[:, 2, 3] = 1
    equal(run(model, x=CUBE), expected)


@pytest.mark.parametrize("dims", ["2,3,4", "A,B,C"])
def test_softmax_once_took_all_dimensions_from_the_axis_as_one(parse, run, dims):
    model = parse(f"g (float[{dims}] x) => (float[{dims}] y) {{ y = Softmax(x) }}", 11)
    rows = np.exp(CUBE.reshape(2, 12) - CUBE.reshape(2, 12).max(1, keepdims=True))
    equal(run(model, x=CUBE), (rows / rows.sum(1, keepdims=True)).reshape(2, 3, 4))


def test_softmax_of_the_last_axis_needs_no_other_node(parse):
    from rlx.program import load

    model = parse("g (float[2,3] x) => (float[2,3] y) { y = Softmax(x) }", 11)
    assert [(n.operation, n.attributes) for n in load(model).nodes()] == [
        ("Softmax", (("axis", -1),))
    ]


@pytest.mark.parametrize("dims", ["1,4,1,1", "N,C,H,W"])
def test_group_normalization_once_scaled_groups(parse, run, dims):
    graph = f"g (float[{dims}] x, float[2] s, float[2] b) => (float[{dims}] y)"
    node = "{ y = GroupNormalization<num_groups=2, epsilon=0.0>(x, s, b) }"
    x = np.array([1, 3, 5, 9], f32).reshape(1, 4, 1, 1)
    y = run(parse(graph + node, 18), x=x, s=np.array([1, 10], f32), b=np.array([0, 1], f32))
    equal(y, np.array([-1, 1, -9, 11], f32).reshape(1, 4, 1, 1))


@pytest.mark.parametrize(("axis", "b"), [(0, (2,)), (1, (3,)), (1, (3, 4)), (2, (4,))])
def test_an_axis_once_said_where_the_second_operand_starts(parse, run, axis, b):
    dims = ",".join(map(str, b))
    node = f"{{ y = Add<broadcast=1, axis={axis}>(x, z) }}"
    z = np.arange(np.prod(b), dtype=f32).reshape(b)
    aligned = z.reshape(b + (1,) * (3 - axis - len(b)))
    model = parse(f"g (float[2,3,4] x, float[{dims}] z) => (float[2,3,4] y) {node}", 6)
    equal(run(model, x=CUBE, z=z), CUBE + aligned)


def test_a_prelu_slope_was_once_one_per_channel(parse, run):
    model = parse("g (float[2,3,3] x, float[3] s) => (float[2,3,3] y) { y = PRelu(x, s) }", 6)
    x, slope = -np.ones((2, 3, 3), f32), np.array([1, 2, 3], f32)
    equal(run(model, x=x, s=slope), x * slope[:, None])


@pytest.mark.parametrize("dtype", ["float", "double", "float16"])
def test_clip_bounds_take_the_dtype_of_the_data(parse, run, dtype):
    model = parse(f"g ({dtype}[3] x) => ({dtype}[3] y) {{ y = Clip<min=0.0, max=2.0>(x) }}", 6)
    x = np.array([-1, 1, 3], {"float": "f4", "double": "f8", "float16": "f2"}[dtype])
    (y,) = run(model, x=x)
    assert y.dtype == x.dtype
    assert y.tolist() == [0, 1, 2]


def test_clip_without_bounds_keeps_infinity(parse, run):
    model = parse("g (float[2] x) => (float[2] y) { y = Clip(x) }", 6)
    equal(run(model, x=np.array([-np.inf, np.inf], f32)), np.array([-np.inf, np.inf]))


def test_pad_values_take_the_dtype_of_the_data(parse, run):
    model = parse("g (double[1] x) => (double[3] y) { y = Pad<pads=[1,1], value=7.0>(x) }", 2)
    (y,) = run(model, x=np.array([1.0]))
    assert (y.dtype, y.tolist()) == (np.float64, [7, 1, 7])


def test_cast_once_named_the_dtype(parse, run):
    model = parse('g (float[2] x) => (int64[2] y) { y = Cast<to="INT64">(x) }', 5)
    equal(run(model, x=np.array([1.5, -1.5], f32)), [1, -1])


def test_upsample_counts_from_the_corner(parse, run):
    graph = "g (float[1,1,1,2] x, float[4] s) => (float[1,1,1,4] y)"
    model = parse(graph + '{ y = Upsample<mode="linear">(x, s) }', 9)
    x, scales = np.array([[[[0, 4]]]], f32), np.array([1, 1, 1, 2], f32)
    equal(run(model, x=x, s=scales), np.array([[[[0, 2, 4, 4]]]], f32))


def test_nearest_resize_once_went_up_when_it_shrank(parse, run):
    graph = "g (float[1,1,2,4] x) => (float[1,1,1,2] y) <float[4] s = {1, 1, 0.6, 0.6}>"
    equal(run(parse(graph + "{ y = Resize(x, s) }", 10), x=IMAGE), [[[[1, 3]]]])


def test_linear_resize_once_counted_from_the_corner(parse, run):
    graph = "g (float[1,1,2,4] x) => (float[1,1,1,2] y) <float[4] s = {1, 1, 0.6, 0.6}>"
    model = parse(graph + '{ y = Resize<mode="linear">(x, s) }', 10)
    equal(run(model, x=IMAGE), np.array([[[[1, 2.6666665]]]], f32))


def test_scan_once_ran_over_a_batch(parse, run):
    model = parse(
        """g (float[2,1] h, float[2,3,1] x) => (float[2,1] last, float[2,3,1] all) {
        last, all = Scan<num_scan_inputs=1, body = b (float[1] a, float[1] v) =>
          (float[1] s, float[1] o) { s = Add(a, v) o = Identity(s) }>(, h, x) }""",
        8,
    )
    x = np.arange(6, dtype=f32).reshape(2, 3, 1)
    equal(run(model, h=np.zeros((2, 1), f32), x=x), x.sum(1), x.cumsum(1))


def test_subgraphs_are_upgraded_too(parse, run):
    model = parse(
        """g (float[2,2,2] x, bool b) => (float[2,2,2] y) {
        y = If(b) <then_branch = t () => (float[2,2,2] a) { a = Hardmax<axis=1>(x) },
                   else_branch = e () => (float[2,2,2] c) { c = Identity(x) }> }""",
        11,
    )
    x = np.arange(8, dtype=f32).reshape(2, 2, 2)
    (y,) = run(model, x=x, b=np.array(True))
    assert y.sum(axis=(1, 2)).tolist() == [1, 1]


def test_spatial_zero_normalizes_each_activation(parse, run):
    graph = "g (float[2,1,2] x, float[1,2] s, float[1,2] b, float[1,2] m, float[1,2] v)"
    node = "{ y = BatchNormalization<spatial=0, epsilon=0.0>(x, s, b, m, v) }"
    x, one = np.arange(4, dtype=f32).reshape(2, 1, 2), np.ones((1, 2), f32)
    y = run(parse(graph + " => (float[2,1,2] y)" + node, 7), x=x, s=one, b=one, m=one, v=4 * one)
    equal(y, (x - 1) / 2 + 1)


def test_a_dropout_mask_keeps_its_old_dtype(parse, run):
    model = parse("g (float[2] x) => (float[2] y, float[2] m) { y, m = Dropout(x) }", 7)
    (y, mask) = run(model, x=np.array([3, 4], f32))
    assert (y.tolist(), mask.dtype, mask.tolist()) == ([3, 4], np.float32, [1, 1])


def test_tile_once_repeated_one_axis(parse, run):
    graph = "g (float[1,2] x) => (float[1,6] y) <float t = {3}, float a = {1}>"
    equal(run(parse(graph + "{ y = Tile(x, t, a) }", 1), x=np.array([[1, 2]], f32)), [[1, 2] * 3])


def test_label_encoder_once_had_one_list_of_classes():
    from rlx.program import load

    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["ai.onnx.ml": 1]>
        g (int64[2] x) => (string[2] y) {
        y = ai.onnx.ml.LabelEncoder<classes_strings=["a","b"], default_string="?">(x) }"""
    )
    (node,) = load(model).nodes()
    assert dict(node.attributes) == {
        "default_string": "?",
        "keys_int64s": (0, 1),
        "values_strings": ("a", "b"),
    }


REFUSED = [
    (6, "Dropout(x)", "is in training mode (is_test is 0)"),
    (1, "LpPool<kernel_shape=[1], p=1.5>(x)", "uses the norm of order 1.5, which is not whole"),
    (5, 'Cast<to="FLOAT7">(x)', "casts to 'FLOAT7', which is no data type"),
]


@pytest.mark.parametrize(("opset", "node", "reason"), REFUSED)
def test_what_cannot_be_said_is_refused_by_name(parse, refused, opset, node, reason):
    name = node.split("(")[0].split("<")[0]
    assert refused(parse(f"g (float[1,1,3] x) => (float[1,1,3] y) {{ y = {node} }}", opset)) == (
        f"node '{name}_0' ({name}) as opset {opset} defines it {reason}"
    )


def test_batch_statistics_are_refused_by_name(parse, refused):
    graph = "g (float[1,1,2] x, float[1] s) => (float[1,1,2] y, float[1] m, float[1] v)"
    node = "{ y, m, v, sm, sv = BatchNormalization(x, s, s, s, s) }"
    assert refused(parse(graph + node, 9)) == (
        "node 'BatchNormalization_0' (BatchNormalization) as opset 9 defines it "
        "is in training mode (it asks for the statistics)"
    )


def test_whole_numbers_without_a_meaning_are_refused_by_name(parse, refused):
    model = parse("g (int32[2] x) => (int32[1] y) { y = ReduceLogSum(x) }", 13)
    assert refused(model) == (
        "node 'ReduceLogSum_0' (ReduceLogSum) as opset 27 defines it takes int32, "
        "for which opset 28 has no meaning"
    )
