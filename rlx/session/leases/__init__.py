"""Leases on opened backends: each is opened once, shared, and closed with its last lease."""

from rlx.session.leases.lease import Lease, acquire, opened
from rlx.session.leases.slots import User, add_user

__all__ = ["Lease", "User", "acquire", "add_user", "opened"]
