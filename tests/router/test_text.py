"""The decision as text: whole messages."""

import pytest

from rlx.device import DeviceSpec
from rlx.errors import NoBackend
from rlx.origin import Origin
from rlx.registration import Coverage, Setting
from rlx.router import Fact, decide
from rlx.settings import Request

CUDA, CPU, METAL = DeviceSpec("cuda"), DeviceSpec("cpu"), DeviceSpec("metal")
WHERE = Origin("RLX_DEVICE", layer="environment")


@pytest.fixture
def registry(make_registry, backend, row):
    halves = row("MatMul", "Relu", dtypes=("float16", "float32"), line=88)
    return make_registry(
        backend("torch-cuda", "cuda", 10, module="torch", install="pip install 'rlx[torch]'"),
        backend("jax-cuda", "cuda", 20, line=52, coverage=Coverage((halves,))),
        backend("onnxruntime-cpu", rank=100, line=60),
    )


FACTS = {("torch-cuda", 0): Fact("torch is not installed", source=Origin("backends.yaml", 47, 9))}


def test_no_backend(registry, mlp):
    route = decide(registry, mlp, Request((CUDA,), source=WHERE), FACTS)
    assert str(route) == (
        "no backend can run mlp (2 nodes) on cuda\n"
        "  torch-cuda       unavailable   torch is not installed   "
        "Fix: pip install 'rlx[torch]'   (backends.yaml:47:9)\n"
        "  jax-cuda         coverage      node 'mm' MatMul: A is bfloat16, "
        "claimed: float16, float32   (configs/coverage/one.yaml:88:5)\n"
        "  onnxruntime-cpu  not-requested device is cpu, cuda was asked for by RLX_DEVICE"
    )


def test_the_error_is_the_route(registry, mlp):
    route = decide(registry, mlp, Request((CUDA,), source=WHERE), FACTS)
    error = route.error()
    assert isinstance(error, NoBackend)
    assert str(error) == str(route)
    assert error.route is route
    assert error.fix == "follow a fix listed above, or ask for another device."


def test_a_selected_backend_says_why(registry, mlp):
    request = Request((CUDA, CPU), source=WHERE)
    assert str(decide(registry, mlp, request, FACTS)) == (
        "mlp (2 nodes) runs on onnxruntime-cpu (cpu:0): "
        "cuda,cpu was asked for by RLX_DEVICE, rank 100\n"
        "  torch-cuda  unavailable torch is not installed   "
        "Fix: pip install 'rlx[torch]'   (backends.yaml:47:9)\n"
        "  jax-cuda    coverage    node 'mm' MatMul: A is bfloat16, "
        "claimed: float16, float32   (configs/coverage/one.yaml:88:5)"
    )


def test_a_rank_comes_with_its_history_and_an_unmeasured_claim_is_marked(
    make_registry, backend, mlp
):
    history = (
        Setting(100, Origin("packaged backends.yaml", 41, 11)),
        Setting(5, Origin("backends.yaml", 7, 26)),
    )
    claims = Coverage(backend("x").coverage.rows, "inherited", "onnxruntime-cpu")
    one = backend("one", rank=5, history=(("rank", history),), coverage=claims)
    route = decide(make_registry(one, backend("two", rank=6)), mlp, Request(), {})
    assert str(route) == (
        "mlp (2 nodes) runs on one (cpu:0): rank 5 (backends.yaml:7:26; was 100, "
        "packaged backends.yaml:41:11), coverage inherited from onnxruntime-cpu, "
        "not measured here\n"
        "  two  not-reached rank 6"
    )


def test_a_degraded_route_says_so(make_registry, backend, mlp):
    registry = make_registry(
        backend("a", rank=1, install="free some memory."), backend("b", rank=2)
    )
    route = decide(registry, mlp, Request(), {("a", 0): Fact(open_failure="out of\nmemory")})
    assert str(route) == (
        "mlp (2 nodes) runs on b (cpu:0): rank 2, degraded: an earlier choice failed to open\n"
        "  a  open-failed it failed to open: out of\\nmemory   "
        "Fix: free some memory.   (backends.yaml:41:5)"
    )


