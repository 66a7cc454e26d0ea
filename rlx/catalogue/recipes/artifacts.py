"""Recipes for the words that `rlx payload check` says."""

from __future__ import annotations

from rlx.catalogue.recipes.recipe import ALL, SIZES, Recipe, mine

_BUILT = "rlx build mlp.onnxtxt --target onnxruntime-cpu --output mlp.rlx > built.txt\n"
_OTHER = (
    '<ir_version: 10, opset_import: ["" : 21]> f (float[2] x) => (float[2] y) { y = Relu(x) }\n'
)

RECIPES: dict[tuple[str, str], Recipe] = {
    ("artifact", "compatible"): Recipe(f"{_BUILT}rlx payload check mlp.rlx"),
    ("artifact", "stale"): Recipe(
        f"{_BUILT}rlx payload check mlp.rlx --program relu.onnxtxt", (("relu.onnxtxt", _OTHER),)
    ),
    ("artifact", "foreign"): Recipe(
        "cat mine.yaml\n"
        "rlx build mlp.onnxtxt --target mine --output mlp.rlx --config mine.yaml > built.txt\n"
        "rlx payload check mlp.rlx",
        mine(
            "device: cpu",
            "payload_format: onnx",
            'compiler: "rlx.backends.onnx_payload:OnnxCompiler"',
            ALL.replace("coverage", "compiles"),
            *SIZES,
        ),
    ),
    ("artifact", "corrupt"): Recipe(
        "rlx payload check damaged.rlx", (("damaged.rlx", "this was an artifact once\n"),)
    ),
}
