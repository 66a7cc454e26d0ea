"""LSTM: ONNX's weights in MIL's order of gates."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.backends.coreml.site import FLOATS, Array, Emitter, Site

DIRECTIONS = {"forward": "forward", "reverse": "reverse", "bidirectional": "bidirectional"}
DEFAULTS = ("Sigmoid", "Tanh", "Tanh")


def _gates(array: Array) -> Array:
    """ONNX: input, output, forget, cell; MIL: input, forget, output, cell."""
    i, o, f, c = np.split(array, 4)
    return np.concatenate([i, f, o, c])


def _lstm(site: Site) -> Any:
    site.only(*FLOATS)
    count = 2 if site.attribute("direction", "forward") == "bidirectional" else 1
    asked = tuple(site.attribute("activations") or DEFAULTS * count)
    if asked != DEFAULTS * count or site.attribute("input_forget", 0) or site.attribute("clip"):
        site.refuse("its activations, its clip or its gates are not the usual ones")
    if site.attribute("layout", 0) or site.present(4) or site.present(7):
        site.refuse("it has another layout, lengths per sequence, or peepholes")
    length, batch, _ = site.shape(0)
    hidden = int(site.attribute("hidden_size"))
    w, r = site.need(1, "W"), site.need(2, "R")
    b = site.need(3, "B") if site.present(3) else np.zeros((count, 8 * hidden), w.dtype)
    named: dict[str, Any] = {}
    for at, end in enumerate(("", "_back")[:count]):
        named["weight_ih" + end], named["weight_hh" + end] = _gates(w[at]), _gates(r[at])
        named["bias" + end] = _gates(b[at, : 4 * hidden]) + _gates(b[at, 4 * hidden :])
    for index, name in ((5, "initial_h"), (6, "initial_c")):
        if site.present(index):  # directions, batch, hidden: batch, directions * hidden
            turned = site.mb.transpose(x=site.x(index), perm=[1, 0, 2])
            named[name] = site.mb.reshape(x=turned, shape=[batch, count * hidden])
        else:
            named[name] = np.zeros((batch, count * hidden), w.dtype)
    whole, h, c = site.mb.lstm(
        x=site.x(),
        direction=DIRECTIONS[site.attribute("direction", "forward")],
        output_sequence=True,
        **named,
    )
    apart = site.mb.reshape(x=whole, shape=[length, batch, count, hidden])
    y = site.mb.transpose(x=apart, perm=[0, 2, 1, 3])
    states = (site.mb.reshape(x=one, shape=[batch, count, hidden]) for one in (h, c))
    return (y, *(site.mb.transpose(x=one, perm=[1, 0, 2]) for one in states))


EMITTERS: dict[str, Emitter] = {"LSTM": _lstm}
