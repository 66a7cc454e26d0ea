"""The killable child process that runs a tiny program on one backend, as a user would.

It is started by its path, with `child.py`'s manners: what the engine prints goes to standard
error, the answer to the first standard output.
"""

from __future__ import annotations

import time
from typing import Any

PROGRAMS = {
    "matmul": (
        "(float[2,3] x) => (float[2,2] y)"
        " <float[3,2] w = {1,-1,2,0,0,1}, float[2] b = {1,-1}>"
        " { p = MatMul(x, w)  s = Add(p, b)  y = Relu(s) }"
    ),
    "add in float16": "(float16[2,3] x) => (float16[2,3] y) { y = Add(x, x) }",
    "add": "(float[2,3] x) => (float[2,3] y) <float[3] b = {10,20,30}> { y = Add(x, b) }",
    "relu": "(float[2,3] x) => (float[2,3] y) { y = Relu(x) }",
}
"""The bodies of the programs, tried in this order: the first that the backend covers is run."""
X = [[1, 2, 3], [-1, 0, 2]]
RIGHT = {
    "matmul": [[6, 1], [0, 2]],
    "add in float16": [[2, 4, 6], [-2, 0, 4]],
    "add": [[11, 22, 33], [9, 20, 32]],
    "relu": [[1, 2, 3], [0, 0, 2]],
}
"""The right answers, by hand: small integers, which every precision holds exactly."""


def answer(backend: str, digest: str, config: list[str]) -> dict[str, Any]:
    """Open the backend, compile, run twice, and compare; the reason where something is wrong."""
    from rlx.errors import NoBackend, RlxError
    from rlx.freeze.digest import registration_digest
    from rlx.session import Session, leases
    from rlx.session.default import load_registry
    from rlx.session.opening import cause_text

    try:
        registry = load_registry(config)
        one = registry.get(backend)
        if one is None or registration_digest(one) != digest:
            return {"untried": "its registration was changed meanwhile"}
        name, program = _covered(backend, registry)
        if program is None:
            return {"untried": f"it covers none of: {', '.join(PROGRAMS)}"}
        began = time.perf_counter()
        with Session(backend=backend, registry=registry) as session:
            model = session.compile(program)
            wrong = _wrong(name, model) or _wrong(name, model)
            lease = leases.acquire(one, model.device)
            device, version = lease.backend.device, lease.backend.version
            lease.close()
        seconds = time.perf_counter() - began
    except NoBackend as error:
        return {"reason": _against(backend, error)}
    except RlxError as error:
        return {"reason": error.message, "fix": error.fix}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever an engine does is the answer
        return {"reason": cause_text(error)}
    if wrong:
        return {"reason": wrong}
    return {"program": name, "device": device, "version": version, "seconds": seconds}


def _against(backend: str, error: Any) -> str:
    """What the route has against the backend itself, without the others' lines."""
    (own,) = (one for one in error.route.candidates if one.backend == backend)
    return "; ".join(reason.detail for reason in own.reasons)


def _covered(backend: str, registry: Any) -> tuple[str, Any]:
    """The first program that the backend covers, by name; None: there is none."""
    import onnx.parser

    from rlx.program import load
    from rlx.session import route

    for name, body in PROGRAMS.items():
        text = f'<ir_version: 10, opset_import: ["" : 21]> tiny {body}'
        program = load(onnx.parser.parse_model(text))
        if route(program, backend=backend, registry=registry, probe=False).backend is not None:
            return name, program
    return "", None


def _wrong(name: str, model: Any) -> str:
    """What is wrong about what the model gives; empty: nothing."""
    import numpy as np

    dtype = np.float16 if name.endswith("float16") else np.float32
    (found,) = model(np.array(X, dtype))
    right = RIGHT[name]
    if np.array_equal(found, right):
        return ""
    return f"{name} gave {found.tolist()}, {right} is right"


def main() -> None:
    """Answer one request."""
    from rlx.probe.child import begin, end

    answers, request = begin()
    end(answers, answer(request["backend"], request["digest"], request["config"]))


if __name__ == "__main__":
    main()
