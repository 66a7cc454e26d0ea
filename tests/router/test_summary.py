"""The decision for a reader: whole messages, at the width of a terminal."""

import pytest

from rlx.device import DeviceSpec
from rlx.origin import Origin
from rlx.registration import Coverage
from rlx.router import Fact, decide
from rlx.router.summary import BARE, BY_DEVICE, ORDER, brief, folded, summary
from rlx.router.verdicts import CODES, VERDICTS
from rlx.settings import Request

WHERE = Origin("RLX_DEVICE", layer="environment")
ELSEWHERE = "ask for another device: no CUDA hardware is on the PCI bus here"
FACTS = {
    ("torch-cuda", 0): Fact(
        "torch is not installed", fix=f"{ELSEWHERE} (where it is, pip install 'rlx[torch]')."
    ),
    ("cupy", 0): Fact("cupy is not installed", fix=f"{ELSEWHERE}."),
    ("wgpu-vulkan", 0): Fact("wgpu is not installed", fix="pip install 'rlx[wgpu]'."),
    ("torch-metal", 0): Fact("it needs macos, this is linux", fix="ask for another device."),
    ("mlx", 0): Fact(software=True, detail="no Metal here"),
}


@pytest.fixture
def registry(make_registry, backend, row):
    no_matmul = Coverage((row("Relu"),))
    needing = {"module": "one"}
    return make_registry(
        backend("torch-cuda", "cuda", 10, **needing),
        backend("cupy", "cuda", 11, **needing),
        backend("wgpu-vulkan", "vulkan", 12, **needing),
        backend("torch-metal", "metal", 13, **needing),
        backend("mlx", "mlx", 14, **needing),
        backend("tiny-one", rank=15, coverage=no_matmul),
        backend("tiny-two", rank=16, coverage=no_matmul),
        backend("off", rank=17, enabled=False),
        backend("numpy", rank=100),
        backend("later", rank=101),
        backend("last", rank=102),
    )


def test_like_is_told_with_like_and_a_device_says_what_to_do_once(registry, mlp):
    assert summary(decide(registry, mlp, Request(), FACTS), 80) == (
        "mlp (2 nodes) runs on numpy (cpu:0)\n"
        "  rank 100\n"
        "10 were not chosen; -v shows each with its place:\n"
        "  coverage: node 'mm' MatMul: the operation is not claimed (tiny-one, tiny-two)\n"
        "  unavailable: a probe found that it can't work here\n"
        "    cuda    no CUDA hardware is on the PCI bus here (where it is, pip install\n"
        "            'rlx[torch]'). (torch-cuda, cupy)\n"
        "    vulkan  Fix: pip install 'rlx[wgpu]'. (wgpu-vulkan)\n"
        "    metal   it needs macos, this is linux (torch-metal)\n"
        "  software-device: a CPU emulates the device, and nobody asked for it\n"
        "    mlx  Fix: ask for it: RLX_DEVICE=mlx. (mlx)\n"
        "  disabled: disabled in its registration (off)\n"
        "    Fix: set `enabled: true` for off.\n"
        "  not-reached: later, last"
    )


def test_every_reason_of_what_was_asked_for_is_told(registry, mlp):
    request = Request((DeviceSpec("cuda"),), source=WHERE)
    assert summary(decide(registry, mlp, request, FACTS), 80) == (
        "no backend can run mlp (2 nodes) on cuda\n"
        "11 were not chosen; -v shows each with its place:\n"
        "  unavailable: a probe found that it can't work here\n"
        "    cuda  torch is not installed. Fix: ask for another device: no CUDA hardware\n"
        "          is on the PCI bus here (where it is, pip install 'rlx[torch]').\n"
        "          (torch-cuda)\n"
        "          cupy is not installed. Fix: ask for another device: no CUDA hardware\n"
        "          is on the PCI bus here. (cupy)\n"
        "  disabled: disabled in its registration (off)\n"
        "    Fix: set `enabled: true` for off.\n"
        "  not-requested (cuda was asked for by RLX_DEVICE): wgpu-vulkan, torch-metal,\n"
        "    mlx, tiny-one and 4 more"
    )


def test_one_that_was_not_chosen_and_none(make_registry, backend, mlp):
    two = make_registry(backend("a", rank=1), backend("b", rank=2))
    assert summary(decide(two, mlp, Request(), {}), 80).splitlines()[2:] == [
        "1 was not chosen; -v shows its place:",
        "  not-reached: b",
    ]
    one = make_registry(backend("a", rank=1))
    assert summary(decide(one, mlp, Request(), {}), 80) == (
        "mlp (2 nodes) runs on a (cpu:0)\n  rank 1"
    )


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("device", [None, "cuda", "vulkan", "cpu"])
def test_no_line_is_wider_than_asked_and_nobody_is_left_out(registry, mlp, width, device):
    request = Request(() if device is None else (DeviceSpec(device),), source=WHERE)
    route = decide(registry, mlp, request, FACTS)
    said = summary(route, width)
    assert max(map(len, said.splitlines())) <= width
    words = set(said.replace("(", " ").replace(")", " ").replace(",", " ").split())
    asked = [one for one in route.candidates if "not-requested" not in codes(one)]
    assert {one.backend for one in asked} <= words


def codes(candidate):
    return [reason.code for reason in candidate.reasons]


def test_every_code_has_its_place():
    assert set(ORDER) == set(CODES) | (set(VERDICTS) - {"selected", "rejected"})
    assert set(BARE) | set(BY_DEVICE) <= set(ORDER)


def test_folding_keeps_the_words_and_short_lines():
    text = f"short   one\n  {'word ' * 30}  {'x' * 90}"
    lines = folded(text, 40).splitlines()
    assert lines[0] == "short   one"
    assert all(len(line) <= 40 or line.strip() == "x" * 90 for line in lines)
    assert folded(text, 40).split() == text.split()
    assert all(line.startswith("      ") for line in lines[2:])


def test_after_a_run_only_the_choice_and_what_was_tried_are_told(make_registry, backend, mlp):
    registry = make_registry(backend("a", rank=1), backend("b", rank=2), backend("c", rank=3))
    assert brief(decide(registry, mlp, Request(), {}), 80, "-v") == (
        "mlp (2 nodes) runs on a (cpu:0)\n  rank 1\n  2 others were not chosen: -v says why"
    )
    facts = {("a", 0): Fact(open_failure="no memory", fix="free some.")}
    assert brief(decide(registry, mlp, Request(), facts), 80, "-v") == (
        "mlp (2 nodes) runs on b (cpu:0)\n"
        "  rank 2\n"
        "  degraded: an earlier choice failed to open\n"
        "  open-failed: it failed to open: no memory (a)\n"
        "    Fix: free some.\n"
        "  2 others were not chosen: -v says why"
    )


@pytest.mark.parametrize("fact", [Fact(), Fact(software=True)])
def test_a_software_device_that_was_asked_for_is_called_one(make_registry, backend, mlp, fact):
    one = backend("lavapipe", software=not fact.software)
    route = decide(make_registry(one), mlp, Request(backend="lavapipe"), {("lavapipe", 0): fact})
    assert "  a software device: a CPU emulates it" in summary(route, 80).splitlines()
