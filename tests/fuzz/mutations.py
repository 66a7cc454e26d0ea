"""Damage done to `.onnx` files: to their bytes, and to what the bytes say."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import onnx
from onnx import TensorProto

from tests.fuzz.programs import draw
from tests.models.catalogue import MODELS
from tests.models.packages import missing

SECRET = "../outside.bin"
"""What lies outside the folder, and must not be read."""
PLACES = (
    *(SECRET, "../../etc/passwd", "/etc/passwd", "./../outside.bin", "inner/../../outside.bin"),
    *(
        "link.bin",
        "linked/outside.bin",
        "w.bin",
        "",
        ".",
        "..",
        "/",
        "w.bin\0",
        "C:\\w.bin",
        "a" * 5000,
    ),
)
HUGE = (2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -1, -(2**63), 0, 10**6)
LARGEST = 4 << 20
"""Bytes of a base: larger ones take long, and their headers are no different."""


def bases() -> dict[str, bytes]:
    """Undamaged files: ONNX's light networks and suites, drawn programs, real models if here."""
    data = Path(onnx.__file__).parent / "backend/test/data"
    files = [*data.glob("light/*.onnx"), *data.glob("simple/*/model.onnx")]
    files += [*data.glob("pytorch-*/*/model.onnx")][::4]
    files += [model.path for model in MODELS.values() if missing() is None]
    found = {str(path.relative_to(path.parents[1])): path for path in files}
    read = {name: path.read_bytes() for name, path in sorted(found.items())}
    for seed in range(40):
        if (drawn := draw(seed)) is not None:
            read[f"drawn {seed}"] = drawn.model.SerializeToString()
    return {name: held for name, held in read.items() if len(held) <= LARGEST}


