"""The operation vocabulary: names, arity, attributes and type constraints, generated from ONNX."""

from rlx.operations.vocabulary import (
    DEFAULT_DOMAIN,
    Formal,
    FormalAttribute,
    Operation,
    Vocabulary,
)

__all__ = ["DEFAULT_DOMAIN", "Formal", "FormalAttribute", "Operation", "Vocabulary"]
