"""The request: the strongest source wins as a whole, and names must exist."""

import pytest

import rlx
from rlx.device import DeviceSpec
from rlx.errors import InvalidDevice, SettingError, UnknownBackend, UnknownDevice
from rlx.origin import Origin
from rlx.registration import Setting
from rlx.settings import NO_SCOPE, Request, current_scope, environment, make_request

CUDA, CPU = (DeviceSpec("cuda"),), (DeviceSpec("cpu"),)
FILE = Origin("rlx.yaml", 3, 11, "project")


def asked(request):
    return request.devices, request.backend, str(request.source)


def test_nothing_asked_is_the_default_request(registry):
    assert make_request(registry) == Request()


def test_each_source_wins_over_the_weaker_ones(make_registry, monkeypatch):
    registry = make_registry(device=Setting("cuda,cpu", FILE))
    assert asked(make_request(registry)) == ((*CUDA, *CPU), None, "rlx.yaml:3:11")
    monkeypatch.setenv("RLX_DEVICE", "nvidia:1")
    assert asked(make_request(registry)) == ((DeviceSpec("cuda", 1),), None, "RLX_DEVICE")
    with rlx.use("cpu"):
        assert asked(make_request(registry)) == (CPU, None, "rlx.use(...)")
        chosen = make_request(registry, device="cuda")
        assert asked(chosen) == (CUDA, None, "the device argument")


def test_device_and_backend_are_one_request(make_registry, monkeypatch):
    registry = make_registry(backend=Setting("NumPy", FILE))
    assert asked(make_request(registry)) == ((), "numpy", "rlx.yaml:3:11")
    monkeypatch.setenv("RLX_DEVICE", "cuda")
    assert asked(make_request(registry)) == (CUDA, None, "RLX_DEVICE")
    monkeypatch.setenv("RLX_BACKEND", "numpy")
    assert asked(make_request(registry)) == (CUDA, "numpy", "RLX_DEVICE and RLX_BACKEND")
    chosen = make_request(registry, backend="torch-cuda")
    assert asked(chosen) == ((), "torch-cuda", "the backend argument")


def test_the_arguments_may_be_called_by_another_name(registry):
    request = make_request(registry, device="cpu", source=Origin("--device"))
    assert str(request.source) == "--device"


def test_a_device_is_text_a_spec_or_a_list(registry):
    for device in ("CUDA , cpu", [DeviceSpec("nvidia"), "cpu"], ("cuda", DeviceSpec("cpu"))):
        assert make_request(registry, device=device).devices == (*CUDA, *CPU)
    assert make_request(registry, device=DeviceSpec("nvidia")).devices == CUDA


def test_captured_scope_and_environment_are_used_instead_of_those_of_now(registry, monkeypatch):
    monkeypatch.setenv("RLX_BACKEND", "numpy")
    with rlx.use(precision="f16"):
        scope, env = current_scope(), environment()
    monkeypatch.delenv("RLX_BACKEND")
    assert make_request(registry).backend is None
    captured = make_request(registry, scope=scope, env=env)
    assert (captured.backend, captured.precision) == ("numpy", "f16")
    with rlx.use("cuda"):
        assert make_request(registry, scope=NO_SCOPE).devices == ()


def test_the_other_settings_come_from_the_strongest_source_too(make_registry, monkeypatch):
    registry = make_registry(kernel_dispatch=Setting("common", FILE))
    assert make_request(registry).kernel_dispatch == "common"
    monkeypatch.setenv("RLX_KERNEL_DISPATCH", "native")
    monkeypatch.setenv("RLX_PRECISION_POLICY", "warn")
    request = make_request(registry, precision="F16", precision_policy="allow")
    assert request.kernel_dispatch == "native"
    assert (request.precision, request.precision_policy) == ("f16", "allow")


def test_requirements_of_arguments_and_scopes_add_up(registry):
    with rlx.use(require="strings"):
        request = make_request(registry, require=["Deterministic", "deterministic"])
    assert request.require == ("deterministic", "strings")


