"""Leases on opened backends: each is opened once, shared, and closed with its last lease."""

from rlx.leases.lease import Lease, acquire, opened
from rlx.leases.slots import User, add_user

__all__ = ["Lease", "User", "acquire", "add_user", "opened"]
