"""Operations whose function body, as ONNX gives it, is wrong or less exact: never lowered."""

NEVER: dict[str, str] = {}
"""By operation, why."""
