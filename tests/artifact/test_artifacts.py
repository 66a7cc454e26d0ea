"""Building, checking and running artifacts: the words that `rlx payload check` says."""

import subprocess
import sys
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import onnx
import pytest

from rlx import testing
from rlx.artifact.artifact import read_artifact
from rlx.artifact.build import build
from rlx.artifact.checking import check
from rlx.artifact.facets import materializer, target_compiler, target_operation_facets
from rlx.errors import (
    ContractError,
    ForeignArtifact,
    SessionClosed,
    StaleArtifact,
    UnsupportedFeature,
)
from rlx.program import load
from rlx.session.artifacts import load_artifact
from rlx.session.default import default_registry

FORMAT = "onnx"


class Odd:
    """A compiler, and a materializer, for a format that the registration does not say."""

    payload_format = "other"
    toolchain = "odd 1"

    def compile(self, program, target):
        return {"a": b""}

    def accepts(self, toolchain):
        return None

    def materialize(self, payload, spec):
        return None


class Empty(Odd):
    payload_format = FORMAT

    def compile(self, program, target):
        return {}


class Failing(Odd):
    payload_format = FORMAT

    def compile(self, program, target):
        raise ValueError("out of registers")


class Needy:
    def __init__(self):
        raise ModuleNotFoundError("No module named 'iree'", name="iree")


def registered(**fields):
    """The default registry with onnxruntime-cpu changed."""
    registry = default_registry()
    one = replace(registry.get("onnxruntime-cpu"), **fields)
    return registry.with_backend(one, replace=True)


def test_the_same_program_gives_the_same_bytes_in_another_process(artifact, program, tmp_path):
    path = tmp_path / "program.onnx"
    onnx.save(program.to_onnx(), path)
    code = (
        "import sys; from rlx.program import load; from rlx.artifact.build import build\n"
        "from rlx.session.default import default_registry as d\n"
        "made = build(load(sys.argv[1]), d().get('onnxruntime-cpu'), d())\n"
        "made.write(sys.argv[2])"
    )
    for seed in ("0", "1"):
        out = tmp_path / f"{seed}.rlx"
        subprocess.run(
            [sys.executable, "-c", code, path, out], check=True, env={"PYTHONHASHSEED": seed}
        )
    assert (tmp_path / "0.rlx").read_bytes() == (tmp_path / "1.rlx").read_bytes()
    assert read_artifact(tmp_path / "0.rlx").header.program == program.digest


@pytest.mark.needs("onnxruntime")
def test_it_runs_as_the_program_does(artifact, tmp_path):
    artifact.write(tmp_path / "a.rlx")
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (tmp_path / "a.rlx").rename(moved / "b.rlx")
    x = np.array([[1, -2], [3, -4]], np.float32)
    b = np.array([1, 1], np.float32)
    with load_artifact(read_artifact(moved / "b.rlx"), default_registry()) as model:
        np.testing.assert_array_equal(model(x, b)[0], [[2, 0], [4, 0]])
        np.testing.assert_array_equal(model.run({"x": x, "b": b})[0], [[2, 0], [4, 0]])
        assert list(model.run_named({"x": x, "b": b})) == ["y"]
        with pytest.raises(Exception, match="float64"):
            model(x.astype(np.float64), b)
    with pytest.raises(SessionClosed, match="the artifact of small is closed"):
        model(x, b)


def test_compatible(artifact, program):
    found = check(artifact.header, default_registry(), program)
    assert (found.word, found.reasons) == ("compatible", ())


def test_a_rank_is_no_reason_to_build_again(artifact):
    assert check(artifact.header, registered(rank=7, enabled=False)).word == "compatible"


@pytest.mark.parametrize(
    ("fields", "word", "reason"),
    [
        (
            {"target": "elsewhere"},
            "foreign",
            "no backend provides the target onnxruntime-cpu, only ",
        ),
        (
            {"device": "metal", "compiler": None, "payload_format": None},
            "foreign",
            "its payload format is onnx, onnxruntime-cpu has none",
        ),
        ({"device": "metal"}, "foreign", "its device is cpu, onnxruntime-cpu has metal"),
        (
            {"options": (("intra_op_threads", 1),)},
            "stale",
            "onnxruntime-cpu is registered otherwise now: its compiler, claims or options",
        ),
    ],
)
def test_another_registry(artifact, fields, word, reason):
    if fields.get("compiler", 1) is None:
        fields = {**fields, "compiles": None}
    found = check(artifact.header, registered(**fields))
    assert found.word == word
    assert any(one.startswith(reason) for one in found.reasons)
    with pytest.raises({"foreign": ForeignArtifact, "stale": StaleArtifact}[word], match=word):
        load_artifact(artifact, registered(**fields))


