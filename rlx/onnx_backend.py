"""ONNX's standard backend interface, so that its suite runs on any backend of rlx unmodified."""

from __future__ import annotations

import unittest
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import defs, helper, shape_inference
from onnx.backend.base import Backend, BackendRep, namedtupledict

from rlx.device import DeviceSpec
from rlx.errors import InvalidDevice, NoBackend, ProgramError, UnknownDevice
from rlx.program import load
from rlx.session import Session, route
from rlx.session.default import default_registry, is_available
from rlx.settings import make_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.session.compiled import CompiledProgram

DEFAULT_DEVICE = "CPU"
"""What the interface passes where its user asks for nothing: then the environment chooses."""
TOLERANCES = frozenset({"rtol", "atol"})
"""What ONNX's runner passes on to `prepare`, and judges by itself."""


class RlxRep(BackendRep):  # type: ignore[misc]  # onnx is not typed
    """A prepared model: a compiled program that takes its inputs by position."""

    def __init__(self, compiled: CompiledProgram):
        self.compiled = compiled
        names = [value.name for value in compiled.program.outputs]
        self._outputs = namedtupledict("Outputs", names)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Run once; `inputs` in the order of the model's, the outputs in a named tuple.

        Raises:
            TypeError: a keyword argument: there are none.
            InputError, ExecutionError: as `CompiledProgram`.
        """
        _no_arguments("run", kwargs, frozenset())
        given = inputs if isinstance(inputs, list | tuple) else [inputs]
        outputs: tuple[Any, ...] = self._outputs(*self.compiled(*given))
        return outputs


class RlxBackend(Backend):  # type: ignore[misc]  # onnx is not typed
    """rlx behind ONNX's interface; each `prepare` routes anew, by the environment of that moment.

    `CPU` is what the interface passes by default: where a scope, a variable or the configuration
    asks for a device or a backend, that is used; else a backend of the CPU. Another device is an
    argument like any other, and stronger than the environment.
    """

    @classmethod
    def is_compatible(cls, model: Any, device: str = DEFAULT_DEVICE, **kwargs: Any) -> bool:
        """Whether the model has a route there; nothing is opened, and `prepare` says why not."""
        _no_arguments("is_compatible", kwargs, TOLERANCES)
        try:
            return route(load(model), _spec(device)).backend is not None
        except ProgramError:
            return False

    @classmethod
    def prepare(cls, model: Any, device: str = DEFAULT_DEVICE, **kwargs: Any) -> RlxRep:
        """Route and compile the model.

        Raises:
            unittest.SkipTest: no backend can run it, or it is no program for rlx; with the reasons.
                (ONNX's own exception for this counts as a pass in its suite.)
            TypeError: an unknown keyword argument.
        """
        _no_arguments("prepare", kwargs, TOLERANCES)
        try:
            program = load(model)
            with Session(_spec(device)) as session:
                return RlxRep(session.compile(program))
        except (NoBackend, ProgramError) as refusal:
            raise unittest.SkipTest(str(refusal)) from refusal

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = DEFAULT_DEVICE,
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one node, of the newest opset or of `opset_version`.

        Raises:
            unittest.SkipTest: as `prepare`.
        """
        version = kwargs.pop("opset_version", defs.onnx_opset_version())
        given = [np.asarray(value) for value in inputs]
        rep = cls.prepare(_model(node, given, outputs_info, version), device, **kwargs)
        try:
            return rep.run(given)
        finally:
            rep.compiled.close()

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether a backend of that device works here, or the environment chose one for `CPU`."""
        registry = default_registry()
        asked = make_request(registry)
        if device == DEFAULT_DEVICE and asked.source is not None:
            return True
        try:
            name = registry.resolve(DeviceSpec.parse(device)).name
        except (InvalidDevice, UnknownDevice):
            return False
        chosen = None if asked.backend is None else registry.get(asked.backend)
        if chosen is not None and chosen.device != name:
            return False
        return is_available(device)


def _spec(device: str) -> str | None:
    """The device to ask for; None: the environment asks."""
    silent = make_request(default_registry()).source is None
    return device if silent or device != DEFAULT_DEVICE else None


def _no_arguments(method: str, given: dict[str, Any], known: frozenset[str]) -> None:
    for name in given:
        if name not in known:
            raise TypeError(f"{method}() has no argument {name!r}")


def _model(
    node: onnx.NodeProto,
    inputs: Sequence[np.ndarray[Any, Any]],
    outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None,
    version: int,
) -> onnx.ModelProto:
    """A model of the one node; where outputs have no type given, ONNX infers it."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    present = [name for name in node.input if name]
    types = {
        name: helper.make_tensor_type_proto(_element(array.dtype), array.shape)
        for name, array in zip(present, inputs, strict=True)
    }
    if outputs_info is None:
        schema = defs.get_schema(node.op_type, version, domain)
        data = {
            name: onnx.numpy_helper.from_array(array, name)
            for name, array in zip(present, inputs, strict=True)
        }
        found = shape_inference.infer_node_outputs(
            schema, node, types, data, opset_imports=[helper.make_opsetid(domain, version)]
        )
    else:
        found = {
            name: helper.make_tensor_type_proto(_element(np.dtype(dtype)), shape)
            for name, (dtype, shape) in zip(node.output, outputs_info, strict=True)
        }
    graph = helper.make_graph(
        [node],
        node.op_type,
        [helper.make_value_info(name, kind) for name, kind in types.items()],
        [helper.make_value_info(name, found[name]) for name in node.output if name],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, version)])


def _element(dtype: np.dtype[Any]) -> int:
    if dtype.kind in "OUS":
        return int(onnx.TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(dtype))


is_compatible = RlxBackend.is_compatible
prepare = RlxBackend.prepare
run_model = RlxBackend.run_model
run_node = RlxBackend.run_node
supports_device = RlxBackend.supports_device
