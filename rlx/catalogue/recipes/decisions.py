"""Recipes for decisions, warnings and the command line."""

from __future__ import annotations

from rlx.catalogue.recipes.recipe import ADD, ALL, EXPLAIN, HEAD, ROUTED, SHOW, SIZES, Recipe, mine

RECIPES: dict[tuple[str, str], Recipe] = {
    ("reason", "disabled"): Recipe("RLX_DISABLE=numpy rlx explain mlp.onnxtxt --backend numpy -v"),
    ("reason", "not-requested"): Recipe("rlx explain mlp.onnxtxt --device metal -v"),
    ("reason", "oracle"): Recipe(
        "RLX_DISABLE=numpy,onnxruntime-cpu rlx explain mlp.onnxtxt --device cpu -v"
    ),
    ("reason", "emission-only"): Recipe(f"{SHOW}{EXPLAIN}", mine("device: metal", *SIZES, ALL)),
    ("reason", "capability"): Recipe(f"{SHOW}{EXPLAIN}", mine(*ROUTED, ALL)),
    ("reason", "coverage"): Recipe(f"{SHOW}{EXPLAIN}", mine(*ROUTED, *SIZES, ADD)),
    ("reason", "unavailable"): Recipe(
        f"{SHOW}{EXPLAIN}",
        mine(
            *ROUTED, "probes: [{module: my_engine}]", "install: pip install my-engine", *SIZES, ALL
        ),
    ),
    ("reason", "software-device"): Recipe(
        f"{SHOW}rlx explain mlp.onnxtxt --config mine.yaml --all",
        mine(*ROUTED, "software: true", *SIZES, ALL),
    ),
    ("reason", "open-failed"): Recipe(
        f"{SHOW}rlx run mlp.onnxtxt --random --size batch=2 --config mine.yaml --device metal -v",
        mine(*ROUTED, *SIZES, ALL),
    ),
    ("verdict", "selected"): Recipe("rlx explain mlp.onnxtxt --backend numpy"),
    ("verdict", "rejected"): Recipe(
        "RLX_DISABLE=numpy rlx explain mlp.onnxtxt --backend numpy --json"
        " | grep '\"rejected\"' | head -n 1"
    ),
    ("verdict", "not-reached"): Recipe("RLX_PRECEDENCE=numpy rlx explain mlp.onnxtxt -v"),
    ("command", "usage"): Recipe("rlx explian mlp.onnxtxt"),
    ("command", "system"): Recipe("rlx init no-such-folder/backends.yaml"),
    ("warning", "unknown-setting"): Recipe("RLX_FAVOURITE=numpy rlx env > settings.txt"),
    ("exit", "0"): Recipe("rlx init; echo $?"),
    ("exit", "1"): Recipe("rlx validate missing.yaml; echo $?"),
    ("exit", "2"): Recipe("RLX_DEVICE=cuda:x rlx explain mlp.onnxtxt; echo $?"),
    ("exit", "3"): Recipe("rlx explain mlp.onnxtxt --device metal; echo $?"),
    ("exit", "4"): Recipe(
        "cat mine.yaml\nrlx backends --config mine.yaml; echo $?",
        (("mine.yaml", f"{HEAD}backend: []\n"),),
    ),
    ("exit", "130"): Recipe(
        "cat mine.py\nrlx run mlp.onnxtxt --random --size batch=1 --config mine.yaml; echo $?",
        (
            *mine(
                "device: cpu", "dispatches: true", "rank: 1", 'factory: "mine:open"', *SIZES, ALL
            ),
            (
                "mine.py",
                "def open(spec, options):\n    raise KeyboardInterrupt  # as Ctrl-C does\n",
            ),
        ),
    ),
}
