"""What goes wrong on a GPU is told in rlx's words, the session moves on, and nothing is left."""

import gc
from pathlib import Path

import numpy as np
import pytest

import rlx
from rlx.backends.shader.failures import failure, told
from rlx.errors import ExecutionError, OpenFailed, SessionClosed

LOST = (
    "close what holds it and open a new session; if it is lost again, update the GPU's driver or "
    "choose another device."
)
FULL = "close other programs that use it, make the inputs smaller, or choose another device."
OTHER = (
    "update the GPU's driver, or choose another device; with a current driver report this as a bug "
    "of rlx."
)
KINDS = {
    "Validation Error\n\nCaused by:\n  Parent device is lost": ("G was lost busy", LOST),
    "Could not map buffer (4 : Device lost).": ("G was lost busy", LOST),
    "Not enough memory left.": ("G has no memory left busy", FULL),
    "GL_OUT_OF_MEMORY": ("G has no memory left busy", FULL),
    "GLSL Compiler failed\n\n0:3: oh": ("G failed busy: GLSL Compiler failed 0:3: oh", OTHER),
    "": ("G failed busy: ", OTHER),
}


def network():
    g = rlx.Graph("hello")
    x = g.input("x", (3, 4), "f32")
    g.set_outputs([g.relu(g.matmul(x, g.param("w", (4, 2), "f32")))])
    return g


@pytest.mark.parametrize("text", KINDS)
def test_what_an_api_says_is_told_as_what_it_means(text):
    """By the words that APIs use."""
    message, fix = KINDS[text]
    found = failure("G", "busy", RuntimeError(text))
    assert (found.message, found.fix, found.code) == (message, fix, "execution")


def test_our_own_errors_are_told_as_they_are():
    """They are not taken for the API's."""
    with pytest.raises(SessionClosed), told("G", "busy", RuntimeError):
        raise SessionClosed("it is closed")


@pytest.fixture
def vulkan():
    from rlx.backends.shader import devices

    driver = devices._wgpu_driver("vulkan", 0)
    yield driver
    driver.close()


@pytest.mark.needs("wgpu")
def test_a_lost_device_says_so(vulkan):
    """Whatever it is asked for, and it can be closed."""
    held = vulkan.allocate(64)
    vulkan._device.destroy()
    words = np.zeros(16, np.uint32)
    for what, call in {
        "allocating 64 bytes": lambda: vulkan.allocate(64),
        "writing 64 bytes": lambda: vulkan.write(held, words),
        "reading 64 bytes": lambda: vulkan.read(held, 64),
        "running its kernels": lambda: vulkan.prepare([])((), ()),
    }.items():
        with pytest.raises(ExecutionError) as caught:
            call()
        assert caught.value.message == f"{vulkan.detail} was lost {what}"


@pytest.mark.needs("wgpu")
def test_no_memory_says_so(vulkan, monkeypatch):
    """As wgpu tells it."""
    import wgpu

    def refuse(**_):
        raise wgpu.GPUOutOfMemoryError("Not enough memory left.")

    monkeypatch.setattr(vulkan._device, "create_buffer", refuse)
    with pytest.raises(ExecutionError) as caught:
        vulkan.allocate(1 << 20)
    assert caught.value.message == f"{vulkan.detail} has no memory left allocating 1048576 bytes"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("vulkan", marks=pytest.mark.needs("wgpu")),
        pytest.param("opengl", marks=pytest.mark.needs("moderngl")),
    ],
)
def test_a_closed_driver_says_so(name):
    """And not what the library makes of it."""
    driver = opened(name)
    driver.close()
    with pytest.raises(SessionClosed) as caught:
        driver.allocate(64)
    assert caught.value.message == f"{driver.detail} is closed"


def vanished(monkeypatch):
    """No adapter is there any more."""
    monkeypatch.setattr("rlx.backends.shader.wgpu_driver.adapters", lambda device: [])


def refused(monkeypatch):
    """wgpu compiles no shader any more."""
    monkeypatch.setattr("rlx.backends.shader.wgsl.source", lambda kernel: "fn main( {")


@pytest.mark.needs("wgpu")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (vanished, "wgpu has 0 vulkan adapter(s), got vulkan:0"),
        (refused, "failed compiling its kernels: Validation Error Caused by:"),
    ],
)
def test_a_session_moves_on_or_fails_as_it_is_asked_to(monkeypatch, fault, said):
    """When the adapter is gone, or good for nothing, after the probe has found it."""
    monkeypatch.setenv("RLX_PRECEDENCE", "numpy")
    monkeypatch.setenv("RLX_DISABLE", "iree-vulkan")
    with rlx.Session("vulkan,cpu") as session, session.compile(network()) as model:
        assert model.backend == "wgpu-vulkan"
    fault(monkeypatch)
    with rlx.Session("vulkan,cpu") as session, session.compile(network()) as model:
        assert (model.backend, model.route.degraded) == ("numpy", True)
    with rlx.Session(backend="wgpu-vulkan") as session, pytest.raises(OpenFailed) as caught:
        session.compile(network())
    assert said in caught.value.message


@pytest.mark.needs("wgpu")
def test_a_program_whose_kernels_are_refused_fails_when_it_is_compiled(monkeypatch):
    """The device is open by then, and the engine does not try step by step."""
    with rlx.Session(backend="wgpu-vulkan") as session:
        session.compile(network()).close()
        refused(monkeypatch)
        with pytest.raises(ExecutionError) as caught:
            session.compile(network())
    assert "failed compiling its kernels: Validation Error Caused by:" in caught.value.message
    assert caught.value.fix == OTHER


def opened(name):
    """A driver without what is tried on it."""
    if name == "opengl":
        from rlx.backends.shader.gl_driver import GlDriver

        return GlDriver(0)
    from rlx.backends.shader.wgpu_driver import WgpuDriver, adapters

    return WgpuDriver(adapters("vulkan")[0], "vulkan")


def held():
    """Open files, threads, and megabytes of this process."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    memory = int(status.split("VmRSS:")[1].split()[0]) / 1024
    return *(len(list(Path("/proc/self", one).iterdir())) for one in ("fd", "task")), memory


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no /proc to look at")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("vulkan", marks=pytest.mark.needs("wgpu")),
        pytest.param("opengl", marks=pytest.mark.needs("moderngl")),
    ],
)
def test_opening_and_closing_leaves_nothing(name):
    """Neither files nor threads, nor a context's megabytes."""

    def cycle(times):
        for _ in range(times):
            driver = opened(name)
            memory = driver.allocate(64)
            driver.write(memory, np.arange(16, dtype=np.uint32))
            assert driver.read(memory, 64).tolist() == list(range(16))
            del memory
            driver.close()

    cycle(4)
    files, threads, before = held()
    cycle(12)
    more, others, after = held()
    assert (more, others) == (files, threads)
    assert name == "vulkan" or after - before < 100  # Vulkan's own pools grow for a while
