"""`rlx devices`: the host, what can run here, and what really runs."""

import json
from dataclasses import replace

import pytest

from rlx.cli import hosts
from rlx.probe.host import Host, PciDevice
from rlx.session import live
from rlx.session.live import Live
from tests.cli.conftest import MLP

H200 = PciDevice("0000:01:00.0", "10de", "2335", "0302", "NVIDIA H200")
BRIDGE = PciDevice("0000:00:00.0", "8086", "0d57", "0600")
SERVER = Host(
    "linux",
    "x86_64",
    "ubuntu",
    "24.04",
    "6.8.0",
    "glibc",
    "2.39",
    (BRIDGE, H200, replace(H200, address="0000:02:00.0")),
    ("/dev/nvidia0", "/dev/nvidiactl"),
    (("nvidia", "580.95.05"),),
)
RAN = Live("matmul", "cpu", "1.32.0", 0.25)


@pytest.mark.parametrize(
    ("host", "lines"),
    [
        (
            SERVER,
            [
                "ubuntu 24.04 on x86_64, kernel 6.8.0, glibc 2.39",
                "PCI: 2 x NVIDIA H200",
                "drivers: nvidia 580.95.05",
                "nodes: /dev/nvidia0, /dev/nvidiactl",
            ],
        ),
        (
            Host("macos", "arm64", version="15.5"),
            ["macos 15.5 on arm64", "PCI: no bus can be seen here"],
        ),
        (Host("linux", "x86_64", pci=(BRIDGE,)), ["linux on x86_64", "PCI: no GPU and no NPU"]),
        (
            Host("linux", "\x1b[31m", pci=(replace(H200, model="\u202eevil"),)),
            ["linux on \\x1b[31m", "PCI: NVIDIA \\u202eevil"],
        ),
    ],
)
def test_the_host_is_told_in_lines(host, lines):
    assert hosts.host_text(host) == lines


def test_the_host_is_told_as_data():
    told = hosts.host_json(SERVER)
    assert told["pci"][0] == {
        "address": "0000:01:00.0",
        "vendor": "10de",
        "device": "2335",
        "class": "0302",
        "role": "gpu",
        "name": "NVIDIA H200",
    }
    assert hosts.host_json(Host("macos", "arm64"))["pci"] is None


@pytest.fixture
def went(monkeypatch):
    """Live runs that were not run: by id, how each went; `calls` lists what was asked."""
    went = {"onnxruntime-cpu": RAN}
    calls = []

    def run(registry, backends, config, *, timeout, report):
        backends = list(backends)
        calls.append(([one.id for one in backends], config, timeout))
        return {one.id: went.get(one.id, RAN) for one in backends}

    monkeypatch.setattr(live, "run", run)
    went["calls"] = calls
    return went


def test_without_live_nothing_is_run(rlx, went):
    document = rlx("devices", "--json").json
    assert {one["live"] for one in document["facts"]} == {None}
    assert went["calls"] == []
    assert document["host"]["system"]


def test_live_runs_what_is_available_and_says_how_it_went(rlx, went):
    went["numpy"] = replace(RAN, kept=True)
    went["reference"] = Live(untried="it covers none of: add")
    lines = {line.split()[1]: line for line in rlx("devices", "--live").out.splitlines()[3:]}
    assert lines["onnxruntime-cpu"].endswith("yes   ran matmul on cpu (1.32.0, 0.2 s)")
    assert lines["numpy"].endswith("yes   ran matmul earlier on cpu (1.32.0, 0.2 s)")
    assert lines["reference"].endswith("yes   not tried: it covers none of: add")
    ((ids, config, timeout),) = went["calls"]
    assert (ids, config, timeout) == (["onnxruntime-cpu", "numpy", "reference"], (), 120.0)


def test_what_is_listed_and_fails_is_unavailable_with_its_cause(rlx, went, tmp_path):
    went["onnxruntime-cpu"] = Live(reason="ExecutionError: no kernel image")
    out = rlx("devices", "--live", "--timeout", "3").out
    assert (
        "no    a tiny program fails on it: ExecutionError: no kernel image. "
        "Fix: see the reason; `rlx devices --live` tries it again."
    ) in out
    assert went["calls"][0][2] == 3
    document = rlx("devices", "--live", "--json").json
    (tmp_path / "facts.json").write_text(json.dumps(document), encoding="utf-8")
    assert rlx("explain", MLP, "--facts", "facts.json", "--json").json["backend"] == "numpy"


def test_a_time_limit_is_above_0(rlx):
    assert rlx("devices", "--live", "--timeout", "0").code == 2


def test_refresh_forgets_what_is_kept_on_disk(rlx, tmp_path, monkeypatch):
    monkeypatch.setenv("RLX_CACHE_DIR", str(tmp_path))
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "call-0.probe.json").write_text("{}")
    assert rlx("devices", "--refresh").code == 0
    assert list((tmp_path / "probes").iterdir()) == []
    assert rlx("devices").out == rlx("devices").out
