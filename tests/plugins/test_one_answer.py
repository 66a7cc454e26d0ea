"""Two plugins at one rank: one answer, whatever the hash seed and the order of directories."""

import json
import os
import subprocess
import sys
from pathlib import Path

import rlx
from tests.plugins.conftest import HEAD

ROOT = Path(rlx.__file__).parents[1]
BACKEND = (
    "backends:\n  - id: {0}\n    device: cpu\n    rank: 1\n    dispatches: true\n"
    '    factory: "{1}:open"\n'
    "    coverage: {{rows: [{{operations: [Add], types: {{T: [float32, float64]}}}}]}}\n"
)
SCRIPT = """
import json, os, random, sys
seed, *folders = sys.argv[1:]
random.seed(seed)

def shuffled(items):
    items = list(items)
    random.shuffle(items)
    return items

listdir, scandir = os.listdir, os.scandir
os.listdir = lambda *path: shuffled(listdir(*path))

class Entries(list):
    def __enter__(self): return self
    def __exit__(self, *error): return None
    def close(self): pass

def shuffled_entries(*path):
    with scandir(*path) as entries:
        return Entries(shuffled(entries))

os.scandir = shuffled_entries
sys.path[:0] = shuffled(folders)
from rlx.program.types import Requirements, Signature
from rlx.registries import Registry
from rlx.router import Fact, decide
from rlx.settings import Request

registry = Registry.load()
needs = Requirements((Signature("Add", (("T", "float32"),)),), (0,), (1,))
facts = {(one.id, 0): Fact() for one in registry.registrations}
route = decide(registry, needs, Request(), facts)
first = [one.id for one in registry.registrations[:3]]
sources = [one for one in registry.sources if one.startswith("plugin")]
print(json.dumps([registry.digest, first, sources, route.backend, str(route), registry.notes]))
"""
SEEDS = 64


def answer(seed, folders, work):
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(seed), *map(str, folders)],
        capture_output=True,
        text=True,
        cwd=work,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_plugins_at_one_rank_have_one_answer_under_64_hash_seeds(tmp_path):
    folders = []
    for name, package in (("tied-b", "acme_one"), ("tied-a", "zeta_two")):
        folder = tmp_path / package
        info = folder / f"{package}-1.0.dist-info"
        (folder / package).mkdir(parents=True)
        info.mkdir()
        (info / "entry_points.txt").write_text(f"[rlx.manifests]\nx = {package}\n")
        (info / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
        (folder / package / "__init__.py").write_text("raise SystemExit('imported')\n")
        manifest = HEAD + BACKEND.format(name, package)
        (folder / package / "backends.yaml").write_text(manifest)
        folders.append(folder)
    (tmp_path / "work").mkdir()
    answers = {answer(seed, folders, tmp_path / "work") for seed in range(SEEDS)}
    assert len(answers) == 1
    _, first, _, chosen, text, _ = json.loads(answers.pop())
    assert first[:2] == ["tied-a", "tied-b"]  # at one rank, by id
    assert chosen == "tied-a"
    assert "tied-b" in text
