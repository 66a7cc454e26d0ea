"""Engines that fail, as modules put first on the path: by fault, and some by engine."""

import re
from pathlib import Path

MARK = "injected fault"
"""Stands in what a fake says, so that a message can be seen to keep the first cause."""
IMPORTS = {
    "import raises": f"raise ImportError('libengine.so.1: undefined symbol: {MARK}')\n",
    "import hangs": "import time\ntime.sleep(600)\n",
    "SystemExit on import": f"import sys\nsys.exit('{MARK}')\n",
    "SIGSEGV": "import ctypes\nctypes.string_at(0)\n",
}
FIRST_USE = f'''
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise RuntimeError("{MARK}: no device was found")
'''
"""Of any engine: it can be imported, and finds no device when it is first used."""

TORCH = """
__version__ = "2.4.99"
class version:
    cuda, hip, xpu = "13.0", "7.0", "1"
class cuda:
    is_available = staticmethod(lambda: LISTED)
    device_count = staticmethod(lambda: 1)
    get_device_name = staticmethod(lambda index: "GPU")
xpu = cuda
def ones(*shape, **more):
    raise RuntimeError("CUDA error: MARK: no kernel image is available")
"""
JAX = """
__version__ = "9.9"
class config:
    jax_platforms = None
class client:
    platform_version = "cuda 13"
class Device:
    platform, device_kind, client = "gpu", "GPU", client
class TPU(Device):
    platform = "tpu"
def local_devices(backend):
    if not LISTED:
        raise RuntimeError("MARK: no device was found")
    return [TPU() if backend == "tpu" else Device()]
def device_put(*arguments):
    raise RuntimeError("MARK: no kernel image is available")
"""
MLX = """
gpu, cpu = "gpu", "cpu"
def is_available(kind): return True
def device_count(kind): return int(LISTED)
def stream(device): return device
def Device(kind, index):
    raise RuntimeError("MARK: no kernel image is available")
"""
CUPY = """
float32 = "f4"
def is_available(): return LISTED
class cuda:
    class runtime:
        getDeviceCount = staticmethod(lambda: 1)
    class Device:
        def __init__(self, index): pass
        def __enter__(self): return self
        def __exit__(self, *error): return False
def ones(*shape):
    raise RuntimeError("MARK: no kernel image is available")
"""
DPCTL = """
class Kind:
    name = "gpu"
class Device:
    device_type, name = Kind, "GPU"
def get_devices(device_type): return [Device()] if LISTED else []
"""
DPNP = """
float32 = "f4"
def ones(*shape, **more):
    raise RuntimeError("MARK: no kernel image is available")
"""
OPENVINO = """
class Core:
    available_devices = ["CPU", "GPU", "NPU"] if LISTED else ["CPU"]
    def get_property(self, name, key):
        if LISTED: return "GPU"
        raise RuntimeError("MARK: no device was found")
class opset13:
    @staticmethod
    def parameter(*arguments):
        raise RuntimeError("MARK: no kernel image is available")
"""
TINYGRAD = """
class Tensor:
    def __init__(self, *arguments, **more):
        raise RuntimeError("MARK: no kernel image is available")
class _Devices:
    def __getitem__(self, name):
        if not LISTED:
            raise RuntimeError("MARK: no device was found")
        class interface: pass
        interface.__name__ = "KFDIface"
        class device: iface, arch, device_name = interface(), "x", "GPU"
        return device
Device = _Devices()
"""
CONTEXT = """
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return "x"
class Context:
    def __init__(self, **settings): pass
    def __enter__(self): return self
    def __exit__(self, *error): return False
"""
KITS = {
    "torch": {"torch": TORCH},
    "jax": {"jax": JAX, "jax.numpy": "def sum(x): return x", "jax_cuda13_plugin": "", "libtpu": ""},
    "mlx": {"mlx": "", "mlx.core": MLX},
    "cupy": {"cupy": CUPY},
    "dpnp": {"dpnp": DPNP, "dpctl": DPCTL},
    "openvino": {"openvino": OPENVINO},
    "tinygrad": {
        **{"tinygrad": TINYGRAD, "tinygrad.helpers": CONTEXT},
        **{"tinygrad.nn": "", "tinygrad.nn.onnx": ""},
    },
}
"""By engine, its modules as far as its probe goes: what is listed, and runs nothing."""
ENTRY = {"dpnp": "dpctl"}
"""The module that an adapter imports before the one that is its engine's name."""


def listing(engine, listed):
    """The modules of an engine that lists a device or none; None: there is no kit for it."""
    kit = KITS.get(engine)
    if kit is None:
        return None
    return {name: f"LISTED = {listed}\n{text.replace('MARK', MARK)}" for name, text in kit.items()}


def write(folder, modules, versions):
    """Write modules by dotted name, each as a package, and the metadata of top-level ones."""
    for name, text in modules.items():
        path = Path(folder, *name.split("."))
        path.mkdir(parents=True, exist_ok=True)
        (path / "__init__.py").write_text(text)
    for name, version in versions.items():
        info = Path(folder, f"{name}-{version}.dist-info")
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "top_level.txt").write_text(f"{name}\n")


def fitting(specifier):
    """A version that fits a probe's specifier, of the form `>=2.4` or `>=0.14,<0.15`."""
    found = re.search(r">=\s*([\d.]+)", specifier or "")
    return f"{found[1]}.99" if found else "1.0"
