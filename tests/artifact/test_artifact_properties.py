"""Of any header and parts, and of any program: what is written is read back, and is the same."""

import string
from collections import Counter
from hashlib import sha256

import onnx
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rlx.artifact.artifact import Artifact
from rlx.artifact.build import build
from rlx.artifact.header import MOST_PARTS, Header, Part
from rlx.errors import UnsupportedFeature
from rlx.program import load
from rlx.program.types import Value, ValueType
from rlx.session.default import default_registry
from tests.artifact.conftest import read
from tests.fuzz.programs import draw

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
sizes = st.one_of(st.none(), texts, st.integers(0, (1 << 63) - 1))
types = st.builds(
    ValueType,
    texts,
    st.one_of(st.none(), st.lists(sizes, max_size=4).map(tuple)),
    st.sampled_from(["tensor", "sequence", "optional", "map"]),
)
identities = st.from_regex(r"[a-z][a-z0-9]{0,9}(-[a-z0-9]{1,9}){0,2}", fullmatch=True)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
names = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=9)


def values():
    each = st.builds(Value, texts, types)
    return st.lists(each, max_size=3, unique_by=lambda one: one.name).map(tuple)


@st.composite
def artifacts(draw):
    parts = sorted(
        draw(st.dictionaries(names, st.binary(max_size=99), min_size=1, max_size=5)).items()
    )
    counted = draw(st.dictionaries(texts, st.integers(1, 1 << 62), max_size=4))
    header = Header(
        *(draw(identities) for _ in range(4)),
        draw(texts),
        draw(st.one_of(st.none(), texts)),
        *(draw(digests) for _ in range(3)),
        draw(texts),
        draw(values()),
        draw(values()),
        tuple(sorted(counted.items())),
        tuple(Part(name, len(data), sha256(data).hexdigest()) for name, data in parts),
    )
    return Artifact(header, tuple(data for _, data in parts))


@settings(max_examples=150, deadline=None)
@given(artifacts())
def test_an_envelope_is_read_back_as_it_was_written(made):
    data = made.to_bytes()
    again = read(data)
    assert again == made
    assert again.to_bytes() == data
    assert len(again.payload.parts) <= MOST_PARTS


SAMPLE = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)


@SAMPLE
@given(st.integers(0, 100_000))
def test_a_program_gives_the_same_bytes_and_its_own_operations(seed):
    """Whatever order the file has its constants and opsets in, and whoever reads it."""
    drawn = draw(seed)
    assume(drawn is not None)
    other = onnx.ModelProto.FromString(drawn.model.SerializeToString())
    held = [onnx.TensorProto.FromString(one.SerializeToString()) for one in other.graph.initializer]
    del other.graph.initializer[:]
    other.graph.initializer.extend(reversed(held))
    other.doc_string, other.producer_name = "another", "somebody"
    registry = default_registry()
    one = registry.get("onnxruntime-cpu")
    program = load(drawn.model)
    try:
        made = build(program, one, registry)
    except UnsupportedFeature:
        return
    assert build(load(other), one, registry).to_bytes() == made.to_bytes()
    assert Counter(dict(made.header.operations)) == Counter(
        node.operation for node in program.nodes()
    )


def test_a_program_with_barriers_is_refused_by_the_name_of_the_first():
    text = """<ir_version: 8, opset_import: ["" : 18, "rlx" : 1]>
    cut (float[2] x) => (float[2] y) { [fence] a = rlx.Barrier(x)  y = Neg(a) }"""
    registry = default_registry()
    with pytest.raises(UnsupportedFeature) as caught:
        build(load(onnx.parser.parse_model(text)), registry.get("onnxruntime-cpu"), registry)
    assert str(caught.value) == (
        "an artifact holds one launch: node 'fence' rlx::Barrier divides cut into stages. Fix: "
        "run the program itself, or take its barriers out: those that repeat nothing change no "
        "result."
    )


def test_an_artifact_is_no_program(artifact, tmp_path):
    artifact.write(tmp_path / "a.rlx")
    with pytest.raises(Exception, match=r"an artifact of `rlx build`, not an ONNX") as caught:
        load(tmp_path / "a.rlx")
    assert caught.value.fix == "run it with `rlx payload run`."