def flipped(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    """Some bits; half of the time near the ends, where the structure is."""
    held = bytearray(data)
    for _turn in range(rng.choice((1, 1, 2, 4, 16))):
        reach = min(len(held), 400) if rng.random() < 0.5 else len(held)
        place = rng.randrange(reach)
        place = place if rng.random() < 0.5 else len(held) - 1 - place
        held[place] ^= 1 << rng.randrange(8)
    return bytes(held)


def cut(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    """The beginning alone."""
    return data[: rng.randrange(len(data))]


def spliced(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A run of bytes of another file, put in or put over."""
    other = rng.choice(others)
    start, size = rng.randrange(len(other)), rng.randrange(1, 200)
    place = rng.randrange(min(len(data), 4000) if rng.random() < 0.7 else len(data))
    gone = size if rng.random() < 0.5 else 0
    return data[:place] + other[start : start + size] + data[place + gone :]


def noisy(rng: random.Random, data: bytes, _: list[bytes]) -> bytes:
    """A run of any bytes."""
    place, size = rng.randrange(len(data)), rng.randrange(1, 64)
    return data[:place] + rng.randbytes(size) + data[place + size :]


def edited(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """What the file says, changed in one to three places; it is still a protobuf message."""
    model = onnx.ModelProto()
    model.ParseFromString(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice(EDITS)(rng, model)
    try:
        return model.SerializeToString()
    except ValueError:  # text that is no UTF-8
        return flipped(rng, data, others)


def _sizes(rng: random.Random, model: onnx.ModelProto) -> None:
    tensors = [*model.graph.initializer, *_held(model)]
    if tensors and rng.random() < 0.6:
        tensor = rng.choice(tensors)
        sizes = [
            rng.choice((*HUGE, one + 1, max(0, one - 1))) if rng.random() < 0.5 else one
            for one in tensor.dims or [1]
        ]
        del tensor.dims[:]
        tensor.dims.extend(sizes)
        return
    values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    if values:
        for size in rng.choice(values).type.tensor_type.shape.dim:
            if rng.random() < 0.6:
                size.dim_value = rng.choice((*HUGE, 1, 2, size.dim_value + 1))


def _held(model: onnx.ModelProto) -> list[TensorProto]:
    return [a.t for node in model.graph.node for a in node.attribute if a.HasField("t")]


def _dtype(rng: random.Random, model: onnx.ModelProto) -> None:
    code = rng.choice((*range(30), -1, 99, 2**31 - 1))
    tensors = [*model.graph.initializer, *_held(model)]
    if tensors and rng.random() < 0.5:
        rng.choice(tensors).data_type = code
    elif model.graph.input:
        rng.choice(model.graph.input).type.tensor_type.elem_type = code


def _elsewhere(rng: random.Random, model: onnx.ModelProto) -> None:
    tensors = [*model.graph.initializer, *_held(model)]
    if not tensors:
        return
    tensor = rng.choice(tensors)
    if rng.random() < 0.8:
        tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=rng.choice(PLACES))
    for key in ("offset", "length"):
        if rng.random() < 0.4:
            values = ("0", "4", "-1", "1e9", str(2**63), "x", "", "9" * 400)
            tensor.external_data.add(key=key, value=rng.choice(values))


def _attribute(rng: random.Random, model: onnx.ModelProto) -> None:
    """Another value of the same type; at times another type or name."""
    attributes = [a for node in model.graph.node for a in node.attribute]
    if not attributes:
        return
    one = rng.choice(attributes)
    if rng.random() < 0.15:
        one.type = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 11))
    elif rng.random() < 0.15:
        one.name = rng.choice(("", "axis", "axes", "pads", "kernel_shape", "body", "\n\x1b[31m"))
    elif one.type == onnx.AttributeProto.INT:
        one.i = rng.choice((*HUGE, 1, 2, 3, one.i + 1, one.i - 1))
    elif one.type == onnx.AttributeProto.INTS:
        values = [rng.choice((*HUGE, *one.ints, 1, 2, 3)) for _ in one.ints]
        del one.ints[:]
        one.ints.extend(values if rng.random() < 0.8 else values[1:])
    elif one.type == onnx.AttributeProto.FLOAT:
        one.f = rng.choice((float("nan"), float("inf"), -3e38, 0.0, -1.0))
    else:
        one.s = rng.choice((b"", b"\xff\xfe", b"SAME_UPPER", b"VALID", b"linear", b"x" * 3000))


def _content(rng: random.Random, model: onnx.ModelProto) -> None:
    """Another value in a small tensor, such as a shape, axes or a count of turns."""
    tensors = [*model.graph.initializer, *_held(model)]
    small = [one for one in tensors if one.data_type in (6, 7) and 0 < len(one.raw_data) <= 128]
    if not small:
        return
    tensor = rng.choice(small)
    size = 8 if tensor.data_type == 7 else 4
    data = bytearray(tensor.raw_data)
    at = rng.randrange(max(1, len(data) // size)) * size
    value = rng.choice((*HUGE, *range(-4, 5))) % (1 << 8 * size)
    data[at : at + size] = value.to_bytes(size, "little")
    tensor.raw_data = bytes(data)


def _node(rng: random.Random, model: onnx.ModelProto) -> None:
    nodes = model.graph.node
    if not nodes:
        return
    node, other = rng.choice(nodes), rng.choice(nodes)
    way = rng.randrange(7)
    if way == 0:
        node.op_type = rng.choice(("Nothing", "", "If", "Loop", "Resize", other.op_type))
    elif way == 1:
        node.domain = rng.choice(("ai.onnx.ml", "a.b", "com.microsoft", "\x1b"))
    elif way == 2 and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice(("", "gone", *other.output))
    elif way == 3 and node.output:
        node.output[rng.randrange(len(node.output))] = rng.choice(("", *other.output))
    elif way == 4:
        node.input.extend(["x"] * rng.choice((1, 30)))
    elif way == 5:
        nodes.add().CopyFrom(node)
    else:
        del nodes[rng.randrange(len(nodes))]


def _frame(rng: random.Random, model: onnx.ModelProto) -> None:
    way = rng.randrange(5)
    if way == 0:
        model.ir_version = rng.choice((0, 1, 3, 99, 2**62, -1))
    elif way == 1 and model.opset_import:
        rng.choice(model.opset_import).version = rng.choice((0, 1, 5, 6, 29, 1000, -1, 2**62))
    elif way == 2:
        del model.graph.output[:]
    elif way == 3:
        model.graph.input.add(name=rng.choice(("", "x", "\x1b[2J", "a" * 4000)))
    else:
        made = model.functions.add(name="f", domain=rng.choice(("", "l")))
        made.node.add(op_type="f", domain=made.domain)


def _deep(rng: random.Random, model: onnx.ModelProto) -> None:
    graph = model.graph
    for _ in range(rng.choice((3, 40, 90, 200))):
        node = graph.node.add(op_type="If", input=["c"], output=["z"])
        graph = node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH).g


Edit = Callable[[random.Random, onnx.ModelProto], None]
EDITS: tuple[Edit, ...] = (
    *(_sizes, _sizes, _dtype, _elsewhere, _elsewhere, _attribute, _attribute, _content, _content),
    *(_node, _frame, _deep),
)
WAYS = (flipped, cut, spliced, noisy, *(edited,) * 5)


def mutate(seed: int, held: dict[str, bytes]) -> tuple[str, bytes]:
    """The damaged file of this seed, and what was done to what."""
    rng = random.Random(seed)
    name = rng.choice(sorted(held))
    way = rng.choice(WAYS)
    return f"{way.__name__} {name}", way(rng, held[name], list(held.values())) or b"\0"
