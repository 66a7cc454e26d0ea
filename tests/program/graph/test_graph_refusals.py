"""What a graph's methods refuse, and the whole message: the method, the argument, what was got."""

from types import SimpleNamespace

import pytest

import rlx

REFUSALS = [
    (lambda g, n: g.input("", (1,), "f32"), "input: name must be text, not empty, got ''"),
    (lambda g, n: g.input(3, (1,), "f32"), "input: name must be text, not empty, got 3"),
    (
        lambda g, n: g.input("f", (1,), "f32"),
        "input: the name 'f' is taken",
        "choose another name.",
    ),
    (
        lambda g, n: g.param("v", (1,), "f32"),
        "param: the name 'v' is taken",
        "choose another name.",
    ),
    (lambda g, n: g.input("new", 3, "f32"), "input: shape must be a list of sizes, got 3"),
    (
        lambda g, n: g.input("new", (1.5,), "f32"),
        "input: shape[0] must be a whole number of 0 or above, got 1.5",
    ),
    (
        lambda g, n: g.input("new", (True,), "f32"),
        "input: shape[0] must be a whole number of 0 or above, got True",
    ),
    (
        lambda g, n: g.input("new", (-1,), "f32"),
        "input: shape[0] must be a whole number of 0 or above, got -1",
    ),
    (
        lambda g, n: g.input("new", ("a b",), "f32"),
        "input: shape[0] must be a size or a name, got 'a b'",
        "name a size that may vary with letters, such as 'n'.",
    ),
    (
        lambda g, n: g.param("new", ("n",), "f32"),
        "param: shape[0] must be a whole number of 0 or above, got 'n'",
    ),
    (
        lambda g, n: g.input("new", (1,), "float32"),
        "input: there is no dtype 'float32'",
        "pass one of f32, f16, bf16, f64, i8, u8, i16, i32, u32, i64, bool.",
    ),
    (
        lambda g, n: g.input("new", (1,), "F64x"),
        "input: there is no dtype 'F64x', did you mean 'f64'?",
        "pass one of f32, f16, bf16, f64, i8, u8, i16, i32, u32, i64, bool.",
    ),
    (
        lambda g, n: g.input("new", (1,), None),
        "input: there is no dtype None",
        "pass one of f32, f16, bf16, f64, i8, u8, i16, i32, u32, i64, bool.",
    ),
    (lambda g, n: g.set_outputs([]), "set_outputs: outputs has no node", "pass at least one node."),
    (lambda g, n: g.set_outputs(n.f), "set_outputs: outputs must be a list of nodes, got 0"),
    (lambda g, n: g.set_outputs("fi"), "set_outputs: outputs must be a list of nodes, got 'fi'"),
    (
        lambda g, n: g.set_outputs([99]),
        "set_outputs: outputs[0] is 99, and the graph has 9 nodes",
        "pass what a method of this graph returned.",
    ),
    (lambda g, n: g.shape_of("f"), "shape_of: id must be a whole number, got 'f'"),
    (
        lambda g, n: g.shape_of(-1),
        "shape_of: id is -1, and the graph has 9 nodes",
        "pass what a method of this graph returned.",
    ),
    (lambda g, n: g.shape_of(1.0), "shape_of: id must be a whole number, got 1.0"),
    (lambda g, n: g.add(n.f, n.alien), "add: b is a node of the graph 'other', not of 'g'"),
    (lambda g, n: g.add(n.f, True), "add: b must be a whole number, got True"),
    (lambda g, n: g.add(n.f, 0.5), "add: b must be a whole number, got 0.5"),
    (
        lambda g, n: g.add(n.f, n.i),
        "add: a is f32[2,4] and b is i64[n,4], both must have one dtype",
        "convert one of them, such as with cast(b, 'f32').",
    ),
    (
        lambda g, n: g.add(n.b, n.b),
        "add: a is bool[2,4], it takes f32, f16, bf16, f64, i8, u8, i16, i32, u32, i64",
        "convert it with cast(a, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.add(n.f, n.z1),
        "add: a is f32[2,4] and b is f32[2,3], their shapes do not broadcast",
    ),
    (
        lambda g, n: g.binary("addd", n.f, n.f),
        "binary: there is no op 'addd', did you mean 'add'?",
        "pass one of add, sub, mul, div, max, min, pow, +, -, *, /.",
    ),
    (
        lambda g, n: g.binary(None, n.f, n.f),
        "binary: there is no op None",
        "pass one of add, sub, mul, div, max, min, pow, +, -, *, /.",
    ),
    (
        lambda g, n: g.binary("max", n.f, n.h),
        "binary: lhs is f32[2,4] and rhs is f16[2,4], both must have one dtype",
        "convert one of them, such as with cast(rhs, 'f32').",
    ),
    (
        lambda g, n: g.compare("~", n.f, n.f),
        "compare: there is no op '~'",
        "pass one of eq, ne, lt, le, gt, ge, ==, !=, <, <=, >, >=.",
    ),
    (
        lambda g, n: g.compare("lt", n.b, n.b),
        "compare: lhs is bool[2,4], it takes f32, f16, bf16, f64, i8, u8, i16, i32, u32, i64",
        "convert it with cast(lhs, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.eq_(n.f, n.i),
        "eq_: a is f32[2,4] and b is i64[n,4], both must have one dtype",
        "convert one of them, such as with cast(b, 'f32').",
    ),
    (
        lambda g, n: g.lt_(n.f, n.z1),
        "lt_: a is f32[2,4] and b is f32[2,3], their shapes do not broadcast",
    ),
    (
        lambda g, n: g.where_(n.f, n.f, n.f),
        "where_: cond is f32[2,4], it takes bool",
        "convert it with cast(cond, 'bool'), if that is meant.",
    ),
    (
        lambda g, n: g.where_(n.b, n.f, n.i),
        "where_: a is f32[2,4] and b is i64[n,4], both must have one dtype",
        "convert one of them, such as with cast(b, 'f32').",
    ),
    (
        lambda g, n: g.where_(n.b, n.f, n.z1),
        "where_: cond is bool[2,4], a is f32[2,4], b is f32[2,3], their shapes do not broadcast",
    ),
    (
        lambda g, n: g.activation("gleu", n.f),
        "activation: there is no kind 'gleu', did you mean 'gelu'?",
        (
            "pass one of gelu, gelu_approx, silu, relu, sigmoid, tanh, exp, log, sqrt, rsqrt, "
            "neg, abs, sin, cos, tan, atan, round."
        ),
    ),
    (
        lambda g, n: g.activation("gelu", n.i),
        "activation: input is i64[n,4], it takes f32, f16, bf16, f64",
        "convert it with cast(input, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.gelu(n.i),
        "gelu: x is i64[n,4], it takes f32, f16, bf16, f64",
        "convert it with cast(x, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.relu(n.b),
        "relu: x is bool[2,4], it takes f32, f16, bf16, f64, i8, i16, i32, i64",
        "convert it with cast(x, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.neg(n.b),
        "neg: x is bool[2,4], it takes f32, f16, bf16, f64, i8, i16, i32, i64",
        "convert it with cast(x, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.cast(n.f, "int"),
        "cast: there is no dtype 'int'",
        "pass one of f32, f16, bf16, f64, i8, u8, i16, i32, u32, i64, bool.",
    ),
    (
        lambda g, n: g.reduce(n.f, "summ", [0]),
        "reduce: there is no op 'summ', did you mean 'sum'?",
        "pass one of sum, mean, max, min, prod.",
    ),
    (lambda g, n: g.reduce(n.f, "sum", 0), "reduce: axes must be a list of whole numbers, got 0"),
    (
        lambda g, n: g.reduce(n.f, "sum", [2]),
        "reduce: input is f32[2,4], so axes[0] must be from -2 to 1, got axes[0] = 2",
    ),
    (lambda g, n: g.reduce(n.f, "sum", [0, -2]), "reduce: axes names an axis twice, got [0, -2]"),
    (
        lambda g, n: g.reduce(n.b, "mean", [0]),
        "reduce: input is bool[2,4], it takes f32, f16, bf16, f64, i32, u32, i64",
        "convert it with cast(input, 'f32'), if that is meant.",
    ),
    (lambda g, n: g.sum(n.f, [0], keep_dim=1), "sum: keep_dim must be True or False, got 1"),
    (lambda g, n: g.mean(n.s, [0]), "mean: x is f32[], so it has no axes, got axes[0] = 0"),
    (
        lambda g, n: g.softmax(n.f, 2),
        "softmax: input is f32[2,4], so axis must be from -2 to 1, got axis = 2",
    ),
    (
        lambda g, n: g.softmax(n.i),
        "softmax: input is i64[n,4], it takes f32, f16, bf16, f64",
        "convert it with cast(input, 'f32'), if that is meant.",
    ),
    (lambda g, n: g.softmax(n.f, "1"), "softmax: axis must be a whole number, got '1'"),
    (
        lambda g, n: g.cumsum(n.f, -3),
        "cumsum: input is f32[2,4], so axis must be from -2 to 1, got axis = -3",
    ),
    (
        lambda g, n: g.cumsum(n.b, 0),
        "cumsum: input is bool[2,4], it takes f32, f16, bf16, f64, i32, u32, i64",
        "convert it with cast(input, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.cumsum(n.f, 0, exclusive="no"),
        "cumsum: exclusive must be True or False, got 'no'",
    ),
    (
        lambda g, n: g.layer_norm(n.f, n.v, n.z1),
        "layer_norm: input is f32[2,4], so beta must be [4], but beta is f32[2,3]",
    ),
    (
        lambda g, n: g.layer_norm(n.f, n.v, n.h),
        "layer_norm: input is f32[2,4] and beta is f16[2,4], both must have one dtype",
        "convert one of them, such as with cast(beta, 'f32').",
    ),
    (
        lambda g, n: g.layer_norm(n.f, n.v, n.v, axis=0),
        "layer_norm: input is f32[2,4], so gamma must be [2,4], but gamma is f32[4]",
    ),
    (
        lambda g, n: g.layer_norm(n.f, n.v, n.v, eps="small"),
        "layer_norm: eps must be a number, got 'small'",
    ),
    (
        lambda g, n: g.layer_norm(n.s, n.v, n.v),
        "layer_norm: input is f32[], so it has no axes, got axis = -1",
    ),
    (
        lambda g, n: g.rms_norm(n.z1, n.v, n.v),
        "rms_norm: input is f32[2,3], so gamma must be [3], but gamma is f32[4]",
    ),
    (
        lambda g, n: g.rms_norm(n.i, n.v, n.v),
        "rms_norm: input is i64[n,4], it takes f32, f16, bf16, f64",
        "convert it with cast(input, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.reshape(n.f, [3, 3]),
        "reshape: x is f32[2,4], whose elements (8) do not fill new_shape [3, 3]",
    ),
    (
        lambda g, n: g.reshape(n.f, [-1, -1]),
        "reshape: new_shape has -1 more than once, got [-1, -1]",
    ),
    (
        lambda g, n: g.reshape(n.f, [-1, 3]),
        "reshape: x is f32[2,4], whose elements (8) do not fill new_shape [-1, 3]",
    ),
    (
        lambda g, n: g.reshape(n.f, [-2]),
        "reshape: new_shape[0] must be a whole number of -1 or above, got -2",
    ),
    (
        lambda g, n: g.reshape(n.f, [0, -1]),
        "reshape: x is f32[2,4], whose elements (8) do not fill new_shape [0, -1]",
    ),
    (
        lambda g, n: g.transpose(n.f, [0]),
        "transpose: x is f32[2,4], so perm must name 2 axes, got [0]",
    ),
    (lambda g, n: g.transpose(n.f, [0, 0]), "transpose: perm names an axis twice, got [0, 0]"),
    (
        lambda g, n: g.transpose(n.f, [0, 2]),
        "transpose: x is f32[2,4], so perm[1] must be from -2 to 1, got perm[1] = 2",
    ),
    (lambda g, n: g.narrow(n.f, 0, 1, 2), "narrow: x is f32[2,4], 1 to 3 is beyond its axis 0"),
    (
        lambda g, n: g.narrow(n.f, 2, 0, 1),
        "narrow: x is f32[2,4], so axis must be from -2 to 1, got axis = 2",
    ),
    (
        lambda g, n: g.narrow(n.f, 0, -1, 1),
        "narrow: start must be a whole number of 0 or above, got -1",
    ),
    (lambda g, n: g.concat([], 0), "concat: inputs has no node", "pass at least one node."),
    (lambda g, n: g.concat(n.f, 0), "concat: inputs must be a list of nodes, got 0"),
    (
        lambda g, n: g.concat([n.f, n.i], 0),
        "concat: inputs[0] is f32[2,4] and inputs[1] is i64[n,4], both must have one dtype",
        "convert one of them, such as with cast(inputs[1], 'f32').",
    ),
    (
        lambda g, n: g.concat([n.f, n.z1], 0),
        "concat: inputs[0] is f32[2,4] and inputs[1] is f32[2,3], they must agree but for axis 0",
    ),
    (
        lambda g, n: g.concat([n.f, n.v], 0),
        "concat: inputs[0] is f32[2,4] and inputs[1] is f32[4], they must agree but for axis 0",
    ),
    (
        lambda g, n: g.concat([n.f, n.f], 2),
        "concat: inputs[0] is f32[2,4], so axis must be from -2 to 1, got axis = 2",
    ),
    (
        lambda g, n: g.gather(n.f, n.f, 0),
        "gather: indices is f32[2,4], it takes i32, i64",
        "convert it with cast(indices, 'i32'), if that is meant.",
    ),
    (
        lambda g, n: g.gather(n.f, n.i, 5),
        "gather: table is f32[2,4], so axis must be from -2 to 1, got axis = 5",
    ),
    (
        lambda g, n: g.matmul(n.f, n.f),
        "matmul: lhs is f32[2,4] and rhs is f32[2,4], which have no product",
    ),
    (
        lambda g, n: g.matmul(n.b, n.b),
        "matmul: lhs is bool[2,4] and rhs is bool[2,4], which have no product",
    ),
    (
        lambda g, n: g.matmul(n.f, n.s),
        "matmul: lhs is f32[2,4] and rhs is f32[], each must have a dimension",
    ),
    (
        lambda g, n: g.matmul(n.f, n.h),
        "matmul: lhs is f32[2,4] and rhs is f16[2,4], which have no product",
    ),
    (
        lambda g, n: g.matmul_with_shape(n.f, n.v, [3], "f32"),
        "matmul_with_shape: the result is f32[2], f32[3] was stated",
    ),
    (
        lambda g, n: g.matmul_with_shape(n.f, n.v, [2], "f16"),
        "matmul_with_shape: the result is f32[2], f16[2] was stated",
    ),
    (
        lambda g, n: g.attention_kind(n.q, n.q, n.q, 2, 4, "diagonal"),
        "attention_kind: there is no mask_kind 'diagonal'",
        "pass none, causal, or sliding:W with the number of earlier keys, such as sliding:4.",
    ),
    (
        lambda g, n: g.attention_kind(n.q, n.q, n.q, 2, 4, "sliding:-1"),
        "attention_kind: there is no mask_kind 'sliding:-1'",
        "pass none, causal, or sliding:W with the number of earlier keys, such as sliding:4.",
    ),
    (
        lambda g, n: g.attention_kind(n.q, n.q, n.q, 3, 4, "none"),
        (
            "attention_kind: q is f32[1,2,3,4], it must be [batch,3,length,4] or "
            "[batch,length,12] (3 heads of 4)"
        ),
    ),
    (
        lambda g, n: g.attention_kind(n.q, n.z3, n.q, 2, 4, "none"),
        (
            "attention_kind: q is f32[1,2,3,4], k is f32[1,3,8]: it must have the same batch "
            "and head_dim, and a number of heads that divides 2"
        ),
    ),
    (
        lambda g, n: g.attention_kind(n.f, n.f, n.f, 1, 4, "none"),
        (
            "attention_kind: q is f32[2,4], it must be [batch,1,length,4] or [batch,length,4] "
            "(1 heads of 4)"
        ),
    ),
    (
        lambda g, n: g.attention(n.q, n.q, n.q, n.z1, 2, 4),
        "attention: mask is f32[2,3], it must be [1,3], or broadcast to [1,heads,3,3]",
    ),
    (
        lambda g, n: g.attention(n.q, n.q, n.q, n.q, 2, 4),
        "attention: mask is f32[1,2,3,4], it must be [1,3], or broadcast to [1,heads,3,3]",
    ),
    (
        lambda g, n: g.attention_kind(n.q, n.q, n.q, 0, 4, "none"),
        "attention_kind: num_heads must be a whole number of 1 or above, got 0",
    ),
    (
        lambda g, n: g.rope(n.f, n.f, n.f, 4),
        (
            "rope: x is f32[2,4], it takes [batch,length,heads*4] or [batch,heads,length,4], "
            "head_dim even"
        ),
    ),
    (
        lambda g, n: g.rope(n.q, n.f, n.f, 4),
        "rope: x is f32[1,2,3,4], so cos must be [3,2] or [1,3,2], but cos is f32[2,4]",
    ),
    (
        lambda g, n: g.rope(n.q, n.z1, n.z1, 3),
        (
            "rope: x is f32[1,2,3,4], it takes [batch,length,heads*3] or "
            "[batch,heads,length,3], head_dim even"
        ),
    ),
    (
        lambda g, n: g.fft(n.z1),
        "fft: x is f32[2,3], its last axis must hold 2n numbers: n real, n imaginary",
    ),
    (
        lambda g, n: g.fft(n.i),
        "fft: x is i64[n,4], it takes f32, f16, bf16, f64",
        "convert it with cast(x, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.fft(n.s),
        "fft: x is f32[], its last axis must hold 2n numbers: n real, n imaginary",
    ),
    (lambda g, n: g.fft(n.f, inverse=1), "fft: inverse must be True or False, got 1"),
    (
        lambda g, n: g.fft_norm(n.f, norm="orto"),
        "fft_norm: there is no norm 'orto', did you mean 'ortho'?",
        "pass one of backward, none, forward, ortho, orthonormal.",
    ),
    (lambda g, n: g.rfft(n.s), "rfft: x is f32[], it has no numbers to transform"),
    (
        lambda g, n: g.rfft(n.i),
        "rfft: x is i64[n,4], it takes f32, f16, bf16, f64",
        "convert it with cast(x, 'f32'), if that is meant.",
    ),
    (
        lambda g, n: g.irfft(n.f, n.f, 4),
        "irfft: re is f32[2,4], its last axis must have n//2 + 1 = 3",
    ),
    (lambda g, n: g.irfft(n.z1, n.z1, 0), "irfft: n must be a whole number of 1 or above, got 0"),
    (
        lambda g, n: g.irfft(n.z1, n.z3, 4),
        "irfft: im is f32[1,3,8], its last axis must have n//2 + 1 = 3",
    ),
    (
        lambda g, n: g.irfft(n.f, n.h, 6),
        "irfft: re is f32[2,4] and im is f16[2,4], both must have one dtype",
        "convert one of them, such as with cast(im, 'f32').",
    ),
    (lambda g, n: g.fftfreq(0), "fftfreq: n must be a whole number of 1 or above, got 0"),
    (lambda g, n: g.rfftfreq(2.5), "rfftfreq: n must be a whole number of 1 or above, got 2.5"),
    (
        lambda g, n: g.psd_real(n.b),
        "psd_real: x is bool[2,4], it takes f32, f16, bf16, f64",
        "convert it with cast(x, 'f32'), if that is meant.",
    ),
]
"""The call, its message, and its fix where that is not the class's."""


