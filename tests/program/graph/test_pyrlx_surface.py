"""Code written for pyrlx's documented surface, autodiff aside, runs with `import rlx as pyrlx`."""

import inspect

import numpy as np
import pytest

import rlx as pyrlx
from rlx.program.graph.names import ACTIVATIONS, BINARY, COMPARISONS, DTYPES, NORMS, REDUCTIONS
from rlx.session.graphs import CompiledGraph

METHODS = {
    "input": "name shape dtype",
    "param": "name shape dtype",
    "set_outputs": "outputs",
    "shape_of": "id",
    "matmul": "lhs rhs",
    "matmul_with_shape": "lhs rhs out_shape dtype",
    "binary": "op lhs rhs",
    "add": "a b",
    "sub": "a b",
    "mul": "a b",
    "div": "a b",
    "activation": "kind input",
    "gelu": "x",
    "silu": "x",
    "relu": "x",
    "exp": "x",
    "sqrt": "x",
    "neg": "x",
    "tanh": "x",
    "compare": "op lhs rhs",
    "eq_": "a b",
    "lt_": "a b",
    "where_": "cond a b",
    "reduce": "input op axes keep_dim=False",
    "sum": "x axes keep_dim=False",
    "mean": "x axes keep_dim=False",
    "softmax": "input axis=-1",
    "cumsum": "input axis exclusive=False",
    "reshape": "x new_shape",
    "transpose": "x perm",
    "narrow": "x axis start length",
    "concat": "inputs axis",
    "gather": "table indices axis",
    "cast": "x to",
    "layer_norm": "input gamma beta axis=-1 eps=1e-05",
    "rms_norm": "input gamma beta eps=1e-05",
    "attention": "q k v mask num_heads head_dim",
    "attention_kind": "q k v num_heads head_dim mask_kind",
    "rope": "x cos sin head_dim",
    "fft": "x inverse=False",
    "fft_norm": "x inverse=False norm=backward",
    "rfft": "x norm=backward",
    "irfft": "re im n norm=backward",
    "fftfreq": "n",
    "rfftfreq": "n",
    "psd_real": "x norm=backward",
}
"""Every documented method of a graph, with its arguments' names and defaults."""
COMPILED = {
    "set_param": "name data",
    "run": "inputs",
    "run_flat": "inputs",
    "set_param_typed": "name data dtype",
    "run_typed": "inputs",
}
NAMES = {
    "dtypes": (DTYPES, "f32 f16 bf16 f64 i8 u8 i16 i32 u32 i64 bool"),
    "activations": (
        ACTIVATIONS,
        "gelu gelu_approx silu relu sigmoid tanh exp log sqrt rsqrt neg abs sin cos tan atan round",
    ),
    "binary": (BINARY, "add sub mul div max min pow + - * /"),
    "comparisons": (COMPARISONS, "eq ne lt le gt ge == != < <= > >="),
    "reductions": (REDUCTIONS, "sum mean max min prod"),
    "norms": (NORMS, "backward none forward ortho orthonormal"),
}


def parameters(function):
    """The names that a call may use, in order, each with its default."""
    _, *found = inspect.signature(function).parameters.values()
    return " ".join(
        one.name if one.default is one.empty else f"{one.name}={one.default}"
        for one in found
        if one.kind is one.POSITIONAL_OR_KEYWORD
    )


@pytest.mark.parametrize("name", METHODS)
def test_a_graph_has_every_documented_method(name):
    assert parameters(getattr(pyrlx.Graph, name)) == METHODS[name]
    assert getattr(pyrlx.Graph, name).__doc__


@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_graph_has_every_documented_method(name):
    assert parameters(getattr(CompiledGraph, name)) == COMPILED[name]


@pytest.mark.parametrize("kind", NAMES)
def test_the_names_that_methods_take(kind):
    table, names = NAMES[kind]
    assert list(table) == names.split()


def test_a_graph_has_no_methods_that_are_not_documented():
    own = {"to_program", "consume", "params", "barrier"}
    public = {name for name in dir(pyrlx.Graph) if not name.startswith("_")}
    assert public == {*METHODS, *own}


def build():
    """The example of pyrlx's documentation: gelu(x·w + b)."""
    g = pyrlx.Graph("matmul_bias_gelu")
    x = g.input("x", [2, 4], "f32")
    w, b = g.param("w", [4, 3], "f32"), g.param("b", [3], "f32")
    g.set_outputs([g.gelu(g.add(g.matmul(x, w), b))])
    return g


def test_the_canonical_example_on_every_device_here():
    ran, refused = set(), []
    for device in pyrlx.available_devices():
        session = pyrlx.Session(device=device)
        try:
            compiled = session.compile(build())
        except pyrlx.NoBackend as error:  # not all claim products of float32
            refused.append(str(error))
            continue
        ran.add(device)
        compiled.set_param("w", np.eye(4, 3, dtype=np.float32).reshape(-1))
        compiled.set_param("b", np.array([0.5, -0.5, 0.0], dtype=np.float32))
        [y] = compiled.run({"x": np.eye(2, 4, dtype=np.float32)})
        assert y.shape == (2, 3)
        np.testing.assert_allclose(y, [[1.3998, -0.1543, 0], [0.3457, 0.3457, 0]], atol=5e-4)
        compiled.close()
        session.close()
    assert "cpu" in ran
    assert all("claimed" in reason for reason in refused)


