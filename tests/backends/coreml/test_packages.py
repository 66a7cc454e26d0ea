"""Packages: each operation of the table, read back from the files and run, as NumPy has it."""

import subprocess
import sys
from collections import Counter
from hashlib import sha256

import numpy as np
import pytest

import rlx
from rlx.backends.coreml.table import EMITTERS, FOLDED
from rlx.errors import InputError, SessionClosed, UnsupportedFeature
from rlx.session.default import default_registry
from tests.backends.coreml.cases import FAMILIES, X, model_of
from tests.backends.coreml.packages import compiled, fixed, opened

pytestmark = [pytest.mark.needs("coremltools"), pytest.mark.needs("torch")]


def wanted_of(program, feeds):
    """What the numpy backend says, which is held to the oracle elsewhere."""
    with rlx.Session(backend="numpy") as session:
        return session.compile(program).run(feeds)


def made_by(program):
    """The node that makes each output."""
    makers = {name: node.name for node in program.nodes() for name in node.outputs}
    return [makers[value.name] for value in program.outputs]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_operation_computes_what_numpy_does(family, tmp_path):
    """All nodes of a family are one package: inputs and outputs of every dtype, scalars too."""
    model, feeds = model_of(FAMILIES[family])
    program = rlx.load(model)
    executable, _ = opened(compiled(program), tmp_path)
    got = executable.run([feeds[value.name] for value in program.inputs])
    for node, mine, wanted in zip(made_by(program), got, wanted_of(program, feeds), strict=True):
        assert (mine.dtype, mine.shape) == (wanted.dtype, wanted.shape), node
        np.testing.assert_allclose(mine, wanted, 2e-5, 2e-6, err_msg=node)


def test_the_cases_the_table_and_the_claims_name_the_same_operations():
    cased = {case.operation for cases in FAMILIES.values() for case in cases}
    assert cased == set(EMITTERS)
    compiles = default_registry().get("coreml-ane").compiles
    claimed = {name for row in compiles.rows for name in row.operations}
    assert claimed == {*EMITTERS, *FOLDED}


def test_a_package_has_the_operations_of_its_program(tmp_path):
    names = ("Conv", "MaxPool", "Softmax", "LSTM", "LayerNormalization", "GatherElements", "Clip")
    cases = [next(c for f in FAMILIES.values() for c in f if c.operation == n) for n in names]
    _, function = opened(compiled(rlx.load(model_of(cases)[0])), tmp_path)
    kinds = Counter(op.op_type for op in function.operations)
    wanted = ("conv", "max_pool", "softmax", "lstm", "layer_norm", "gather_along_axis", "maximum")
    assert [kinds[kind] for kind in wanted] == [1] * len(wanted)


def test_the_same_program_gives_the_same_bytes_in_any_process():
    """Also after other programs were compiled, whose names the library counts on from."""
    code = (
        "import rlx; from hashlib import sha256\n"
        "from tests.backends.coreml.cases import FAMILIES, model_of\n"
        "from tests.backends.coreml.packages import compiled\n"
        "parts = compiled(rlx.load(model_of(FAMILIES['windows'])[0]))\n"
        "print({name: sha256(data).hexdigest() for name, data in sorted(parts.items())})"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": "."},
    )
    for family in ("products", "windows"):
        parts = compiled(rlx.load(model_of(FAMILIES[family])[0]))
    digests = {name: sha256(data).hexdigest() for name, data in sorted(parts.items())}
    assert (said.stdout, said.stderr) == (f"{digests}\n", "")


def test_half_precision_is_held_to_what_float16_can_hold(tmp_path):
    """The floats within are float16, those outside are as the program says."""
    model, feeds = model_of(FAMILIES["products"])
    program = rlx.load(model)
    executable, function = opened(compiled(program, "f16"), tmp_path)
    within = {
        op.outputs[0].is_tensor_or_scalar_of("fp16")
        for op in function.operations
        if op.op_type == "matmul"
    }
    assert within == {True}
    got = executable.run([feeds[value.name] for value in program.inputs])
    for mine, wanted in zip(got, wanted_of(program, feeds), strict=True):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, wanted, 2e-2, 2e-2)


@pytest.mark.needs("models")
@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("minilm", {"layer_norm": 7, "softmax": 3, "gelu": 3, "linear": 18, "matmul": 6}),
        ("silero-vad-openvino", {"conv": 6, "lstm": 1, "sigmoid": 1}),
        ("ocr-orientation", {"conv": 53, "max_pool": 1, "softmax": 1}),
    ],
)
def test_a_real_model(name, held, tmp_path):
    """Its operations are those of the program, fused; its outputs onnxruntime's."""
    from tests.models.agreement import errors
    from tests.models.catalogue import MODELS

    model = MODELS[name]
    program = fixed(model.path, model.feeds())
    executable, function = opened(compiled(program), tmp_path)
    kinds = Counter(op.op_type for op in function.operations)
    assert {kind: kinds[kind] for kind in held} == held
    names = [value.name for value in program.inputs]
    worst = max(errors(lambda feeds: executable.run([feeds[one] for one in names]), model))
    assert worst < 2e-5


@pytest.mark.needs("models")
@pytest.mark.parametrize(
    ("name", "precision", "said"),
    [
        ("silero-vad-ifless", None, "node 'node_cond__1' If: it depends on values that are not"),
        ("minilm", "f16", "Mul: float16 can't hold a constant of it, of the size 3.4e+38"),
    ],
)
def test_a_real_model_that_is_refused(name, precision, said):
    from tests.models.catalogue import MODELS

    model = MODELS[name]
    with pytest.raises(UnsupportedFeature) as caught:
        compiled(fixed(model.path, model.feeds()), precision)
    assert said in caught.value.message


def test_an_integer_that_does_not_fit_is_refused_where_it_comes_in(tmp_path):
    case = next(c for c in FAMILIES["indexing"] if c.operation == "Gather" and not c.constants)
    executable, _ = opened(compiled(rlx.load(model_of([case])[0])), tmp_path)
    with pytest.raises(InputError) as caught:
        executable.run([X, np.array([[0, 2**31]])])
    assert caught.value.message == (
        "input 'x0_1' holds 2147483648, an mlpackage holds int64 as int32"
    )
    executable.close()
    executable.close()
    with pytest.raises(SessionClosed):
        executable.run([X, np.array([[0, 1]])])
