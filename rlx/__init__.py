"""rlx: a declarative registry of compute backends, and the router on top of it.

Importing this package imports nothing else; each public name is resolved when it is first used.
"""

__version__ = "0.1.0"
