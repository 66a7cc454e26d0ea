"""`docs/faults.md`: measures every fault in every adapter, and writes or reads the page of it.

`python -m tests.faults.page --write` measures and writes; the test measures and compares.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PAGE = PROJECT / "docs" / "faults.md"
BEGIN, END = "<!-- faults: measured by tests/faults -->\n", "<!-- end -->\n"
COMMAND = "python -m tests.faults.page --write"
HEAD = "| fault | found by | code | what is said | ended |\n| --- | --- | --- | --- | --- |\n"
NOTHING = "| {fault} | - | - | nothing of it can fail so | - |"


def measured(*rows):
    """What the harness finds, by adapter and fault; it is a process of its own, and ends well."""
    with tempfile.TemporaryDirectory(prefix="rlx-faults-") as folder:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        own = {"RLX_CACHE_DIR": folder, "PYTHONPATH": str(PROJECT), "RLX_CONFIG_ONLY": "1"}
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("harness.py")), folder, *rows],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, **threads, **own},
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def line(fault, cell):
    """One row of a table."""
    if cell is None:
        return NOTHING.format(fault=fault)
    said = " ".join(cell["cause"].split()).replace("|", "\\|")
    ended = f"nowhere; asked again, it {cell['then']}" if "then" in cell else "nowhere"
    by = "`--live`" if cell["by"] == "live" else cell["by"]
    return f"| {fault} | {by} | `{cell['code']}` | {said} | {cell['ended'] or ended} |"


def lines(table):
    """The rows of all tables: by adapter and fault, the text."""
    return {
        (row, fault): line(fault, cell)
        for row, cells in table.items()
        for fault, cell in cells.items()
    }


def text(table):
    """The generated part of the page."""
    parts = []
    for row, cells in table.items():
        body = "\n".join(line(fault, cell) for fault, cell in cells.items())
        parts.append(f"\n### {row}\n\n{HEAD}{body}\n")
    return "".join(parts) + "\n"


def shown():
    """What the page says, as `lines` has it."""
    _, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    found, row = {}, ""
    for one in rest.partition(END)[0].splitlines():
        if one.startswith("### "):
            row = one[4:]
        elif one.startswith("| ") and not one.startswith(("| fault", "| ---")):
            found[row, one.split(" | ")[0][2:]] = one
    return found


def main():
    """Measure, and write the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{text(measured())}{END}{after}", encoding="utf-8")


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    main()
