"""Why each operation of `NEVER` is not lowered, shown by the body that ONNX gives it."""

import numpy as np
import pytest
from onnx import helper
from onnx.helper import np_dtype_to_tensor_dtype as element
from onnx.reference import ReferenceEvaluator

import rlx
from rlx.operations import Vocabulary
from rlx.operations.lowering import Library, lowered, plan, unit_of
from rlx.operations.never import NEVER
from rlx.registries import Registry

SHIFTED = (np.random.default_rng(0).normal(size=(2, 4, 8)) + 1000).astype(np.float32)
"""Values around 1000 with a deviation of 1."""
ONES, ZEROS = np.ones(4, np.float32), np.zeros(4, np.float32)
INT = np.int64


class Unguarded(Vocabulary):
    """The packaged words, as if nothing were kept from being lowered."""

    lowerable = frozenset({*NEVER, "CastLike"})


@pytest.fixture(scope="module")
def body():
    """Runs the function body of an operation on float32 values."""
    words = Registry.load(only=True).vocabulary
    library = Library(Unguarded(words.operations, words.opset, "unguarded"))

    def run(operation, *inputs, outputs=1, **attributes):
        names = [f"x{place}" for place in range(len(inputs))]
        made = [f"y{place}" for place in range(outputs)]
        values = [
            helper.make_tensor_value_info(name, element(one.dtype), one.shape)
            for name, one in zip(names, inputs, strict=True)
        ]
        dtypes = (2, 1, 2) if outputs == 3 else (element(inputs[0].dtype),)
        results = [
            helper.make_tensor_value_info(name, dtype, None)
            for name, dtype in zip(made, dtypes, strict=True)
        ]
        node = helper.make_node(operation, names, made, **attributes)
        graph = helper.make_graph([node], "g", values, results)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=10)
        program = rlx.load(model)
        found = plan(unit_of(program, library), lambda one: one.operation != operation)
        feed = dict(zip(names, inputs, strict=True))
        return ReferenceEvaluator(lowered(program, found).to_onnx()).run(None, feed)

    return run


def normalised(values, axes):
    wide = values.astype(np.float64)
    return (wide - wide.mean(axes, keepdims=True)) / wide.std(axes, keepdims=True)


def off(found, expected):
    return float(np.max(np.abs(found - expected)))


def test_the_variance_of_the_normalizations_cancels(body):
    """Off by tenths, where the result is of order 1."""
    flat = SHIFTED.reshape(2, 4, 2, 4)
    (layer,) = body("LayerNormalization", SHIFTED, np.ones(8, np.float32))
    (mean,) = body("MeanVarianceNormalization", flat)
    (group,) = body("GroupNormalization", flat, ONES, ZEROS, num_groups=2)
    grouped = normalised(flat.reshape(2, 2, -1), (2,)).reshape(flat.shape)
    assert off(layer, normalised(SHIFTED, (2,))) > 0.2
    assert off(mean, normalised(flat, (0, 2, 3))) > 0.02
    assert off(group, grouped) > 0.02


@pytest.mark.filterwarnings("ignore:overflow", "ignore:divide by zero", "ignore:invalid value")
def test_exp_of_the_values_themselves_overflows(body):
    """The results are 100 and 1000, and infinity comes out."""
    (soft,) = body("Softplus", np.array([100], np.float32))
    (summed,) = body("ReduceLogSumExp", np.array([1000], np.float32), np.array([0], INT))
    assert (soft.tolist(), summed.tolist()) == ([np.inf], [np.inf])


def test_range_counts_in_float32(body):
    """The 16,777,217 steps to the end are 16,777,216 in float32: shown on the count alone."""
    assert np.float32(16_777_217) == np.float32(16_777_216)
    (found,) = body("Range", *(np.array(one, INT) for one in (0, 3, 1)))
    assert found.reshape(-1).tolist() == [0, 1, 2]


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_quantization_of_zeros_has_the_scale_0(body):
    """What follows divides by it."""
    scale = body("DynamicQuantizeLinear", np.zeros(3, np.float32), outputs=3)[1]
    assert float(scale) == 0


def test_each_has_a_reason_and_a_body():
    """Nothing is listed that ONNX gives no body."""
    words = Registry.load(only=True).vocabulary
    assert all(words.get(name).body and reason for name, reason in NEVER.items())
    assert not words.lowerable & NEVER.keys()
