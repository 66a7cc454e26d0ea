"""Programs as packages, run by the interpreter."""

import onnx

import rlx
from rlx.backends.coreml.boundary import KEY
from rlx.backends.coreml.compiler import CoremlCompiler
from rlx.backends.coreml.live import CoremlExecutable
from rlx.backends.coreml.package import unpack
from rlx.backends.payload import Target
from rlx.backends.ports import Ports
from tests.backends.coreml.interpreter import load, run


def compiled(program, precision=None):
    """The parts that the compiler makes."""
    return CoremlCompiler().compile(program, Target("coreml-ane", "ane", (), precision))


def opened(parts, folder):
    """The parts as an executable whose Core ML is the interpreter, and the MIL function."""
    spec, function = load(unpack(parts.items(), folder))
    ports = Ports.from_bytes(spec.description.metadata.userDefined[KEY])
    return CoremlExecutable(lambda feeds: run(function, feeds), ports, list), function


def fixed(path, feeds):
    """A program whose sizes are those of these inputs."""
    model = onnx.load(path)
    for value in model.graph.input:
        sizes = feeds[value.name].shape
        for dim, size in zip(value.type.tensor_type.shape.dim, sizes, strict=True):
            dim.dim_value = size
    return rlx.load(model)
