"""Where a session's nodes are is read back: elsewhere than promised is an error that names them."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends.onnxruntime import open_provider, provider, providers
from rlx.backends.onnxruntime.assignment import Seat, seated
from rlx.backends.protocol import CompileOptions, Found
from rlx.device import DeviceSpec
from rlx.errors import ContractError, ExecutionError, RlxError, SettingError, Unavailable
from rlx.program import load
from tests.backends.onnxruntime.engines import CPU, Engine, part, plugin_device

pytestmark = pytest.mark.needs("onnxruntime")
CUDA = providers.CUDA.name
SEAT = Seat("onnxruntime-cuda", CUDA, {"use_tf32": "0"})
TEXT = "g (float[4] x, float[4] y) => (float[4] z) { z = Add(x, y) }"


def use(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> Engine:
    monkeypatch.setitem(sys.modules, "onnxruntime", engine)
    return engine


def program(text: str = TEXT) -> Any:
    return load(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}'))


def test_a_session_is_made_alone_and_only_on_its_provider() -> None:
    engine = Engine([CUDA, CPU], [CUDA, CPU], [part(CUDA, ("add", "Add"))])
    seated(engine, b"", SEAT, {})
    assert engine.made == [
        {
            "alone": True,
            "providers": [(CUDA, {"use_tf32": "0"})],
            "enable_fallback": 0,
            "read_config_from_model": 0,
        }
    ]


@pytest.mark.parametrize(
    ("engine", "kind", "message"),
    [
        (
            Engine([CUDA, CPU], [CUDA, CPU], [part(CUDA, ("a", "Add")), part(CPU, ("m", "Mod"))]),
            ContractError,
            f"onnxruntime-cuda has node 'm' Mod elsewhere than on {CUDA}",
        ),
        (
            Engine([CUDA, CPU], [CPU], []),
            ContractError,
            f"onnxruntime-cuda runs on {CPU}, asked for {CUDA}",
        ),
        (
            Engine([CUDA, CPU], [CUDA, "AzureExecutionProvider", CPU], []),
            ContractError,
            f"onnxruntime-cuda runs on {CUDA}, AzureExecutionProvider, {CPU}, asked for {CUDA}",
        ),
        (
            Engine([CUDA, CPU], [CUDA, CPU], [part(CPU, ("m", "Mod"))], refuses=True),
            ExecutionError,
            "onnxruntime-cuda leaves node 'm' Mod to the CPU",
        ),
        (
            Engine(
                [CUDA, CPU],
                [CUDA, CPU],
                [part(CPU, *((f"n{at}", "Mod") for at in range(5)))],
                refuses=True,
            ),
            ExecutionError,
            "onnxruntime-cuda leaves node 'n0' Mod, node 'n1' Mod, node 'n2' Mod and 2 more to "
            "the CPU",
        ),
        (
            Engine([CUDA, CPU], [CPU], [part(CPU, ("m", "Mod"))], refuses=True),
            Unavailable,
            f"onnxruntime could not start {CUDA}, and would have left all to the CPU",
        ),
    ],
    ids=["elsewhere", "another", "one more", "left", "many left", "not started"],
)
def test_another_place_than_promised_is_an_error(
    engine: Engine, kind: type[RlxError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        seated(engine, b"", SEAT, {})
    assert caught.value.message == message


def test_a_refusal_keeps_what_the_engine_said() -> None:
    engine = Engine([CUDA, CPU], [CUDA, CPU], [part(CPU, ("m", "Mod"))], refuses=True)
    with pytest.raises(ExecutionError) as caught:
        seated(engine, b"", SEAT, {})
    assert "explicitly disabled by the user" in str(caught.value.__cause__)
    assert [one["alone"] for one in engine.made] == [True, False]


def test_a_built_in_provider_is_opened_and_its_nodes_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = use(monkeypatch, Engine([CUDA, CPU], [CUDA, CPU], []))
    opened = providers.CUDA.open(DeviceSpec("cuda", 1), {"gpu_mem_limit": 1 << 30})
    made = opened.compile(program(), CompileOptions())
    assert (opened.device, made.device) == ("cuda", "cuda")
    wanted = {"gpu_mem_limit": "1073741824", "use_tf32": "0", "device_id": "1"}
    assert engine.made[-1]["providers"] == [(CUDA, wanted)]
    (z,) = made.run([np.ones(4, np.float32)] * 2)
    assert z.tolist() == [2.0] * 4


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (
            Engine([CPU]),
            f"this onnxruntime was built without {CUDA}, it has {CPU}; onnxruntime-gpu has it",
        ),
        (
            Engine([CUDA, CPU], [CPU], [], refuses=True),
            f"onnxruntime could not start {CUDA}, and would have left all to the CPU",
        ),
        (
            Engine(["CUDAExecutionProvidr", CPU]),
            f"onnxruntime has no {CUDA}, it has CUDAExecutionProvidr, {CPU}",
        ),
    ],
    ids=["not built in", "no driver", "misspelt"],
)
def test_a_provider_that_is_not_there_is_a_reason_and_an_error(
    monkeypatch: pytest.MonkeyPatch, engine: Engine, reason: str
) -> None:
    use(monkeypatch, engine)
    assert providers.CUDA.probe(0) == reason
    with pytest.raises(Unavailable) as caught:
        providers.CUDA.open(DeviceSpec("cuda", 0), {})
    assert caught.value.message.endswith(reason)


def test_a_probe_computes_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Engine([CUDA, CPU], [CUDA, CPU], []))
    assert providers.CUDA.probe(0) == Found()


def test_an_engine_that_cannot_be_read_back_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = use(monkeypatch, Engine([CUDA, CPU]))
    monkeypatch.delattr(engine.InferenceSession, "get_provider_graph_assignment_info")
    assert providers.CUDA.probe(0) == ("onnxruntime 1.20.0 can't say which provider has which node")


def test_a_device_of_another_kind_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = "MineExecutionProvider"
    monkeypatch.setattr(provider, "_settled", {})
    engine = use(monkeypatch, Engine([CPU], devices=[plugin_device(mine, "CPU")]))
    one = provider.Provider("mine", mine, "hexagon", library="/mine.so", hardware=("NPU",))
    assert one.probe(0) == f"{mine} has devices of kind CPU here, none of kind NPU"
    assert engine.registered == [(mine, "/mine.so")]


def test_a_plugin_of_ones_own_is_registered_and_its_device_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = "MineExecutionProvider"
    engine = Engine([CPU], [mine, CPU], [], devices=[plugin_device(mine)])
    use(monkeypatch, engine)
    taken: list[Any] = []
    options = import_module("onnxruntime").SessionOptions
    monkeypatch.setattr(
        options, "add_provider_for_devices", lambda self, devices, given: taken.append(devices)
    )
    opened = open_provider(DeviceSpec("xdna", 0), {"provider": mine, "library": "/mine.so"})
    assert opened.device == "xdna"
    assert engine.registered == [(mine, "/mine.so")]
    assert taken == [[engine.devices[0]]]
    with pytest.raises(Unavailable) as caught:
        open_provider(DeviceSpec("xdna", 1), {"provider": mine, "library": "/mine.so"})
    assert str(caught.value) == f"{mine} has only xdna:0, got xdna:1. Fix: ask for xdna."


def test_a_misspelt_plugin_provider_is_told_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Engine([CPU], devices=[plugin_device("MineExecutionProvider")]))
    with pytest.raises(Unavailable) as caught:
        open_provider(
            DeviceSpec("xdna", 0), {"provider": "MinExecutionProvider", "library": "/mine.so"}
        )
    assert str(caught.value) == (
        "/mine.so has no device of MinExecutionProvider here. "
        "Fix: did you mean 'MineExecutionProvider'?"
    )


def test_a_library_that_is_not_there_is_unavailable() -> None:
    options = {"provider": "MineExecutionProvider", "library": "/not/there.so"}
    with pytest.raises(Unavailable) as caught:
        open_provider(DeviceSpec("xdna", 0), options)
    assert "can't load /not/there.so: " in caught.value.message
    assert caught.value.fix == "install a plugin that was built for it."


def test_settings_that_hold_in_the_process_refuse_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "_settled", {})
    use(monkeypatch, Engine([CUDA, CPU], [CUDA, CPU], []))
    sticky = provider.Provider("sticky", CUDA, "cuda", keys=("soc_model",), sticky=True)
    sticky.open(DeviceSpec("cuda", 0), {"soc_model": 57})
    sticky.open(DeviceSpec("cuda", 0), {"soc_model": 57})
    with pytest.raises(SettingError) as caught:
        sticky.open(DeviceSpec("cuda", 0), {})
    assert str(caught.value) == (
        "sticky was opened in this process with soc_model=57, which holds until the process ends; "
        "got no options. Fix: use the same options, or another process."
    )
