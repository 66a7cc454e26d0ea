"""What IREE calls the devices of rlx: its compiler's backend, its runtime's driver, their flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rlx.errors import SettingError, UnsupportedFeature


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of device."""

    backend: str
    """The compiler's backend."""
    driver: str
    """The runtime's driver."""
    flag: str | None = None
    """The compiler's flag that names the processor or the architecture."""
    default: str | None = None
    """What it is where nothing is stated; None: the flag is left out."""
    others: tuple[str, ...] = ()
    """More of the compiler's flags."""


KINDS: Mapping[str, Kind] = {
    "cpu": Kind(
        "llvm-cpu",
        "local-task",
        "--iree-llvmcpu-target-cpu",
        "generic",
        ("--iree-llvmcpu-debug-symbols=false",),  # they hold addresses of the compiler's own
    ),
    "vulkan": Kind("vulkan-spirv", "vulkan", "--iree-vulkan-target"),
    "cuda": Kind("cuda", "cuda", "--iree-cuda-target", "sm_80"),
    "rocm": Kind("rocm", "hip", "--iree-rocm-target", "gfx942"),
    "metal": Kind("metal-spirv", "metal"),
}
OPTIONS = ("architecture", "triple")
"""Options of a registration: the processor or architecture that code is made for, by IREE's name,
such as `x86-64-v3`, `sm_89`, `gfx1100` or `rdna3`; and, for CPUs, LLVM's triple of the machine."""
_ALWAYS = (
    "--iree-input-demote-f64-to-f32=false",
    "--iree-input-demote-i64-to-i32=false",
    "--iree-vm-bytecode-module-strip-source-map",
)


def kind(device: str) -> Kind:
    """What IREE has for a device.

    Raises:
        UnsupportedFeature: nothing.
    """
    found = KINDS.get(device)
    if found is None:
        raise UnsupportedFeature(
            f"IREE compiles for {', '.join(KINDS)}, not for {device}",
            fix="choose another target: run `rlx backends`.",
        )
    return found


def flags(device: str, options: Mapping[str, object]) -> tuple[str, list[str]]:
    """The compiler's backend and its flags, for a device and the options of a registration.

    Raises:
        UnsupportedFeature: IREE has no such device.
        SettingError: an option is not one of `OPTIONS`, or no text, or not for this device.
    """
    found = kind(device)
    for name, value in options.items():
        if name not in OPTIONS or (name == "triple" and device != "cpu"):
            known = " and ".join(OPTIONS if device == "cpu" else OPTIONS[:1])
            raise SettingError(
                f"IREE for {device} has no option {name}", fix=f"remove it: there is {known}."
            )
        if not isinstance(value, str) or (name == "architecture" and found.flag is None):
            raise SettingError(
                f"IREE for {device} takes no {name} {value!r:.60}",
                fix="remove it, or write a name.",
            )
    made = [*_ALWAYS, *found.others]
    architecture = options.get("architecture", found.default)
    if architecture is not None:
        made.append(f"{found.flag}={architecture}")
    if "triple" in options:
        made.append(f"--iree-llvmcpu-target-triple={options['triple']}")
    return found.backend, made