def test_the_first_example_with_lists():
    g = pyrlx.Graph("hello")
    x = g.input("x", (1, 4), "f32")
    w = g.param("w", (4, 2), "f32")
    g.set_outputs([g.matmul(x, w)])
    with pyrlx.Session("cpu") as session:
        compiled = session.compile(g)
        compiled.set_param("w", [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0])
        out = compiled.run({"x": [1.0, 2.0, 3.0, 4.0]})
    assert [one.tolist() for one in out] == [[[4.0, 6.0]]]
    compiled.close()


def test_devices_are_listed_and_asked_for_by_name():
    assert "cpu" in pyrlx.available_devices()
    assert pyrlx.is_available("cpu")
    with pytest.raises(ValueError, match="no device is named 'nope'; known: ane"):
        pyrlx.Session(device="nope")


@pytest.mark.parametrize(
    ("alias", "device"),
    [
        ("mtl", "metal"),
        ("neural-engine", "ane"),
        ("nvidia", "cuda"),
        ("hip", "rocm"),
        ("amd", "rocm"),
        ("wgpu", "gpu"),
        ("vk", "vulkan"),
        ("gl", "opengl"),
        ("dx12", "directx"),
        ("d3d12", "directx"),
        (" CUDA ", "cuda"),
    ],
)
def test_aliases_are_known(alias, device):
    with pyrlx.Session(device=alias) as session:
        assert session.device == device


def test_what_is_not_available_is_a_runtime_error_that_says_what_to_do():
    with pyrlx.Session(device="tpu") as session, pytest.raises(RuntimeError, match="Fix: "):
        session.compile(build())


def test_a_second_compilation_is_a_runtime_error():
    g = build()
    with pyrlx.Session(device="cpu") as session:
        session.compile(g).close()
        with pytest.raises(RuntimeError, match="was compiled"):
            session.compile(g)


@pytest.mark.parametrize("precision", ["f32", "f16", "bf16"])
def test_a_session_knows_its_device_and_precision(precision):
    with pyrlx.Session("cpu", precision) as session:
        assert (session.device, session.precision) == ("cpu", precision)
        assert repr(session) == f"<Session on cpu, precision {precision}>"
    with pytest.raises(ValueError, match="f8"):
        pyrlx.Session("cpu", "f8")


def shapes():
    """Documented shapes and dtypes of results: (build, dims, dtype)."""
    f32 = {"x": [2, 3], "c": [2, 3, 4], "v": [4], "s": [4, 4], "r": [1, 4, 8], "q": [1, 2, 4, 8]}
    g = pyrlx.Graph("shapes")
    n = {name: g.input(name, dims, "f32") for name, dims in f32.items()}
    n["i"], n["b"] = g.input("i", [3], "i64"), g.input("b", [2, 3], "bool")
    rows = [
        ("matmul", (g.transpose(n["c"], [0, 2, 1]), n["c"]), [2, 4, 4], "f32"),
        ("compare", ("lt", n["x"], n["x"]), [2, 3], "bool"),
        ("where_", (n["b"], n["x"], n["x"]), [2, 3], "f32"),
        ("sum", (n["c"], [1], False), [2, 4], "f32"),
        ("mean", (n["c"], [2], True), [2, 3, 1], "f32"),
        ("softmax", (n["c"],), [2, 3, 4], "f32"),
        ("cumsum", (n["c"], -1), [2, 3, 4], "f32"),
        ("reshape", (n["c"], [6, -1]), [6, 4], "f32"),
        ("narrow", (n["c"], 2, 1, 2), [2, 3, 2], "f32"),
        ("concat", ([n["x"], n["x"]], 0), [4, 3], "f32"),
        ("gather", (n["c"], n["i"], 0), [3, 3, 4], "f32"),
        ("cast", (n["x"], "f16"), [2, 3], "f16"),
        ("layer_norm", (n["c"], n["v"], n["v"]), [2, 3, 4], "f32"),
        ("rms_norm", (n["c"], n["v"], n["v"]), [2, 3, 4], "f32"),
        ("attention_kind", (n["q"], n["q"], n["q"], 2, 8, "causal"), [1, 2, 4, 8], "f32"),
        ("rope", (n["r"], n["s"], n["s"], 8), [1, 4, 8], "f32"),
        ("fft", (n["c"],), [2, 3, 4], "f32"),
        ("fftfreq", (5,), [5], "f64"),
        ("rfftfreq", (5,), [3], "f64"),
        ("psd_real", (n["c"],), [2, 3, 3], "f32"),
    ]
    return [pytest.param(g, *row, id=row[0]) for row in rows]


@pytest.mark.parametrize(("g", "method", "arguments", "dims", "dtype"), shapes())
def test_shapes_are_inferred(g, method, arguments, dims, dtype):
    assert g.shape_of(getattr(g, method)(*arguments)) == (dims, dtype)


def test_transforms_go_there_and_back_through_bytes():
    g = pyrlx.Graph("spectrum")
    x = g.input("x", [4], "f64")
    re, im = g.rfft(x, norm="forward")
    g.set_outputs([g.irfft(re, im, 4, norm="forward"), g.rfftfreq(4)])
    signal = np.array([1.0, 2.0, 3.0, 0.5])
    with pyrlx.Session(device="cpu") as session, session.compile(g) as compiled:
        (back, kind), (frequencies, _) = compiled.run_typed({"x": (signal.tobytes(), "f64")})
    np.testing.assert_allclose(np.frombuffer(back), signal)
    assert kind == "f64"
    np.testing.assert_array_equal(np.frombuffer(frequencies), [0, 0.25, 0.5])
