"""A packaged layer of three backends, for tests whose subject is not which ones rlx ships.

It is the layer of the catalogue's examples; the fixture `three_backends` puts it in force.
"""

from rlx.registries import Registry


def place(backend, key):
    """Where the packaged layer in force writes a key of a backend."""
    return str(Registry.load(only=True).get(backend).source(key))
