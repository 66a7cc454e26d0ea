"""`python -m rlx.operations --write|--check`: `configs/operations.yaml` from ONNX's schemas."""

from __future__ import annotations

import argparse
import sys

from rlx import resources
from rlx.operations import encoding, generate


def main(arguments: list[str] | None = None) -> int:
    """Write the file, or say whether it is what would be written; 1: it is not."""
    parser = argparse.ArgumentParser(prog="python -m rlx.operations", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true", help="write the file")
    mode.add_argument("--check", action="store_true", help="exit 1 when the file is not up to date")
    chosen = parser.parse_args(arguments)
    path = resources.configs() / "operations.yaml"
    text = encoding.to_yaml(generate.operations(), generate.opset()).encode("utf-8")
    current = path.is_file() and path.read_bytes() == text
    if chosen.check and not current:
        sys.stderr.write(
            "configs/operations.yaml is not what the installed onnx's schemas say. "
            "Fix: run `python -m rlx.operations --write`, then `python -m rlx.freeze --write`.\n"
        )
        return 1
    if chosen.write and not current:
        path.write_bytes(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
