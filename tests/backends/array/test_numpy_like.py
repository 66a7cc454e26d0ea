"""cupy and dpnp: what they refuse anywhere, and what they compute where they are installed."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from rlx.backends.array.native_on_host import EXTENDED
from rlx.backends.protocol import CompileOptions, Found
from rlx.device import DeviceSpec
from rlx.errors import SettingError
from rlx.program import load

HEAD = '<ir_version: 10, opset_import: ["" : 21]>'


def cupy():
    from rlx.backends.array import cupy as module

    return DeviceSpec("cuda"), module.open_cuda, module.probe_cuda


def dpnp():
    from rlx.backends.array import dpnp as module

    return DeviceSpec("oneapi"), module.open_oneapi, module.probe_oneapi


@pytest.mark.parametrize("library", [cupy, dpnp])
def test_there_are_no_options(library):
    """They are refused before the library is imported."""
    spec, open_it, _ = library()
    with pytest.raises(SettingError) as caught:
        open_it(spec, {"fast": True})
    assert str(caught.value) == f"{library.__name__} has no options, got fast. Fix: remove them."


def test_cupy_is_not_opened_with_tf32(monkeypatch):
    """CuPy would use it for every product of the process, from the first one on."""
    monkeypatch.setenv("CUPY_TF32", "1")
    spec, open_it, _ = cupy()
    with pytest.raises(SettingError) as caught:
        open_it(spec, {})
    assert str(caught.value) == "CUPY_TF32 makes float32 products less exact. Fix: unset it."


def test_numpy_holds_what_it_has_no_dtype_of_its_own_for():
    """All of ml_dtypes' dtypes, and strings."""
    assert {"string", "bfloat16", "int4", "float8e8m0", "uint2"} <= EXTENDED
    assert not EXTENDED & {"bool", "int64", "uint64", "float16", "float64", "complex128"}


PROGRAMS = {
    "arithmetic": "g (float[2,3] x, float[3] y) => (float[2,3] z) { s = Mul(x, y) z = Tanh(s) }",
    "product": "g (float[2,3] x, float[3] y) => (float[2] z) { z = MatMul(x, y) }",
    "scatter": """g (float[2,3] x, float[3] y) => (float[2,3] z)
    <int64[2,1] at = {1, 1}, int64[2] s = {2, 3}> {
      u = Expand(y, s)
      z = ScatterND <reduction: string = "add"> (x, at, u)
    }""",
    "narrow": "g (float[2,3] x, float[3] y) => (float[2,3] z) "
    "{ a = Cast <to: int = 16> (x) b = Cast <to: int = 16> (y) c = Add(a, b) "
    "z = Cast <to: int = 1> (c) }",
}


@pytest.mark.parametrize(
    "library",
    [
        pytest.param(cupy, marks=pytest.mark.needs("cupy")),
        pytest.param(dpnp, marks=pytest.mark.needs("dpnp")),
    ],
)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_results_are_numpy_s(library, text):
    """On a device where there is one; where there is none, the probe says so."""
    from rlx.backends.array.numpy import open_cpu

    spec, open_it, probe = library()
    if not isinstance(found := probe(0), Found):
        pytest.skip(found)
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 0.5, -1], np.float32)
    program = load(parser.parse_model(HEAD + text))
    executable = open_it(spec, {}).compile(program, CompileOptions())
    wanted = open_cpu(DeviceSpec("cpu"), {}).compile(program, CompileOptions()).run([x, y])
    for one, other in zip(executable.run([x, y]), wanted, strict=True):
        np.testing.assert_allclose(executable.to_host(one), other, rtol=1e-5)
