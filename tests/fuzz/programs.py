"""`python -m tests.fuzz.programs --count 20000`: random valid programs, held against the oracle."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

import rlx
from rlx.errors import NoBackend, ProgramError, RlxError
from tests.fuzz.building import Build, Value, captured, single
from tests.fuzz.control import CONTROL
from tests.fuzz.elementwise import ELEMENTWISE
from tests.fuzz.further import FURTHER
from tests.fuzz.numeric import NUMERIC
from tests.fuzz.shaping import SHAPING

FAMILIES = (ELEMENTWISE, SHAPING, NUMERIC, FURTHER, CONTROL)
AGREED, REFUSED, FAULT = "agreed", "refused", "fault"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A program, its inputs, and what the oracle makes of them."""

    model: onnx.ModelProto
    inputs: dict[str, Any]
    outputs: list[Value]
    build: Build


def draw(seed: int) -> Drawn | None:
    """The program of this seed; None: nothing came of it."""
    build = Build(seed)
    wanted = build.random.randint(1, 9)
    for _ in range(4 * wanted):
        if len(build.nodes) >= wanted:
            break
        family = build.random.choices(FAMILIES, (5, 5, 4, 2, 1))[0]
        build.add(build.pick(family)(build))
    model = build.finish()
    if model is None:
        return None
    made = {one.name: one for one in build.made}
    inputs = {one.name: build.inputs[one.name].array for one in model.graph.input}
    return Drawn(model, inputs, [made[one.name] for one in model.graph.output], build)


def judge(session: rlx.Session, drawn: Drawn) -> tuple[str, str]:
    """How one program went: `agreed`, `refused` (why), or `fault` (what)."""
    try:
        program = rlx.load(drawn.model)
    except ProgramError as error:
        return FAULT, f"not read: {error}"
    try:
        executable = session.compile(program)
    except NoBackend as refusal:
        lines = [line.split(maxsplit=2) for line in str(refusal).splitlines()[1:]]
        return REFUSED, next((line[2] for line in lines if line[0] == "numpy"), str(refusal))
    except RlxError as error:
        return FAULT, f"not compiled: {error}"
    try:
        found = executable.run(drawn.inputs)
    except RlxError as error:
        return FAULT, f"not run: {error}"
    for value, array in zip(drawn.outputs, found, strict=True):
        if (why := differs(value, array)) is not None:
            return FAULT, f"{value.name}: {why}"
    return AGREED, ""


def differs(wanted: Value, found: Any) -> str | None:
    """What is other than the oracle's, beyond rounding."""
    if found.dtype != wanted.array.dtype:
        return f"{found.dtype} instead of {wanted.array.dtype}"
    if found.shape != wanted.shape:
        return f"shape {found.shape} instead of {wanted.shape}"
    if not found.size:
        return None
    a, b = found.astype(np.float64), wanted.array.astype(np.float64)
    if wanted.exact or wanted.array.dtype.kind in "iub":
        same = np.array_equal(found, wanted.array) or np.array_equal(a, b, equal_nan=True)
        return None if same else f"other values: {a.ravel()[:6]} instead of {b.ravel()[:6]}"
    if np.allclose(a, b, rtol=1e-6, atol=wanted.slack, equal_nan=True):
        return None
    with np.errstate(all="ignore"):
        return f"off by {np.nanmax(np.abs(a - b)):.3g}, allowed {wanted.slack:.3g}"


def guilty(session: rlx.Session, drawn: Drawn) -> list[str]:
    """The nodes that go wrong alone, on what the oracle would give them."""
    build, found = drawn.build, []
    known = {one.name: one for one in build.made} | build.inputs | build.constants
    for node in build.nodes:
        names = dict.fromkeys([*node.input, *sorted(captured(node))])
        given = [known[name] for name in names if name in known]
        outputs = [known[name] for name in node.output]
        model = single(node, given, build.opset)
        feeds = {one.name: one.array for one in given}
        verdict, why = judge(session, Drawn(model, feeds, outputs, build))
        if verdict == FAULT:
            operands = ", ".join(f"{one.dtype}{list(one.shape)}" for one in given)
            found.append(f"  {onnx.printer.to_text(node).strip()} of {operands}: {why}")
            found.append(f"    onnxruntime sides with {second(model, feeds, outputs)}")
            small = [one for one in given if one.array.size <= 8]
            found += [f"    {one.name} = {one.array.tolist()}" for one in small]
    return found


def second(model: onnx.ModelProto, feeds: dict[str, Any], outputs: list[Value]) -> str:
    """Who onnxruntime sides with."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    providers = ["CPUExecutionProvider"]
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers)
        found = session.run(None, feeds)
    except Exception as error:  # noqa: BLE001 - onnxruntime's own exceptions have no common base
        return f"nobody: {str(error)[:200]}"
    alike = all(differs(a, b) is None for a, b in zip(outputs, found, strict=True))
    return "the oracle" if alike else f"another answer: {[one.ravel()[:8] for one in found]}"


def main() -> int:
    """Run many; a fault is printed with its seed and its program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--show", action="store_true", help="print every program")
    parser.add_argument("--backend", default="numpy")
    chosen = parser.parse_args()
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    operations: Counter[str] = Counter()
    done, seed = 0, chosen.first
    warnings.simplefilter("ignore")  # the oracle's, about infinities and means of nothing
    with rlx.Session(backend=chosen.backend) as session:
        while done < chosen.count:
            drawn = draw(seed)
            if drawn is not None:
                verdict, why = judge(session, drawn)
                counts[verdict] += 1
                operations.update({node.op_type for node in drawn.model.graph.node})
                if verdict == REFUSED:
                    refusals[why.split("(")[0].split("' ", 1)[-1]] += 1
                if verdict == FAULT:
                    print(f"seed {seed}: {why}", *guilty(session, drawn), sep="\n", flush=True)
                if chosen.show:
                    print(onnx.printer.to_text(drawn.model), flush=True)
                done += 1
            seed += 1
    print(f"{done} programs from seed {chosen.first} to {seed - 1}: {dict(counts)}")
    print(f"{len(operations)} operations: {dict(operations.most_common())}")
    for why, times in refusals.most_common(40):
        print(f"  refused {times}: {why}")
    return int(counts[FAULT] > 0)


if __name__ == "__main__":
    sys.exit(main())
