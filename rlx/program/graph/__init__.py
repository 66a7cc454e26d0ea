"""`Graph`: a program built node by node, as ONNX nodes whose types are inferred at once."""

from rlx.program.graph.building import Graph

__all__ = ["Graph"]
