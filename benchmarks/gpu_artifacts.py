"""`python -m benchmarks.gpu_artifacts DIR`: artifacts built elsewhere, run on an NVIDIA GPU.

With `--build`, on a machine without one: programs are compiled for each target into DIR, beside
inputs, and outputs computed in float64. Then, on the GPU: each is loaded and run in a process of
its own, and JSON says how far its outputs are from those, relative to their largest value. A
product in float32 is within 5e-5; one in TF32 is not. The exit code is 1 where one is wrong, or
did not run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import rlx
from rlx.errors import RlxError

TARGETS = ("jax-cuda", "iree-cuda", "iree-vulkan")
LIMIT = 5e-5
"""The largest error, relative to the largest value: float32 is below, TF32 ten times above."""
ROUNDS = 20
HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
SOURCES = {
    "product": """p (float[512,512] x, float[512,512] w) => (float[512,512] y)
        { y = MatMul(x, w) }""",
    "convolution": """c (float[1,32,40,40] x, float[64,32,3,3] w) => (float[1,64,40,40] y)
        { y = Conv<pads=[1,1,1,1]>(x, w) }""",
    "attention": """a (float[4,64,32] x, float[4,64,32] w) => (float[4,64,32] y)
        <float[1,1,1] s = {0.17677669}> { t = Transpose<perm=[0,2,1]>(w) p = MatMul(x, t)
          q = Mul(p, s) r = Softmax(q) y = MatMul(r, w) }""",
    "chain": """n (float[64,256] x, float[256,256] w) => (float[64,256] y) { p = MatMul(x, w)
        e = Erf(p) l = LpNormalization<axis=1>(e) y = Tanh(l) }""",
    "integers": """i (float[64,100] x, float[64,100] w) => (float[64] y, int64[64] k)
        <int64[1] axis = {1}> { z = Mul(x, w) y = ReduceSum<keepdims=0>(z, axis)
          k = ArgMax<axis=1, keepdims=0>(z) }""",
}


def build(folder: Path) -> None:
    """Every program for every target, with inputs and outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name in SOURCES:
        inputs = _inputs(name)
        np.savez(folder / f"{name}.inputs.npz", *inputs)
        np.savez(folder / f"{name}.outputs.npz", *_exactly(name, inputs))
        for target in TARGETS:
            file = f"{name}.{target}.rlx"
            rlx.build(_program(name), target).write(folder / file)
            made.append({"program": name, "target": target, "file": file})
            print(file, (folder / file).stat().st_size, file=sys.stderr)
    (folder / "artifacts.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _program(name: str, dtype: str = "float") -> rlx.Program:
    import onnx

    source = SOURCES[name].replace("float[", f"{dtype}[")
    return rlx.load(onnx.parser.parse_model(HEAD + source))


def _inputs(name: str) -> list[np.ndarray[Any, Any]]:
    generator = np.random.default_rng(7)
    shapes = [value.type.shape for value in _program(name).inputs]
    return [generator.standard_normal(shape).astype(np.float32) for shape in shapes]


def _exactly(name: str, inputs: list[np.ndarray[Any, Any]]) -> tuple[np.ndarray[Any, Any], ...]:
    """The outputs of the same program in float64."""
    with rlx.Session(backend="numpy") as session:
        outputs = session.compile(_program(name, "double"))(*(x.astype(np.float64) for x in inputs))
    return tuple(y.astype(np.float32) if y.dtype == np.float64 else y for y in outputs)


def run(folder: Path, file: str, program: str) -> dict[str, Any]:
    """One artifact: its largest error, and milliseconds for a call."""
    inputs = _arrays(folder / f"{program}.inputs.npz")
    wanted = _arrays(folder / f"{program}.outputs.npz")
    try:
        with rlx.load_artifact(folder / file) as model:
            outputs = model(*inputs)
            times = []
            for _ in range(ROUNDS):
                start = time.perf_counter()
                model(*inputs)
                times.append(time.perf_counter() - start)
            device = str(model.device)
    except RlxError as error:
        return {"ran": False, "why": str(error)}
    worst = max(_error(y, right) for y, right in zip(outputs, wanted, strict=True))
    return {
        "ran": True,
        "device": device,
        "error": worst,
        "float32": worst <= LIMIT,
        "milliseconds": round(min(times) * 1000, 4),
    }


def _arrays(path: Path) -> list[np.ndarray[Any, Any]]:
    with np.load(path) as found:
        return [found[name] for name in found.files]


def _error(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> float:
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return float("inf")
    if found.dtype.kind != "f":
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    worst = np.abs(found.astype(np.float64) - wanted).max() / np.abs(wanted).max()
    return float(worst) if np.isfinite(worst) else float("inf")


def _apart(folder: Path, file: str, program: str) -> dict[str, Any]:
    """The same in a process of its own, which may die of it."""
    command = [sys.executable, "-m", "benchmarks.gpu_artifacts", str(folder)]
    done = subprocess.run(
        [*command, "--only", file, program], capture_output=True, text=True, check=False
    )
    try:
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"ran": False, "why": f"exit code {done.returncode}: {done.stderr[-500:]}"}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--build", action="store_true", help="build them; no GPU is needed")
    parser.add_argument("--only", nargs=2, metavar=("FILE", "PROGRAM"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.build:
        build(chosen.folder)
        return 0
    if chosen.only:
        print(json.dumps(run(chosen.folder, *chosen.only)))
        return 0
    made = json.loads((chosen.folder / "artifacts.json").read_text(encoding="utf-8"))
    found = [{**one, **_apart(chosen.folder, one["file"], one["program"])} for one in made]
    print(json.dumps(found, indent=1))
    return int(not all(one.get("float32") for one in found))


if __name__ == "__main__":
    raise SystemExit(main())
