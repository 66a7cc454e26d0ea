"""Sessions: from a program and a request to a compiled program on an opened backend."""

from rlx.session.routes import route
from rlx.session.sessions import Session

__all__ = ["Session", "route"]
