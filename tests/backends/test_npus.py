"""XDNA, eGPUs and NPUs keep the seam's contract: found, honest about here, exact about what runs.

All of it holds whether or not such a device, or what drives it, is here.
"""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest

import rlx
from rlx.cli.app import run

DEVICES = ("egpu", "npu", "xdna")
TEXT = (
    '<ir_version: 13, opset_import: ["": 25]> g (float[2,2] x) => (float[2,2] y) '
    "{ m = MatMul(x, x) s = Sigmoid(m) y = Relu(s) }"
)


def program():
    return rlx.load(onnx.parser.parse_model(TEXT))


def registered(device):
    return [one for one in rlx.default_registry().registrations if one.device == device]


@pytest.mark.parametrize("device", DEVICES)
def test_looking_it_up_resolves(device, capsys):
    assert device in rlx.registered_devices()
    assert run(["backends", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["backends"]
    assert {one.id for one in registered(device)} == {
        one["id"] for one in listed if one["device"] == device
    }


@pytest.mark.parametrize("device", DEVICES)
def test_a_dispatch_report_is_exact(device):
    """Each node has one path; where nothing is covered, every node is missing, and named."""
    with rlx.use(device):
        route = rlx.route(program())
    for one in registered(device):
        report = route.report_for(one.id)
        counts = dict(report.counts)
        assert sum(counts.values()) == report.nodes == 3
        assert counts["missing"] == len(report.missing)
        covered = {name for row in one.coverage.rows for name in row.operations}
        if not covered:
            assert counts == {"native": 0, "lowered": 0, "missing": 3}
            assert [node.operation for node in report.missing] == ["MatMul", "Sigmoid", "Relu"]
            assert not report.compile_ready
        for path, operation, _ in report.operations:
            assert path != "native" or operation in covered


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_said_to_be_available_opens(device):
    if not rlx.is_available(device):
        assert device not in rlx.available_devices()
        return
    with rlx.acquire_preferred(device) as lease:
        assert lease.spec.name == device


@pytest.mark.parametrize("device", DEVICES)
def test_forcing_it_runs_there_or_names_what_is_missing(device, monkeypatch):
    """Never elsewhere: each backend of the device has a reason of its own, all others the same."""
    monkeypatch.setenv("RLX_DEVICE", device)
    try:
        with rlx.Session() as session, session.compile(program()) as executable:
            assert executable.device.name == device
            executable(np.ones((2, 2), np.float32))
            return
    except rlx.NoBackend as refusal:
        error = refusal
    lines = str(error).splitlines()
    assert lines[0] == f"no backend can run g (3 nodes) on {device}"
    ids = {one.id for one in registered(device)}
    for one in error.route.candidates:
        codes = {reason.code for reason in one.reasons}
        if one.backend in ids:
            assert codes <= {"coverage", "unavailable", "disabled", "emission-only", "capability"}
            assert all(reason.detail for reason in one.reasons)
        else:
            assert codes & {"not-requested", "disabled", "oracle"}, one


@pytest.mark.needs("tinygrad")
def test_a_gpu_on_usb_is_asked_for_by_its_bridge(monkeypatch, tmp_path):
    from rlx.backends import tinygrad

    monkeypatch.setattr(tinygrad.sys, "platform", "linux")
    monkeypatch.setattr(tinygrad, "USB_DEVICES", tmp_path)
    assert tinygrad.probe_egpu(0) == (
        "no USB device is a bridge to a GPU "
        "(3801:0001 or add1:0001: an ASM2464 with tinygrad's firmware)"
    )
    for name, numbers in (("1-1", ("174c", "2464")), ("1-2", ("add1", "0001"))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "idVendor").write_text(f"{numbers[0]}\n", "utf-8")
        (folder / "idProduct").write_text(f"{numbers[1]}\n", "utf-8")
        assert tinygrad._is_bridge(folder) == (name == "1-2")
    (tmp_path / "usb1").mkdir()  # a hub without numbers
    assert not tinygrad._is_bridge(tmp_path / "usb1")


@pytest.mark.needs("tinygrad")
def test_a_bridge_without_a_gpu_is_not_called_available(monkeypatch):
    from rlx.backends import tinygrad

    monkeypatch.setattr(tinygrad, "_devices", lambda: [None])
    monkeypatch.setattr(tinygrad, "_is_bridge", lambda _: True)
    found = tinygrad.probe_egpu(0)
    assert isinstance(found, str)
    assert found
