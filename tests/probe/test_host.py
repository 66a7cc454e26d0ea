"""Host facts, from captured inputs of many machines."""

import pytest

from rlx.probe import host as hosts
from rlx.probe.host import platforms
from rlx.probe.host.capture import NODES, Captured, capture
from rlx.probe.host.pci import PciDevice, repository_names

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nID=debian\n'
UBUNTU = 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n'
ALPINE = 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.20.3\n'
NVIDIA = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"
)
MUSL = "musl libc (x86_64)\nVersion 1.2.5\nDynamic Program Loader\nUsage: /lib/ld-musl…\n"
CUDA, ROCM, INTEL, XDNA = ("10de::03xx",), ("1002::03xx",), ("8086::03xx",), ("1022:17f0",)


def bus(**functions):
    """The files of a PCI bus: `s01="10de 2335 0302"` is a function at slot 01."""
    files = {}
    for slot, text in functions.items():
        vendor, device, kind = text.upper().split()
        alias = f"pci:v0000{vendor}d0000{device}sv00000000sd00000000bc{kind[:2]}sc{kind[2:]}i00\n"
        files[f"/sys/bus/pci/devices/0000:{slot[1:]}:00.0/modalias"] = alias
    return files


SERVER = Captured(
    "linux",
    "x86_64",
    "6.8.0-45-generic",
    "glibc 2.39",
    files={
        **bus(
            s00="8086 0d57 0600", s01="10de 2335 0302", s02="10de 2335 0302", s09="10de 22a3 0680"
        ),
        "/etc/os-release": UBUNTU,
        "/proc/driver/nvidia/version": NVIDIA,
        "/proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA H200\nIRQ: 1\n",
        "/proc/driver/nvidia/gpus/0000:02:00.0/information": "Model: \t\t NVIDIA H200\nIRQ: 2\n",
        "/sys/module/nvidia/version": "580.95.05\n",
        "/proc/sys/kernel/random/boot_id": "7723c65e\n",
    },
    modules=("nvidia",),
    nodes=("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl"),
)
APU = Captured(
    "linux",
    "x86_64",
    "6.14.0",
    "glibc 2.41",
    files={
        **bus(s03="1022 1507 0600", sc4="1002 150e 0300", sc5="1022 17f0 1180"),
        "/etc/os-release": "ID=fedora\nVERSION_ID=42\n",
        "/sys/module/amdgpu/version": "6.12.12\n",
    },
    modules=("amdgpu", "amdxdna"),
    nodes=("/dev/accel/accel0", "/dev/dri/card0", "/dev/dri/renderD128", "/dev/kfd"),
    names={"1002:150e": "Strix [Radeon 890M]", "1022:17f0": "Strix Neural Processing Unit"},
)
LAPTOP = Captured(
    "linux",
    "x86_64",
    "6.11.0",
    "glibc 2.40",
    files={**bus(s00="8086 7d45 0300", s0b="8086 7d1d 1200"), "/usr/lib/os-release": UBUNTU},
    modules=("xe", "intel_vpu"),
    nodes=("/dev/accel/accel0", "/dev/dri/card1", "/dev/dri/renderD128"),
)
MAC = Captured("darwin", "arm64", "24.5.0", macos="15.5")
WINDOWS = Captured("win32", "AMD64", "10.0.26100")
MUSL_CONTAINER = Captured("linux", "aarch64", "6.1.0", MUSL, files={"/etc/os-release": ALPINE})
NO_SYS = Captured("linux", "x86_64", "4.4.0", "glibc 2.36", files={"/etc/os-release": DEBIAN})
WSL2 = Captured(
    "linux",
    "x86_64",
    "5.15.167.4-microsoft-standard-WSL2",
    "glibc 2.39",
    files={**bus(s01="1414 008e 0302"), "/etc/os-release": UBUNTU},
    nodes=("/dev/dxg",),
)
JETSON = Captured(
    "linux",
    "aarch64",
    "5.15.148-tegra",
    "glibc 2.35",
    files=bus(s01="10ec 8168 0200"),
    nodes=("/dev/nvidia0", "/dev/nvmap"),
)
BARE = Captured("freebsd14", "amd64", "14.1-RELEASE")


