"""`python -m rlx.conformance`: the same as `rlx conform`."""

from __future__ import annotations

import runpy
import sys

if __name__ == "__main__":
    sys.argv[:1] = ["rlx", "conform"]
    runpy.run_module("rlx", run_name="__main__", alter_sys=True)
