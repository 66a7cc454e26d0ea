"""The kernels need no more than the array API standard: the literal cases in other libraries."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rlx.backends.array.engine import ArrayBackend
from rlx.backends.array.library import Library
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.program import load

STANDARD = {np.dtype(name) for name in ("bool", "float32", "float64", "int8", "uint8", "int32")}
STANDARD |= {np.dtype(name) for name in ("int16", "uint16", "int64", "complex64", "complex128")}


def literal_cases():
    """(operation, attributes, inputs, expected) of every sibling file that has them."""
    for path in sorted(Path(__file__).parent.glob("test_kernels_*.py")):
        if path == Path(__file__):
            continue
        spec = importlib.util.spec_from_file_location(f"cases_of_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for case in getattr(module, "CASES", ()):
            operation, attributes, inputs, expected = case if len(case) == 4 else ("Resize", *case)
            expected = expected if isinstance(expected, list) else [expected]
            if all(a is None or a.dtype in STANDARD for a in (*inputs, *expected)):
                yield pytest.param(operation, attributes, inputs, expected, id=operation)


def _strict():
    """A backend over array-api-strict, which has nothing beyond the standard."""
    import array_api_strict as xp

    return ArrayBackend(
        Library(
            name="array-api-strict",
            xp=xp,
            version=xp.__version__,
            device="cpu",
            to_native=xp.asarray,
            copy=lambda x: xp.asarray(x, copy=True),
        )
    )


def _torch():
    from rlx.backends.array.torch import open_cpu

    return open_cpu(DeviceSpec("cpu"), {})


def _torch_without_overrides():
    return ArrayBackend(replace(_torch()._library, overrides={}))


LIBRARIES = {
    "array_api_strict": (_strict, "array_api_strict"),
    "torch": (_torch, "torch"),
    "torch, portable kernels": (_torch_without_overrides, "torch"),
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(make, id=name, marks=pytest.mark.needs(module))
        for name, (make, module) in LIBRARIES.items()
    ],
)
def library(request):
    """A backend over one library."""
    return request.param()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), list(literal_cases()))
def test_a_library_gives_the_literal_result(
    library, make_node_model, operation, attributes, inputs, expected
):
    program = load(make_node_model(operation, attributes, inputs, expected))
    executable = library.compile(program, CompileOptions())
    results = executable.run([x for x in inputs if x is not None])
    for found, wanted in zip(map(executable.to_host, results), expected, strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