@pytest.mark.parametrize(
    ("captured", "system", "libc", "computing", "drivers"),
    [
        (
            SERVER,
            ("linux", "x86_64", "ubuntu", "24.04", "6.8.0-45-generic"),
            ("glibc", "2.39"),
            ["NVIDIA H200", "NVIDIA H200"],
            (("nvidia", "580.95.05"),),
        ),
        (
            APU,
            ("linux", "x86_64", "fedora", "42", "6.14.0"),
            ("glibc", "2.41"),
            ["AMD Strix [Radeon 890M]", "AMD Strix Neural Processing Unit"],
            (("amdgpu", "6.12.12"), ("amdxdna", "kernel 6.14.0")),
        ),
        (
            LAPTOP,
            ("linux", "x86_64", "ubuntu", "24.04", "6.11.0"),
            ("glibc", "2.40"),
            ["Intel GPU [8086:7d45]", "Intel NPU [8086:7d1d]"],
            (("xe", "kernel 6.11.0"), ("intel_vpu", "kernel 6.11.0")),
        ),
        (MAC, ("macos", "arm64", "", "15.5", "24.5.0"), ("", ""), None, ()),
        (WINDOWS, ("windows", "x86_64", "", "10.0.26100", ""), ("", ""), None, ()),
        (
            MUSL_CONTAINER,
            ("linux", "arm64", "alpine", "3.20.3", "6.1.0"),
            ("musl", "1.2.5"),
            None,
            (),
        ),
        (NO_SYS, ("linux", "x86_64", "debian", "12", "4.4.0"), ("glibc", "2.36"), None, ()),
        (
            WSL2,
            ("linux", "x86_64", "ubuntu", "24.04", "5.15.167.4-microsoft-standard-WSL2"),
            ("glibc", "2.39"),
            ["Microsoft GPU [1414:008e]"],
            (),
        ),
        (JETSON, ("linux", "arm64", "", "", "5.15.148-tegra"), ("glibc", "2.35"), [], ()),
        (BARE, ("freebsd14", "x86_64", "", "", "14.1-RELEASE"), ("", ""), None, ()),
    ],
)
def test_a_captured_machine_has_its_facts(captured, system, libc, computing, drivers):
    found = hosts.read(captured)
    own = (found.system, found.machine, found.distribution, found.version, found.kernel)
    assert own == system
    assert (found.libc, found.libc_version) == libc
    assert (None if found.pci is None else [*map(str, found.computing)]) == computing
    assert found.drivers == drivers
    assert found.nodes == captured.nodes


@pytest.mark.parametrize(
    ("captured", "patterns", "lacks"),
    [
        (SERVER, CUDA, False),
        (SERVER, ROCM, True),
        (SERVER, (), False),
        (APU, ROCM, False),
        (APU, XDNA, False),
        (APU, CUDA, True),
        (LAPTOP, INTEL, False),
        (LAPTOP, XDNA, True),
        (MAC, CUDA, False),
        (WINDOWS, CUDA, False),
        (NO_SYS, CUDA, False),
        (WSL2, CUDA, False),
        (JETSON, CUDA, False),
    ],
)
def test_hardware_is_absent_only_where_it_would_be_seen(captured, patterns, lacks):
    assert hosts.read(captured).lacks(patterns) is lacks


def test_what_no_driver_serves_is_known():
    undriven = Captured("linux", "x86_64", files=SERVER.files, nodes=())
    (gpu, _), served = hosts.read(undriven).computing, hosts.read(SERVER)
    assert not hosts.read(undriven).driven(gpu)
    assert served.driven(gpu)
    assert served.driven(PciDevice("0000:00:02.0", "1e52", "401e", "1200"))  # none is known


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("10de::03xx", True),
        ("10de::0302", True),
        ("10DE:2335", True),
        ("::03xx", True),
        ("10de:", True),
        ("10de::12xx", False),
        ("1002::03xx", False),
        ("10de:2336", False),
    ],
)
def test_a_pattern_is_that_of_lspci(pattern, fits):
    assert PciDevice("0000:01:00.0", "10de", "2335", "0302").fits(pattern) is fits


def test_only_what_computes_has_a_role():
    kinds = {"0300": "gpu", "0380": "gpu", "1200": "npu", "0b40": None, "0200": None, "0604": None}
    assert {kind: PciDevice("", "8086", "1234", kind).role for kind in kinds} == kinds
    assert PciDevice("", "1ae0", "0042", "0200").role is None  # Google's network card
    assert PciDevice("", "1ae0", "0063", "ff00").role == "npu"


@pytest.mark.parametrize("text", ["", "pci:v0000", "usb:v1D6Bp0002", "\0", "x" * 9000])
def test_what_is_no_modalias_is_passed_over(text):
    files = {"/sys/bus/pci/devices/0000:00:01.0/modalias": text}
    assert hosts.read(Captured("linux", "x86_64", files=files)).pci == ()


def test_names_come_from_the_pci_id_repository():
    text = (
        "# comment\n10de  NVIDIA Corporation\n\t2335  GH100 [H200 SXM 141GB]\n"
        "\t\t10de 18be  a board\n\t2336  other\n8086  Intel Corporation\n\t2335  not this one\n"
        "C 03  Display controller\n\t00  VGA compatible controller\n"
    )
    found = repository_names(text, ["10de:2335", "8086:9999"])
    assert found == {"10de:2335": "GH100 [H200 SXM 141GB]"}


@pytest.mark.parametrize(
    ("node", "listed"),
    [
        ("/dev/nvidia0", True),
        ("/dev/nvidia-uvm", True),
        ("/dev/kfd", True),
        ("/dev/dri/renderD128", True),
        ("/dev/accel/accel0", True),
        ("/dev/accel0", True),
        ("/dev/apex_0", True),
        ("/dev/dxg", True),
        ("/dev/null", False),
        ("/dev/sda", False),
    ],
)
def test_nodes_of_what_computes_are_listed(node, listed):
    assert bool(NODES.fullmatch(node)) is listed


def test_this_host_is_read_and_never_raises():
    found = hosts.read(capture())
    assert (found.system, found.machine) == platforms.here()
    assert hosts.host() is hosts.host()