@pytest.fixture
def nodes():
    """A graph, its nodes by name, and a node of another graph."""
    g = rlx.Graph("g")
    shapes = {"f": ((2, 4), "f32"), "i": (("n", 4), "i64"), "b": ((2, 4), "bool")}
    shapes |= {"h": ((2, 4), "f16"), "s": ((), "f32"), "q": ((1, 2, 3, 4), "f32")}
    found = {name: g.input(name, *one) for name, one in shapes.items()}
    found["v"] = g.param("v", (4,), "f32")
    found |= {name: g.input(name, one, "f32") for name, one in (("z3", (1, 3, 8)), ("z1", (2, 3)))}
    other = rlx.Graph("other")
    return g, SimpleNamespace(**found, alien=other.input("x", (2, 4), "f32"))


@pytest.mark.parametrize("row", REFUSALS, ids=lambda row: row[1].partition(":")[0])
def test_what_does_not_fit_is_refused_where_it_is_written(nodes, refusal, row):
    call, message, *fix = row
    wanted = fix[0] if fix else rlx.GraphError.fix
    assert refusal(call, *nodes) == f"{message}. Fix: {wanted}"


def test_a_refusal_leaves_the_graph_as_it_was(nodes, refusal):
    g, n = nodes
    refusal(g.gelu, n.i)
    assert len(g) == 9
    g.set_outputs([g.gelu(n.f)])
    assert g.to_program().node_count == 1


def test_a_graph_without_outputs_is_no_program(refusal):
    message = "the graph 'g' has no outputs. Fix: state them with set_outputs([...])."
    assert refusal(rlx.Graph("g").to_program) == message


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_graph_has_a_name(refusal, name):
    message = f"Graph: name must be text, not empty, got {name!r}. Fix: {rlx.GraphError.fix}"
    assert refusal(rlx.Graph, name) == message


def test_a_refusal_is_a_value_error_with_a_code():
    assert issubclass(rlx.GraphError, ValueError)
    assert (rlx.GraphError.code, rlx.GraphConsumed.code) == ("graph", "graph-consumed")
    assert issubclass(rlx.GraphConsumed, RuntimeError)
