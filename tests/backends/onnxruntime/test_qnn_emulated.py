"""Hexagon, emulated: it really computes, keeps its settings to itself, names what it refuses."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import onnx
import pytest

import rlx
from rlx.backends.isolated import Isolated
from rlx.backends.onnxruntime import open_qnn_emulated
from rlx.backends.onnxruntime.providers import QNN
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError, PrecisionError, Unavailable

pytestmark = [pytest.mark.needs("onnxruntime"), pytest.mark.needs("onnxruntime_qnn")]
HEXAGON = DeviceSpec("hexagon", 0)
MATMUL = "g (float[32,32] x, float[32,32] y) => (float[32,32] z) { z = MatMul(x, y) }"


def program(text: str) -> Any:
    return rlx.load(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}'))


def error(made: Any) -> float:
    """The largest error of a matmul, relative to its largest value."""
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal((32, 32)).astype(np.float32) for _ in range(2))
    wanted = x.astype(np.float64) @ y
    (z,) = made.run([x, y])
    return float(np.abs(z - wanted).max() / np.abs(wanted).max())


@pytest.fixture(scope="module")
def opened() -> Any:
    backend = open_qnn_emulated(HEXAGON, {})
    yield backend
    backend.close()


def test_it_computes_float32_as_stated(opened: Isolated) -> None:
    made = opened.compile(program(MATMUL), CompileOptions())
    assert (opened.device, made.device) == ("hexagon", "hexagon")
    assert error(made) < 1e-6
    assert "onnxruntime_qnn" in opened.version


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (
            "g (float[2] x, float[2] y) => (float[2] z) { a = Neg(x) z = Mod <fmod = 1> (a, y) }",
            "node 'Mod_1' Mod",
        ),
        ("g (float[N] x) => (float[N] z) { z = Neg(x) }", "node 'Neg_0' Neg"),
    ],
)
def test_what_it_does_not_take_is_named(opened: Isolated, text: str, node: str) -> None:
    """And never computed by the CPU."""
    with pytest.raises(ExecutionError) as caught:
        opened.compile(program(text), CompileOptions())
    assert str(caught.value) == (
        f"onnxruntime-qnn-emulated leaves {node} to the CPU. "
        "Fix: choose another backend for this program: try `rlx explain --all`."
    )


def test_settings_of_one_process_do_not_reach_another(opened: Isolated) -> None:
    """Told the chip, it computes in float16: allowed there, and float32 stays float32 here."""
    chip = open_qnn_emulated(HEXAGON, {"soc_model": 57})
    allowed = CompileOptions(precision_policy="allow")
    assert 1e-5 < error(chip.compile(program(MATMUL), allowed)) < 1e-2
    assert error(opened.compile(program(MATMUL), CompileOptions())) < 1e-6
    with pytest.raises(PrecisionError) as caught:
        chip.compile(program(MATMUL), CompileOptions())
    assert str(caught.value) == (
        "onnxruntime-qnn-emulated computes g in float16, it states float32. Fix: ask for precision "
        "f16, set precision_policy to warn or allow, or choose another backend."
    )
    assert error(chip.compile(program(MATMUL), CompileOptions("f16"))) < 1e-2
    chip.close()


def test_inputs_that_nothing_reads_and_values_without_elements(opened: Isolated) -> None:
    text = (
        "g (float[2] u, float[0,3] e, float[2,3] x) => (float[2,3] z) "
        "{ z = Concat <axis = 0> (e, x) }"
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    made = opened.compile(program(text), CompileOptions())
    (z,) = made.run([np.ones(2, np.float32), np.ones((0, 3), np.float32), x])
    np.testing.assert_array_equal(z, x)


def test_it_is_software_and_only_chosen_by_name() -> None:
    found = rlx.default_registry().get("onnxruntime-qnn-emulated")
    assert found is not None
    assert found.software
    with rlx.Session("hexagon") as session:
        route = session.route(program("g (float[2,2] x) => (float[2,2] z) { z = Add(x, x) }"))
    assert route.backend == "onnxruntime-qnn-emulated"


def test_what_the_library_prints_is_not_on_standard_output() -> None:
    script = (
        "import numpy as np, onnx, rlx\n"
        "text = 'g (float[2,2] x) => (float[2,2] z) { z = Add(x, x) }'\n"
        "model = onnx.parser.parse_model('<ir_version: 8, opset_import: [\"\": 17]> ' + text)\n"
        "with rlx.Session('hexagon') as session:\n"
        "    print(session.compile(model)(np.ones((2, 2), np.float32))[0].tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("[[2.0, 2.0], [2.0, 2.0]]\n", "")


def test_the_npu_itself_is_not_here() -> None:
    assert QNN.probe(0) == ("QNNExecutionProvider has devices of kind CPU here, none of kind NPU")
    with pytest.raises(Unavailable) as caught:
        open_qnn_emulated(DeviceSpec("hexagon", 1), {})
    assert str(caught.value) == (
        "onnxruntime-qnn-emulated has only hexagon:0, got hexagon:1. Fix: ask for hexagon."
    )
