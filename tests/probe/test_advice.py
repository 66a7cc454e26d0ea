"""What helps: installing the engine, a driver, or asking for another device."""

import pytest

from rlx.device import Device
from rlx.origin import Origin
from rlx.probe import advice
from rlx.probe.host import Host, PciDevice
from rlx.probe.process import Answer
from rlx.registration import Probe, Registration

CUDA = Device("cuda", "CUDA", pci=("10de::03xx",))
BRIDGE = PciDevice("0000:00:00.0", "8086", "0d57", "0600")
H200 = PciDevice("0000:01:00.0", "10de", "2335", "0302", "NVIDIA H200")
WITHOUT = Host("linux", "x86_64", pci=(BRIDGE,))
UNDRIVEN = Host("linux", "x86_64", pci=(BRIDGE, H200))
READY = Host("linux", "x86_64", pci=(BRIDGE, H200), drivers=(("nvidia", "580.95.05"),))
UNSEEN = Host("linux", "x86_64")
MODULE, PATH = Probe("module", ("torch",)), Probe("path", ("/dev/nvidiactl",))
CALL = Probe("call", ("engine:probe",))
LIBRARY = Probe("library", ("cuda",))
PLATFORM = Probe("platform", ("darwin",))
INSTALL = "pip install torch"
NONE = "ask for another device: no CUDA hardware is on the PCI bus here"
SEE = "see the reason; `rlx devices --refresh` probes again."
DRIVER = "install the driver of NVIDIA H200: it is here, and none is loaded."


@pytest.mark.parametrize(
    ("failed", "host", "fix"),
    [
        (MODULE, WITHOUT, f"{NONE} (where it is, {INSTALL})."),
        (MODULE, UNDRIVEN, INSTALL),
        (MODULE, READY, INSTALL),
        (MODULE, UNSEEN, INSTALL),
        (LIBRARY, WITHOUT, f"{NONE} (where it is, {INSTALL})."),
        (PATH, WITHOUT, f"{NONE}."),
        (PATH, UNDRIVEN, DRIVER),
        (PATH, READY, "install what makes /dev/nvidiactl, or ask for another device."),
        (PATH, UNSEEN, "install what makes /dev/nvidiactl, or ask for another device."),
        (CALL, WITHOUT, f"{NONE}."),
        (CALL, UNDRIVEN, DRIVER),
        (CALL, READY, SEE),
        (CALL, UNSEEN, SEE),
        (PLATFORM, UNSEEN, "ask for another device."),
    ],
)
def test_the_fix_is_about_what_is_missing(failed, host, fix):
    one = Registration("t", "cuda", "t", install=INSTALL, probes=(MODULE, PATH, CALL))
    assert advice.fix(one, failed, Answer("no"), CUDA, host) == fix


def test_without_a_probe_that_finds_the_engine_installing_it_may_help():
    one = Registration("t", "cuda", "t", install=INSTALL, probes=(CALL,))
    assert advice.fix(one, CALL, Answer("no"), CUDA, READY) == INSTALL


def test_what_may_pass_is_probed_again():
    one = Registration("t", "cuda", "t", install=INSTALL, probes=(MODULE, CALL))
    passing = Answer("no answer", transient=True)
    assert advice.fix(one, CALL, passing, CUDA, READY) == advice.AGAIN


def test_an_untrusted_probe_is_about_trust_whatever_the_hardware():
    failed = Probe("call", ("m:f",), origin=Origin("rlx.yaml"), trusted=False)
    one = Registration("t", "cuda", "t", install=INSTALL, probes=(failed,))
    fix = "read rlx.yaml, then run `rlx trust rlx.yaml`."
    assert advice.fix(one, failed, Answer("no"), CUDA, WITHOUT) == fix


@pytest.mark.parametrize("device", [None, Device("cuda", "CUDA")])
def test_of_a_device_that_says_nothing_of_its_hardware_nothing_is_said(device):
    one = Registration("t", "cuda", "t", install=INSTALL, probes=(MODULE,))
    assert advice.fix(one, MODULE, Answer("no"), device, WITHOUT) == INSTALL