def test_a_device_that_nothing_serves(registry, mlp):
    route = decide(registry, mlp, Request((METAL,), source=WHERE), FACTS)
    assert str(route) == (
        "no backend can run mlp (2 nodes) on metal: no enabled backend serves metal\n"
        "  torch-cuda       not-requested device is cuda, metal was asked for by RLX_DEVICE\n"
        "  jax-cuda         not-requested device is cuda, metal was asked for by RLX_DEVICE\n"
        "  onnxruntime-cpu  not-requested device is cpu, metal was asked for by RLX_DEVICE\n"
        "Fix: register a backend with `device: metal` in a manifest (`rlx init` writes a starter "
        "with an example), or ask for another device (`rlx devices` lists them)."
    )
    assert route.error().fix.startswith("register a backend with `device: metal`")


def test_a_device_whose_backends_are_all_disabled(make_registry, backend, mlp):
    registry = make_registry(backend("a", "cuda", enabled=False), backend("b"))
    assert str(decide(registry, mlp, Request((CUDA,), source=WHERE), {})) == (
        "no backend can run mlp (2 nodes) on cuda: no enabled backend serves cuda\n"
        "  a  disabled      disabled in its registration   "
        "Fix: set `enabled: true` for a.   (backends.yaml:41:5)\n"
        "  b  not-requested device is cpu, cuda was asked for by RLX_DEVICE\n"
        "Fix: enable one that does (a), or ask for another device."
    )


def test_a_list_that_falls_through_says_why(make_registry, backend, mlp):
    request = Request((METAL, CPU), source=WHERE)
    assert str(decide(make_registry(backend("a")), mlp, request, {})) == (
        "mlp (2 nodes) runs on a (cpu:0): metal,cpu was asked for by RLX_DEVICE "
        "(no backend is registered for metal), rank 100"
    )


def test_only_the_oracle_is_left(make_registry, backend, mlp):
    registry = make_registry(
        backend("numpy"), backend("reference", rank=900, reference_oracle=True)
    )
    assert str(decide(registry, mlp, Request(disabled=("numpy",)), {})) == (
        "no backend can run mlp (2 nodes): only the reference oracle is left, and it is never "
        "chosen implicitly\n"
        "  numpy      disabled disabled by RLX_DISABLE=numpy   "
        "Fix: take numpy out of RLX_DISABLE.\n"
        "  reference  oracle   it is the reference oracle, chosen only when named by id   "
        "(backends.yaml:41:5)\n"
        "Fix: follow a fix listed above, or name the oracle: RLX_BACKEND=reference."
    )


def test_a_named_backend_that_does_not_fit(make_registry, backend, mlp):
    registry = make_registry(backend("a", capabilities=()), backend("b"))
    request = Request(backend="a", require=("deterministic",), source=Origin("RLX_BACKEND"))
    assert str(decide(registry, mlp, request, {})) == (
        "a cannot run mlp (2 nodes)\n"
        "  a  capability    lacks dynamic_shapes, which the program needs and deterministic, "
        "which was asked for   (backends.yaml:41:5)\n"
        "  b  not-requested backend is b, a was asked for by RLX_BACKEND"
    )


def test_the_index_tells_candidates_apart(make_registry, backend, mlp):
    registry = make_registry(backend("g", "cuda", call="m:f"))
    request = Request((DeviceSpec("cuda", 1), DeviceSpec("cuda", 0)), source=WHERE)
    facts = {("g", 1): Fact("there is 1 device"), ("g", 0): Fact("it is \x1b[31mbusy\u202e")}
    assert str(decide(registry, mlp, request, facts)) == (
        "no backend can run mlp (2 nodes) on cuda:1 or cuda:0\n"
        "  g (cuda:1)  unavailable there is 1 device   (backends.yaml:41:5)\n"
        "  g (cuda:0)  unavailable it is \\x1b[31mbusy\\u202e   (backends.yaml:41:5)"
    )


def test_a_program_without_a_name_is_the_program(make_registry, backend, mlp):
    registry = make_registry(backend("a", coverage=Coverage()))
    assert str(decide(registry, mlp.requirements, Request(), {})) == (
        "no backend can run the program (2 nodes)\n"
        "  a  coverage node 0 MatMul: the operation is not claimed   (backends.yaml:41:5)"
    )
