"""The torch backends: opening and probing, what goes in and out, and what they leave behind."""

from __future__ import annotations

import threading
import warnings

import ml_dtypes
import numpy as np
import pytest

from rlx.backends.array import torch as backend
from rlx.backends.protocol import Backend, CompileOptions, Executable, Found
from rlx.device import DeviceSpec
from rlx.errors import SettingError, Unavailable
from rlx.program import load

pytestmark = pytest.mark.needs("torch")
GPUS = {
    "torch-cuda": (backend.open_cuda, backend.probe_cuda, "cuda", "CUDA"),
    "torch-rocm": (backend.open_rocm, backend.probe_rocm, "rocm", "ROCm"),
    "torch-metal": (backend.open_metal, backend.probe_metal, "metal", "Metal"),
    "torch-xpu": (backend.open_xpu, backend.probe_xpu, "oneapi", "XPU"),
}


def compiled(text: str):
    """A program in ONNX's text form, without its header, on torch-cpu."""
    program = load(f'<ir_version: 10, opset_import: ["": 28]>\n{text}'.encode())
    return backend.open_cpu(DeviceSpec("cpu"), {}).compile(program, CompileOptions())


def run(executable, *inputs) -> list[np.ndarray]:
    return [executable.to_host(y) for y in executable.run(list(inputs))]


def test_backend_and_executable_satisfy_the_protocol():
    import torch

    opened = backend.open_cpu(DeviceSpec("cpu", 0), {})
    executable = compiled("m (float[2] x) => (float[2] y) { y = Neg(x) }")
    assert isinstance(opened, Backend)
    assert isinstance(executable, Executable)
    assert (opened.device, executable.device, opened.version) == ("cpu", "cpu", torch.__version__)
    assert executable.uncompiled is None


def test_there_is_one_cpu_without_options():
    with pytest.raises(
        Unavailable, match=r"^torch-cpu has only cpu:0, got cpu:1\. Fix: ask for cpu\.$"
    ):
        backend.open_cpu(DeviceSpec("cpu", 1), {})
    with pytest.raises(
        SettingError, match=r"^torch-cpu has no options, got a, b\. Fix: remove them\.$"
    ):
        backend.open_cpu(DeviceSpec("cpu"), {"b": 1, "a": 2})


@pytest.mark.parametrize("id", GPUS)
def test_a_probe_finds_the_device_or_says_why_not(id):
    import torch

    _, probe, _, what = GPUS[id]
    found = probe(0)
    if not isinstance(found, Found):
        assert found.startswith(
            (f"torch {torch.__version__} is built without {what}", "torch finds no ")
        )


@pytest.mark.parametrize("id", GPUS)
def test_opening_what_is_not_there_gives_the_probe_s_reason(id):
    opener, probe, device, _ = GPUS[id]
    reason = probe(7)
    assert isinstance(reason, str)
    with pytest.raises(Unavailable) as caught:
        opener(DeviceSpec(device, 7), {})
    assert str(caught.value) == f"{id} cannot use {device}:7: {reason}. Fix: see `rlx devices`."


def test_the_option_of_gpus_is_true_or_false_and_the_only_one():
    with pytest.raises(SettingError) as caught:
        backend.open_cuda(DeviceSpec("cuda"), {"cuda_graphs": "yes"})
    says = "torch-cuda: cuda_graphs is true or false, got 'yes'. Fix: write one of them."
    assert str(caught.value) == says
    with pytest.raises(SettingError) as caught:
        backend.open_rocm(DeviceSpec("rocm"), {"cuda_graphs": True, "graphs": 1})
    assert str(caught.value) == (
        "torch-rocm has the option cuda_graphs, got graphs. Fix: remove them."
    )


@pytest.mark.parametrize(
    "x",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.arange(6, dtype=np.float32).reshape(2, 3)[::-1, ::2],
        np.asarray(3.5, np.float64),
        np.zeros((0, 3), np.int8),
        np.asarray([True, False]),
        np.asarray([1 + 2j], np.complex64),
        np.asarray([1.5, -2.0, np.inf], ml_dtypes.bfloat16),
        np.asarray([1.5, np.nan], np.float16),
    ],
    ids=lambda x: f"{x.dtype}-{x.shape}",
)
@pytest.mark.parametrize("writeable", [True, False])
def test_arrays_go_in_and_come_back_as_they_were(x, writeable):
    from rlx.backends.array.native_torch_library import to_array, to_tensor

    given = x.view()
    given.flags.writeable = writeable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = to_array(to_tensor(given))
    assert (back.dtype, back.shape) == (x.dtype, x.shape)
    np.testing.assert_array_equal(back, x)


