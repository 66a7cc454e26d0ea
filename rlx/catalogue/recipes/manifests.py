"""Recipes for faults that no example manifest of the tests has."""

from __future__ import annotations

from rlx.catalogue.recipes.recipe import HEAD, INIT, SHOW, Recipe, mine, plugin, python

RECIPES: dict[tuple[str, str], Recipe] = {
    ("manifest", "file-missing"): Recipe("rlx validate missing.yaml"),
    ("manifest", "file-not-regular"): Recipe("mkfifo pipe.yaml\nrlx validate pipe.yaml"),
    ("manifest", "file-unreadable"): Recipe("ln -s loop.yaml loop.yaml\nrlx validate loop.yaml"),
    ("manifest", "file-too-large"): Recipe("truncate -s 2M large.yaml\nrlx validate large.yaml"),
    ("manifest", "yaml-too-deep"): Recipe(
        "head -c 65 /dev/zero | tr '\\0' '[' > deep.yaml\nrlx validate deep.yaml"
    ),
    ("manifest", "yaml-too-many-values"): Recipe(
        "yes -- '- 1' | head -n 100001 > many.yaml\nrlx validate many.yaml"
    ),
    ("manifest", "coverage-path"): Recipe(
        f"{SHOW}rlx validate mine.yaml", mine("device: cpu", "coverage: ../numpy.yaml")
    ),
    ("manifest", "coverage-kind"): Recipe(
        f"{SHOW}rlx validate mine.yaml",
        (*mine("device: cpu", "coverage: other.yaml"), ("other.yaml", HEAD)),
    ),
    ("manifest", "coverage-chain"): Recipe(
        f"cat loop.yaml\n{SHOW}rlx validate mine.yaml",
        (
            *mine("device: cpu", "coverage: loop.yaml"),
            (
                "loop.yaml",
                "apiVersion: rlx/v1\nkind: Coverage\n"
                "evidence: {kind: inherited, backend: numpy}\n"
                "inherits: loop.yaml\nrows: []\n",
            ),
        ),
    ),
    ("manifest", "more-faults"): Recipe(
        "(cat head.yaml; seq -f 'key%g: 1' 102) > many.yaml\nrlx validate many.yaml | grep more",
        (("head.yaml", HEAD),),
    ),
    ("manifest", "plugin-entry"): plugin("../acme"),
    ("manifest", "plugin-place"): plugin("acme"),
    ("manifest", "plugin-file"): plugin("acme:../secret.yaml", INIT),
    ("rule", "rank-range"): python(
        "import rlx", "", 'rlx.register_backend(id="mine", device="cpu", rank=-1)'
    ),
    ("rule", "probe-timeout"): python(
        "import rlx",
        "from rlx.registration import Probe",
        "",
        'probe = Probe("call", ("mine:probe",), timeout=float("inf"))',
        'rlx.register_backend(id="mine", device="cpu", probes=[probe])',
    ),
    ("rule", "field-type"): python(
        "import rlx", "", 'rlx.register_backend(id="mine", device="cpu", enabled=1)'
    ),
    ("rule", "mutable-value"): python(
        "import rlx", "", 'rlx.register_backend(id="mine", device="cpu", options={"a": [1]})'
    ),
    ("rule", "routing-conflict"): python(
        "from rlx.manifest import read_file",
        "from rlx.registries import Registry, freeze",
        "",
        'files = [read_file("one.yaml", "user"), read_file("two.yaml", "user")]',
        "freeze(files, base=Registry.load(only=True))  # each says which device to use",
        files=(
            ("one.yaml", f"{HEAD}routing: {{device: cpu}}\n"),
            ("two.yaml", f"{HEAD}routing: {{device: metal}}\n"),
        ),
    ),
    ("rule", "untrusted"): Recipe(
        "cat backends.yaml\nrlx backends",
        (("backends.yaml", f"{HEAD}devices:\n  - {{id: dsp, name: DSP}}\n"),),
    ),
}
