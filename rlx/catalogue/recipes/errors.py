"""Recipes for the error classes."""

from __future__ import annotations

from rlx.catalogue.recipes.recipe import BACKEND, HEAD, LOAD, Recipe, python

RECIPES: dict[tuple[str, str], Recipe] = {
    ("error", "rlx-error"): python(
        "import rlx",
        "",
        "try:",
        '    rlx.Session("cuda:x")',
        "except rlx.RlxError as error:  # every error of rlx",
        "    print(error.code, error.fix)",
    ),
    ("error", "config"): Recipe(
        "cat mine.yaml\nrlx backends --config mine.yaml", (("mine.yaml", f"{HEAD}backend: []\n"),)
    ),
    ("error", "setting"): Recipe("RLX_PRECISION=f31 rlx env"),
    ("error", "invalid-device"): Recipe("rlx explain mlp.onnxtxt --device cuda:01"),
    ("error", "unknown-device"): Recipe("rlx explain mlp.onnxtxt --device cdua"),
    ("error", "unknown-backend"): Recipe("rlx explain mlp.onnxtxt --backend nunpy"),
    ("error", "duplicate-backend"): python(
        "import rlx", "", 'rlx.register_backend(id="numpy", device="cpu")'
    ),
    ("error", "unavailable"): python(
        "from rlx.backends.reference import open_cpu",
        "from rlx.device import DeviceSpec",
        "",
        'open_cpu(DeviceSpec("cpu", 1), {})',
    ),
    ("error", "no-backend"): python(
        "import rlx", "", LOAD, 'rlx.Session("metal").compile(program)'
    ),
    ("error", "open-failed"): python(
        "import rlx",
        "",
        'rlx.register_backend(id="mine", device="metal", dispatches=True, factory="no_such:open")',
        'rlx.acquire("mine")',
    ),
    ("error", "contract"): python(
        "import rlx",
        "",
        'rlx.register_backend(id="mine", device="metal", dispatches=True, factory="mine:open")',
        'rlx.acquire("mine")  # its backend says that its device is cpu',
        files=(("mine.py", BACKEND.format(opened="cpu", compile="pass")),),
    ),
    ("error", "precision"): python(
        "import rlx",
        "",
        LOAD,
        'rlx.Session(backend="reference", precision="bf16").compile(program)',
    ),
    ("error", "program"): Recipe(
        "rlx explain broken.onnxtxt", (("broken.onnxtxt", "<ir_version: 8>\nmlp (x) => (y) {}\n"),)
    ),
    ("error", "unsafe-program"): python(
        "import onnx",
        "",
        "import rlx",
        "",
        'weights = onnx.TensorProto(name="w", data_type=1, dims=[1], data_location=1)',
        'weights.external_data.add(key="location", value="../secret.bin")',
        'y = onnx.helper.make_tensor_value_info("w", 1, [1])',
        'graph = onnx.helper.make_graph([], "leak", [], [y], [weights])',
        'onnx.save(onnx.helper.make_model(graph), "leak.onnx")',
        'rlx.load("leak.onnx")',
    ),
    ("error", "graph"): python(
        "import rlx",
        "",
        'g = rlx.Graph("mlp")',
        'x = g.input("x", (1, 4), "f32")',
        'g.add(x, g.input("n", (1, 4), "i64"))',
    ),
    ("error", "graph-consumed"): python(
        "import rlx",
        "",
        'g = rlx.Graph("mlp")',
        'g.set_outputs([g.relu(g.input("x", (1, 4), "f32"))])',
        'rlx.Session(backend="numpy").compile(g)',
        'rlx.Session(backend="numpy").compile(g)',
    ),
    ("error", "input"): python(
        "import numpy as np",
        "",
        "import rlx",
        "",
        LOAD,
        'model = rlx.Session(backend="numpy").compile(program)',
        'model(np.zeros((1, 3), "float32"))',
    ),
    ("error", "execution"): python(
        "import rlx",
        "",
        LOAD,
        'rlx.register_backend(id="mine", device="metal", dispatches=True, factory="mine:open",',
        '                     coverage=[rlx.Row(("MatMul", "Add", "Relu"), '
        '(("T", ("float32",)),))],',
        '                     capabilities=["dynamic_shapes"])',
        'rlx.Session("metal").compile(program)',
        files=(
            (
                "mine.py",
                BACKEND.format(opened="metal", compile='raise OSError("no memory is left")'),
            ),
        ),
    ),
    ("error", "closed"): python(
        "import rlx",
        "",
        LOAD,
        'session = rlx.Session(backend="numpy")',
        "session.close()",
        "session.compile(program)",
    ),
    ("error", "edit"): Recipe(
        "cat backends.yaml\nrlx rank onnxruntime-cpu --before numpy",
        (("backends.yaml", f"{HEAD}overrides:\n  - {{id: numpy, rank: 0}}\n"),),
    ),
    ("error", "trust"): Recipe("rlx trust --revoke backends.yaml"),
    ("error", "unsupported-feature"): python("import rlx", "", 'rlx.target_compiler("numpy")'),
    ("error", "artifact"): Recipe("rlx payload show no-such-file.rlx"),
    ("error", "corrupt-artifact"): Recipe(
        "rlx payload run damaged.rlx", (("damaged.rlx", "this was an artifact once\n"),)
    ),
    ("error", "foreign-artifact"): python(
        "import dataclasses",
        "",
        "import rlx",
        "",
        LOAD,
        'made = rlx.build(program, "onnxruntime-cpu")',
        'other = dataclasses.replace(made.header, target="elsewhere")',
        "rlx.load_artifact(rlx.Artifact(other, made.parts))",
    ),
    ("error", "stale-artifact"): python(
        "import dataclasses",
        "",
        "import rlx",
        "",
        LOAD,
        'made = rlx.build(program, "onnxruntime-cpu")',
        'other = dataclasses.replace(made.header, toolchain="tvm 1")',
        "rlx.load_artifact(rlx.Artifact(other, made.parts))",
    ),
}
