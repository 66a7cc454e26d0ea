"""A payload that is not what its format says is corrupt, also where every digest is right."""

from dataclasses import replace
from hashlib import sha256

import pytest

import rlx
from rlx.artifact.header import Part
from rlx.backends.payload import Payload
from rlx.errors import CorruptArtifact

BACKENDS = [
    pytest.param("onnxruntime-cpu", marks=pytest.mark.needs("onnxruntime")),
    pytest.param("openvino-cpu", marks=pytest.mark.needs("openvino")),
    pytest.param("jax-cpu", marks=pytest.mark.needs("jax")),
    pytest.param("iree-cpu", marks=pytest.mark.needs("iree")),
]
_built = {}


@pytest.fixture(params=BACKENDS)
def artifact(request):
    """One that is sound, built once."""
    name = request.param
    if name not in _built:
        g = rlx.Graph("small")
        x = g.input("x", (2,), "f32")
        g.set_outputs([g.add(x, x)])
        _built[name] = rlx.build(g, name)
    return _built[name]


def altered(artifact, **parts):
    """The artifact with other parts, all digests right; None leaves a part out."""
    held = dict(zip([one.name for one in artifact.header.parts], artifact.parts, strict=True))
    held = {name: data for name, data in sorted({**held, **parts}.items()) if data is not None}
    listed = tuple(Part(name, len(data), sha256(data).hexdigest()) for name, data in held.items())
    return rlx.Artifact(replace(artifact.header, parts=listed), tuple(held.values()))


def corrupt(artifact):
    with pytest.raises(CorruptArtifact) as caught:
        rlx.load_artifact(artifact)
    return str(caught.value)


def test_a_part_that_is_not_listed_for_the_format_is_refused(artifact):
    name = artifact.header.payload_format
    assert corrupt(altered(artifact, more=b"")) == (
        f"the payload is no {name}: it has the part more, which it should not. "
        "Fix: copy the file again, or build it again with `rlx build`."
    )


@pytest.mark.parametrize("junk", [b"", b"junk", b"\x08\xff" * 100, None])
def test_a_part_that_is_something_else_is_refused(artifact, junk):
    for part in artifact.header.parts:
        corrupt(altered(artifact, **{part.name: junk}))


@pytest.mark.needs("onnxruntime")
def test_a_model_that_breaks_its_own_rules_is_corrupt():
    g = rlx.Graph("small")
    g.set_outputs([g.neg(g.input("x", (2,), "f32"))])
    made = rlx.build(g, "onnxruntime-cpu")
    (model,) = made.parts
    assert "model.onnx can't be read: " in corrupt(
        altered(made, **{"model.onnx": model.replace(b"Neg", b"Nag")})
    )


def test_parts_that_are_optional_may_be_left_out():
    payload = Payload("some", "made 1", (("a", b"1"), ("b", b"2")))
    assert payload.only("a", optional=("b", "c")) == {"a": b"1", "b": b"2"}
    with pytest.raises(CorruptArtifact) as caught:
        payload.only("c", "a")
    assert caught.value.message == (
        "the payload is no some: it lacks the part c, and has the part b, which it should not"
    )
