"""Giving numbers to the sizes that a program leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlx.errors import InputError, printable

if TYPE_CHECKING:
    from rlx.program.program import Program

LARGEST = (1 << 63) - 1


def with_sizes(program: Program, sizes: Mapping[str, int]) -> Program:
    """The program with its inputs' symbolic sizes fixed, such as `{"batch": 1}`; types follow.

    Raises:
        InputError: no input has such a size, or it is not a whole number from 0.
        ProgramError: with these sizes its nodes contradict each other.
    """
    from rlx.program.loading import load

    known = {size for one in program.inputs for size in one.type.shape or ()}
    symbols = {size for size in known if isinstance(size, str)}
    unknown = sorted(set(sizes) - symbols)
    if unknown:
        had = ", ".join(sorted(map(printable, symbols))) or "none"
        raise InputError(
            f"no input has a size named {', '.join(map(printable, unknown))}",
            fix=f"the sizes left open are: {had}.",
        )
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= LARGEST:
            raise InputError(
                f"the size {printable(name)} must be a whole number from 0, got {size!r:.60}"
            )
    if not sizes:
        return program
    model = program.to_onnx()
    for graph in _graphs(model.graph):
        del graph.value_info[:]
        for value in (*graph.input, *graph.output):
            for axis in _axes(value.type):
                if axis.dim_param in sizes:
                    axis.dim_value = sizes[axis.dim_param]
    model.graph.name = program.name
    return load(model)


def _graphs(graph: Any) -> Iterator[Any]:
    """The graph and those in its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _axes(found: Any) -> Iterator[Any]:
    """The axes of a tensor's type, or of the tensors in another."""
    kind = found.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        yield from getattr(found, kind).shape.dim
    elif kind in ("sequence_type", "optional_type"):
        yield from _axes(getattr(found, kind).elem_type)
    elif kind == "map_type":
        yield from _axes(found.map_type.value_type)
