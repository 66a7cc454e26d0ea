"""Images made larger by whole factors, each pixel repeated."""

from __future__ import annotations

import numpy as np

from rlx.backends.coreml.site import FLOATS, Emitter, Site, Var

REPEATING = {
    ("asymmetric", "floor"),
    ("half_pixel", "round_prefer_floor"),
    ("half_pixel", "round_prefer_ceil"),
}
"""How ONNX may say it: for a whole factor, each of these takes the pixel at `place // factor`."""


def _resize(site: Site) -> Var:
    site.only(*FLOATS)
    way = (
        site.attribute("coordinate_transformation_mode", "half_pixel"),
        site.attribute("nearest_mode", "round_prefer_floor"),
    )
    if site.attribute("mode", "nearest") != "nearest" or way not in REPEATING:
        site.refuse("only a nearest pixel by whole factors is emitted")
    if site.attribute("axes") or site.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        site.refuse("it names axes, or keeps the aspect ratio")
    held = site.shape(0)
    if site.present(3):
        factors = np.array(site.ints(3, "sizes")) / np.array(held)
    else:
        factors = site.need(2, "scales").astype(np.float64)
    outer, inner = factors[:-2], factors[-2:]
    if len(held) < 3 or (outer != 1).any() or (inner != inner.round()).any() or (inner < 1).any():
        site.refuse("only whole factors along the last two axes are emitted")
    height, width = (int(one) for one in inner)
    return site.mb.upsample_nearest_neighbor(
        x=site.x(), scale_factor_height=height, scale_factor_width=width
    )


EMITTERS: dict[str, Emitter] = {"Resize": _resize}
