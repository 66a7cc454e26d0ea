"""Refusing what ONNX's own inference trusts blindly: a hang, or memory without bound."""

from __future__ import annotations

import re

import onnx

from rlx.errors import ProgramError
from rlx.program.structure import all_graphs, label

_TERM = r"[A-Za-z ]*(?:\.\.\.)?[A-Za-z ]*"
_EQUATION = re.compile(rf"{_TERM}(?:,{_TERM})*(?:->{_TERM})?")
_LARGEST = 1_000_000
"""No attribute that counts something (groups, blocks, outputs) may be larger."""
_COUNTS = {"num_outputs", "num_scan_inputs", "num_groups", "blocksize", "batch_dims", "group"}
_DIVISORS = {"num_groups", "blocksize", "group"}
"""These divide: there is at least one."""


def guard(graph: onnx.GraphProto) -> None:
    """Check the attributes that decide how long ONNX's inference takes."""
    for inner in all_graphs(graph):
        for index, node in enumerate(inner.node):
            for attribute in node.attribute:
                where = label(node, index)
                if attribute.name == "equation" and node.op_type == "Einsum":
                    equation = attribute.s.decode("utf-8", "replace")
                    if not _EQUATION.fullmatch(equation):
                        raise ProgramError(f"{where} has no valid equation, got {equation[:80]!r}")
                elif attribute.name in _COUNTS:
                    least = int(attribute.name in _DIVISORS)
                    if not least <= attribute.i <= _LARGEST:
                        raise ProgramError(
                            f"{where} has {attribute.name} {attribute.i}, "
                            f"not from {least} to {_LARGEST}"
                        )
                if attribute.name == "num_outputs" and attribute.i != len(node.output):
                    raise ProgramError(
                        f"{where} has num_outputs {attribute.i} and {len(node.output)} outputs"
                    )
                if attribute.name == "num_scan_inputs" and attribute.i > len(node.input):
                    raise ProgramError(
                        f"{where} has num_scan_inputs {attribute.i} and {len(node.input)} inputs"
                    )