def test_an_output_is_not_the_input():
    x = np.ones(2, np.float32)
    (y,) = run(compiled("m (float[2] x) => (float[2] y) { y = Identity(x) }"), x)
    y[0] = 7
    assert x.tolist() == [1, 1]


def test_arrays_of_its_own_are_adopted():
    import torch

    executable = compiled("m (bfloat16[2] x) => (bfloat16[2] y) { y = Neg(x) }")
    x = torch.ones(2, dtype=torch.bfloat16)
    assert executable.adopt(x) is x
    assert executable.adopt(np.ones(2)) is None
    (y,) = executable.run([x])
    assert executable.describe(y) == ("bfloat16", (2,))
    assert executable.to_host(y).tolist() == [-1, -1]


def test_steps_backwards_are_slices_too():
    text = """m (float[5] x, int64[1] s, int64[1] e, int64[1] a, int64[1] d) => (float[N] y) {
      y = Slice(x, s, e, a, d)
    }"""
    executable = compiled(text)
    x = np.arange(5, dtype=np.float32)
    for start, end, step in ((4, 0, -1), (-1, -9, -2), (9, 1, -3), (1, 4, 1), (0, 3, -1)):
        parts = (np.asarray([n]) for n in (start, end, 0, step))
        stop = None if end < -5 else end
        np.testing.assert_array_equal(run(executable, x, *parts)[0], x[start:stop:step])


PRODUCT = "m (float[2,2] x) => (float[2,2] y) { y = MatMul(x, x) }"


def test_less_than_float32_is_switched_off_for_our_runs_alone():
    import torch

    from rlx.backends.array.native_torch_precision import Exactly

    place = torch.backends.cuda.matmul
    before = place.fp32_precision
    place.fp32_precision = "tf32"
    try:
        seen = Exactly("cuda")(lambda: (place.fp32_precision, torch.is_inference_mode_enabled()))
        assert seen == ("ieee", True)
        with pytest.raises(ZeroDivisionError):
            Exactly("cuda")(lambda: 1 / 0)
        assert place.fp32_precision == "tf32"
    finally:
        place.fp32_precision = before


def test_the_last_of_several_runs_gives_the_setting_back():
    import torch

    from rlx.backends.array.native_torch_precision import Exactly

    place = torch.backends.cuda.matmul
    before = place.fp32_precision
    place.fp32_precision = "tf32"
    exactly, inside, leave = Exactly("cuda"), threading.Event(), threading.Event()

    def wait():
        inside.set()
        leave.wait(10)

    other = threading.Thread(target=lambda: exactly(wait))
    try:
        other.start()
        inside.wait(10)
        exactly(lambda: None)
        assert place.fp32_precision == "ieee"
        leave.set()
        other.join()
        assert place.fp32_precision == "tf32"
    finally:
        place.fp32_precision = before


def test_a_run_leaves_torch_as_it_was():
    import torch

    run(compiled(PRODUCT), np.ones((2, 2), np.float32))
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()
    assert torch.get_float32_matmul_precision() == "highest"


def test_what_a_run_moves_is_given_again_while_it_is_recorded():
    from rlx.backends.array.native_torch_graphs import _taped, moving
    from rlx.backends.array.native_torch_library import to_tensor

    to_native = moving(to_tensor)
    first, second = np.ones(2, np.float32), np.zeros(3, np.int64)
    moved = []
    with _taped(moved, None):
        made = [to_native(first), to_native(second)]
    with _taped(moved, 0):
        assert [to_native(first) is made[0], to_native(second) is made[1]] == [True, True]
    assert to_native(first) is not made[0]


@pytest.mark.parametrize(
    "shapes",
    [((2, 3), (3, 4)), ((5, 1, 2, 3), (4, 3, 2)), ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,))],
)
def test_integers_are_multiplied_exactly_where_gpus_have_no_product(shapes):
    from rlx.backends.array.native_torch_library import to_tensor, whole_matmul

    random = np.random.default_rng(0)
    a, b = (random.integers(-(2**40), 2**40, shape) for shape in shapes)
    found = whole_matmul(to_tensor(a), to_tensor(b)).numpy()
    np.testing.assert_array_equal(found, np.matmul(a, b))


@pytest.mark.parametrize("count", [1, 5, 64])
def test_gelu_of_what_is_huge_is_what_its_definition_gives(count):
    """PyTorch's own gives NaN for infinity, and infinity for 3e38, on CPUs."""
    text = f"m (float[{count}] x) => (float[{count}] y) {{ y = Gelu(x) }}"
    for value, wanted in ((np.inf, np.inf), (3e38, 3e38), (-np.inf, np.nan), (-3e38, -0.0)):
        (y,) = run(compiled(text), np.full(count, value, np.float32))
        np.testing.assert_array_equal(y, np.full(count, wanted, np.float32))
