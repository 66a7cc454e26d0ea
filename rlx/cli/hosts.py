"""What `rlx devices` says of the host, and of how a tiny program went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.errors import printable

if TYPE_CHECKING:
    from rlx.probe.host import Host
    from rlx.session.live import Live


def host_text(host: Host) -> list[str]:
    """The system and its hardware, a line each."""
    system = " ".join(filter(None, [host.distribution or host.system, host.version]))
    libc = " ".join(filter(None, [host.libc, host.libc_version]))
    kernel = f"kernel {host.kernel}" if host.kernel else ""
    lines = [", ".join(filter(None, [f"{system} on {host.machine}", kernel, libc]))]
    if host.pci is None:
        lines.append("PCI: no bus can be seen here")
    elif not host.computing:
        lines.append("PCI: no GPU and no NPU")
    else:
        names = [str(one) for one in host.computing]
        counts = {name: names.count(name) for name in names}
        shown = [f"{count} x {name}" if count > 1 else name for name, count in counts.items()]
        lines.append(f"PCI: {', '.join(shown)}")
    if host.drivers:
        lines.append("drivers: " + ", ".join(f"{name} {at}" for name, at in host.drivers))
    if host.nodes:
        lines.append(f"nodes: {', '.join(host.nodes)}")
    return [printable(line) for line in lines]


def host_json(host: Host) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "system": host.system,
        "machine": host.machine,
        "distribution": host.distribution or None,
        "version": host.version or None,
        "kernel": host.kernel or None,
        "libc": host.libc or None,
        "libc_version": host.libc_version or None,
        "pci": None
        if host.pci is None
        else [
            {
                "address": one.address,
                "vendor": one.vendor,
                "device": one.device,
                "class": one.kind,
                "role": one.role,
                "name": str(one),
            }
            for one in host.computing
        ],
        "drivers": [{"name": name, "version": version} for name, version in host.drivers],
        "nodes": list(host.nodes),
    }


def live_text(went: Live) -> str:
    """How a tiny program went, in a few words; a failure is told as the backend's reason."""
    if went.untried is not None:
        return f"not tried: {went.untried}"
    when = " earlier" if went.kept else ""
    return f"ran {went.program}{when} on {went.device} ({went.version}, {went.seconds:.1f} s)"


def live_json(went: Live | None) -> dict[str, Any] | None:
    """The same as plain data; None: it was not asked for, or not available."""
    if went is None:
        return None
    return {
        "ran": went.program is not None,
        "program": went.program,
        "device": went.device,
        "version": went.version,
        "seconds": went.seconds,
        "reason": went.reason,
        "untried": went.untried,
        "kept": went.kept,
    }