def test_a_requirement_of_a_scope_is_checked_as_the_scopes(registry):
    with rlx.use(require="string"), pytest.raises(SettingError) as caught:
        make_request(registry, require="deterministic")
    message = "rlx.use(...): no capability is named 'string'. Fix: did you mean strings?"
    assert str(caught.value) == message


def test_a_kept_request_is_not_kept_for_too_long(make_registry, monkeypatch):
    registry = make_registry()
    first = make_request(registry)
    assert make_request(registry) is first
    monkeypatch.setenv("RLX_PRECISION", "f16")
    assert make_request(registry).precision == "f16"
    with rlx.use(precision="bf16"):
        assert make_request(registry).precision == "bf16"
    monkeypatch.delenv("RLX_PRECISION")
    assert make_request(registry) == first
    routed = make_registry(kernel_dispatch=Setting("common", FILE))
    assert make_request(routed).kernel_dispatch == "common"


def test_masks_and_precedence_come_from_the_environment(registry, monkeypatch):
    monkeypatch.setenv("RLX_DISABLE", "nvidia, numpy")
    monkeypatch.setenv("RLX_PRECEDENCE", "numpy")
    request = make_request(registry)
    assert (request.disabled, request.precedence) == (("nvidia", "numpy"), ("numpy",))


ARGUMENTS = [
    (
        {"backend": "numpi"},
        UnknownBackend,
        "the backend argument: no backend 'numpi' is registered. Fix: did you mean numpy?",
    ),
    (
        {"device": "cuda,nvidia"},
        InvalidDevice,
        "the device argument: the device list names cuda twice: nvidia is the same. "
        "Fix: name each device once.",
    ),
    (
        {"require": ["determinstic"]},
        SettingError,
        "the require argument: no capability is named 'determinstic'. "
        "Fix: did you mean deterministic?",
    ),
    (
        {"precision": 16},
        SettingError,
        "the precision argument: unknown value 16, allowed: f32, f16, bf16. "
        "Fix: write one of: f32, f16, bf16.",
    ),
    (
        {"require": 7},
        SettingError,
        "the require argument: require must be a list of capability names, got 7. "
        "Fix: pass names, such as ['deterministic'].",
    ),
    (
        {"backend": ""},
        SettingError,
        "the backend argument: a backend must be an id, got ''. "
        "Fix: name one, such as numpy; `rlx backends` lists them.",
    ),
]


@pytest.mark.parametrize(("arguments", "error", "message"), ARGUMENTS)
def test_a_wrong_argument_is_an_error(registry, arguments, error, message):
    with pytest.raises(error) as caught:
        make_request(registry, **arguments)
    assert str(caught.value) == message


VARIABLES = [
    ("RLX_BACKEND", "numpi", "no backend 'numpi' is registered. Fix: did you mean numpy?"),
    ("RLX_BACKEND", "x", "no backend 'x' is registered. Fix: write one of: torch-cuda, numpy."),
    (
        "RLX_DEVICE",
        "nvidia:1,cuda:1",
        "the device list names cuda:1 twice: cuda:1 is the same. Fix: name each device once.",
    ),
    ("RLX_DISABLE", "cudda", "no backend or device is named 'cudda'. Fix: did you mean cuda?"),
    ("RLX_PRECEDENCE", "cuda", "no backend is named 'cuda'. Fix: write one of: torch-cuda, numpy."),
]


@pytest.mark.parametrize(("name", "text", "message"), VARIABLES)
def test_a_variable_that_names_nothing_is_an_error(registry, monkeypatch, name, text, message):
    monkeypatch.setenv(name, text)
    with pytest.raises(SettingError) as caught:
        make_request(registry)
    assert str(caught.value) == f"{name}: {message}"


def test_an_unknown_device_is_an_error_of_its_source(registry, monkeypatch):
    with pytest.raises(UnknownDevice, match=r"did you mean .?cuda:0"):
        make_request(registry, device="cuda0")
    monkeypatch.setenv("RLX_DEVICE", "cuda0")
    with pytest.raises(SettingError, match=r"^RLX_DEVICE: .*'cuda0'.*did you mean .?cuda:0"):
        make_request(registry)
