"""What hostile contents are made of: a head, and manifests that are whole but for one thing."""

MIB = 1 << 20
HEAD = "apiVersion: rlx/v1\nkind: Backends\n"
CANARY = "hostile_canary"
"""A module that, imported or called, leaves a file: nothing that is validated may do so."""
Case = tuple[str, bytes]


def manifest(body: str) -> bytes:
    """A manifest of kind Backends."""
    return (HEAD + body).encode("utf-8", "surrogatepass")


def backend(name: str, more: str = "") -> str:
    """A backend's entry, on one line."""
    return f"  - {{id: {name}, device: cpu{more}}}\n"
