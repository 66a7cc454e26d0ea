"""jax's devices: none is started that was not asked for, and none takes another's place."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rlx.backends.array import native_jax_devices as devices
from rlx.errors import Unavailable
from rlx.probe.process import ask

pytestmark = pytest.mark.needs("jax")
RUN = """
import numpy as np
from rlx.backends.array.jax import open_cpu
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.program import load

program = load(b'''<ir_version: 10, opset_import: ["": 21]>
m (float[2] x) => (float[2] y) { y = Neg(x) }''')

def negated():
    executable = open_cpu(DeviceSpec("cpu"), {}).compile(program, CompileOptions())
    return executable.to_host(executable.run([np.float32([1, 2])])[0]).tolist()
"""


def python(code: str, **environment: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN + code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def platforms(monkeypatch):
    """Sets what jax reads from JAX_PLATFORMS, for one test."""
    import jax

    before = jax.config.jax_platforms
    yield lambda text: jax.config.update("jax_platforms", text)
    jax.config.update("jax_platforms", before)


def test_the_cpu_starts_no_other_platform():
    """jax's own CPU device comes with every platform that is installed."""
    code = """
from jax._src import xla_bridge
started = []
xla_bridge.register_backend_factory(
    "greedy", lambda: started.append(1), priority=500, fail_quietly=True
)
print(negated(), started, xla_bridge.backends_are_initialized())
"""
    assert python(code) == "[-1.0, -2.0] [] False"


@pytest.mark.parametrize("stated", ["cpu", "cuda,cpu", ""])
def test_the_cpu_works_where_it_is_named_or_nothing_is(stated):
    assert python("print(negated())", JAX_PLATFORMS=stated) == "[-1.0, -2.0]"


@pytest.mark.parametrize("stated", ["cuda", "CPU", " cpu", "gpu,Cpu"])
def test_the_cpu_is_refused_where_it_is_left_out(platforms, stated):
    platforms(stated)
    lower = "write cpu in lower case, with no blanks around it."
    other = "unset it, or set it to 'cpu' or to a list with cpu."
    with pytest.raises(Unavailable) as refused:
        devices.cpu()
    assert refused.value.message == f"JAX_PLATFORMS is {stated!r}, which leaves cpu out"
    assert refused.value.fix == (other if stated == "cuda" else lower)


@pytest.mark.parametrize("platform", ["cuda", "rocm", "tpu"])
def test_an_accelerator_is_refused_where_it_is_left_out(platforms, platform):
    platforms("cpu")
    says = (
        rf"^JAX_PLATFORMS is 'cpu', which leaves {platform} out\. "
        rf"Fix: unset it, or set it to '{platform}' or to a list with {platform}\.$"
    )
    with pytest.raises(Unavailable, match=says):
        devices.accelerator(platform, 0)


@pytest.mark.parametrize("platform", ["cuda", "rocm"])
def test_gpu_names_both_kinds(platforms, platform):
    platforms("gpu")
    devices.refuse_excluded(platform)


PACKAGES = {
    "cuda": "jax has no cuda here: none of jax_cuda13_plugin, jax_cuda12_plugin is installed; "
    "pip install 'jax[cuda13]'",
    "rocm": "jax has no rocm here: none of jax_rocm7_plugin, jax_rocm60_plugin is installed; "
    "pip install 'jax[rocm7]'",
    "tpu": "jax has no tpu here: none of libtpu is installed; pip install 'jax[tpu]'",
}


@pytest.mark.parametrize("platform", PACKAGES)
def test_a_probe_finds_the_device_or_says_what_to_install(platform):
    """jax itself would go on with the CPU."""
    answer = ask("call", f"rlx.backends.array.jax:probe_{platform}", 0, 120)
    if answer.reason is not None and "finds no" not in answer.reason:
        assert answer.reason == PACKAGES[platform]


FORK = """
import os
def in_child(what):
    child = os.fork()
    if not child:
        try:
            print(what(), flush=True)
        except Exception as error:
            print(error, flush=True)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_forked_from_a_process_that_computed_is_told_so():
    """XLA's threads do not come along, and it crashes without them."""
    code = "print(negated(), flush=True)\nin_child(negated)"
    assert python(FORK + code).splitlines() == [
        "[-1.0, -2.0]",
        "jax was used before this process was forked, and cannot be used in it. Fix: start it with "
        "multiprocessing.get_context('spawn'), or fork before the library is used.",
        "0",
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_children_forked_beforehand_compute():
    code = "in_child(negated)\nin_child(negated)\nprint(negated())"
    assert python(FORK + code).splitlines() == ["[-1.0, -2.0]", "0"] * 2 + ["[-1.0, -2.0]"]