def test_another_program(artifact, program):
    other = load(
        onnx.parser.parse_model(
            "<ir_version: 8> o (float[1] x) => (float[1] y) {y = Abs(x)}".replace(
                "8>", '8, opset_import: ["" : 18]>'
            )
        )
    )
    found = check(artifact.header, default_registry(), other)
    assert found.word == "stale"
    assert found.reasons == ("it was built from another program than o",)


def test_another_toolchain(artifact):
    header = replace(artifact.header, toolchain="tvm 1")
    found = check(header, default_registry())
    assert found.reasons == ("it was made by tvm 1, an onnx is needed",)
    assert found.word == "stale"


def test_facets_that_are_absent():
    one = default_registry().get("numpy")
    for facet, what in ((target_compiler, "compiler"), (materializer, "materializer")):
        with pytest.raises(UnsupportedFeature) as caught:
            facet(one)
        assert caught.value.message == f"numpy registers no {what}"
        assert caught.value.fix == "choose a backend that has one: run `rlx backends`."


@pytest.mark.parametrize("facet", [target_compiler, materializer])
def test_a_facet_for_another_format_breaks_its_contract(facet):
    what = "compiler" if facet is target_compiler else "materializer"
    registry = registered(**{what: f"{__name__}:Odd"})
    with pytest.raises(ContractError) as caught:
        facet(registry.get("onnxruntime-cpu"))
    assert caught.value.message == (
        f"the {what} of onnxruntime-cpu is for 'other', the registration says onnx"
    )


def test_a_facet_whose_library_is_missing():
    registry = registered(compiler=f"{__name__}:Needy")
    with pytest.raises(UnsupportedFeature) as caught:
        target_compiler(registry.get("onnxruntime-cpu"))
    assert str(caught.value) == (
        "the compiler of onnxruntime-cpu needs iree, which is not installed. "
        "Fix: pip install 'rlx[onnxruntime]'"
    )


@pytest.mark.parametrize("reference", ["no.such.module:x", "os:nothing", "os:sep"])
def test_a_facet_that_is_nothing(reference):
    registry = registered(compiler=reference)
    with pytest.raises((ContractError, UnsupportedFeature), match="compiler of onnxruntime-cpu"):
        target_compiler(registry.get("onnxruntime-cpu"))


def test_compilers_that_break_their_contract(program):
    for name, error, text in (
        ("Empty", ContractError, "must return 1 to 64 parts of bytes"),
        ("Failing", Exception, "failed on small: ValueError: out of registers"),
    ):
        registry = registered(compiler=f"{__name__}:{name}")
        with pytest.raises(error, match=text):
            build(program, registry.get("onnxruntime-cpu"), registry)


def test_what_the_compiler_does_not_claim_is_refused_with_the_node(program):
    registry = registered(compiles=testing.covering(load_one("Abs")))
    with pytest.raises(UnsupportedFeature) as caught:
        build(program, registry.get("onnxruntime-cpu"), registry)
    assert caught.value.message.startswith(
        "the compiler of onnxruntime-cpu does not take this program: node "
    )
    assert "Add" in caught.value.message


def load_one(operation):
    head = '<ir_version: 8, opset_import: ["" : 18]>'
    text = f"{head} o (float[1] x) => (float[1] y) {{ y = {operation} (x) }}"
    return load(onnx.parser.parse_model(text))


def test_operation_facets_are_sorted_and_have_programs_of_one_node():
    facets = target_operation_facets(default_registry())
    assert list(facets) == sorted(facets)
    names = {facet.operation for facet in facets if facet.target == "onnxruntime-cpu"}
    assert {"Add", "Conv"} <= names
    assert not names & {"If", "Loop", "Scan", "SequenceMap"}
    assert {facet.version for facet in facets} == {1}


def test_asking_for_facets_imports_no_engine():
    code = (
        "import sys; from rlx.session.default import default_registry as d\n"
        "from rlx.artifact.facets import target_operation_facets as t\n"
        "assert t(d()); sys.exit(any(n in sys.modules for n in ('onnxruntime', 'jax', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def _write_and_read(path, blob, turns):
    from rlx.artifact.artifact import Artifact, read_artifact
    from tests.artifact.conftest import read

    made = read(blob)
    for _ in range(turns):
        Artifact(made.header, made.parts).write(path)
        assert read_artifact(path) == made
    return True


def test_eight_processes_that_write_and_read_one_path(artifact, tmp_path):
    path = tmp_path / "one.rlx"
    with get_context("spawn").Pool(8) as pool:
        jobs = [(str(path), artifact.to_bytes(), 40)] * 8
        assert pool.starmap(_write_and_read, jobs) == [True] * 8
    assert [one.name for one in tmp_path.iterdir()] == ["one.rlx"]


def test_an_emission_only_backend_is_never_routed_to(program):
    registry = registered(dispatches=False, factory=None)
    import rlx

    route = rlx.route(program, backend="onnxruntime-cpu", registry=registry)
    assert route.backend is None
    assert "it can't run programs: it does not dispatch" in str(route.error())
    assert build(program, registry.get("onnxruntime-cpu"), registry).header.target
