"""Every change of an ONNX operation since opset 1 that is more than a wider choice of types."""

from rlx.program.upgrades import arguments, early, meaning
from rlx.program.upgrades.editing import Rewrite

REWRITES: dict[tuple[str, int], tuple[Rewrite, ...]] = {
    key: table[key]
    for table in (early.REWRITES, arguments.REWRITES, meaning.REWRITES)
    for key in table
}
"""By operation and the opset that changed it. Whatever is not listed kept its meaning."""
