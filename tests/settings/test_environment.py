"""RLX_* variables: what each accepts, and the whole message where it refuses."""

import subprocess
import sys
import warnings

import pytest

from rlx.device import DeviceSpec
from rlx.errors import SettingError
from rlx.settings import VARIABLES, UnknownSetting, configuration, environment

GOOD = [
    ("RLX_DEVICE", "cuda:1, CPU", (DeviceSpec("cuda", 1), DeviceSpec("cpu"))),
    ("RLX_BACKEND", " NumPy ", "numpy"),
    ("RLX_CONFIG", "/a/b.yaml", "/a/b.yaml"),
    ("RLX_CONFIG_ONLY", "yes", True),
    ("RLX_CONFIG_ONLY", "Off", False),
    ("RLX_PRECEDENCE", "numpy , Torch-cuda", ("numpy", "torch-cuda")),
    ("RLX_DISABLE", "cuda", ("cuda",)),
    ("RLX_KERNEL_DISPATCH", "NATIVE", "native"),
    ("RLX_DISPATCH_REPORT", "1", True),
    ("RLX_PRECISION", "BF16", "bf16"),
    ("RLX_PRECISION_POLICY", "warn", "warn"),
    ("RLX_CACHE_DIR", "/tmp/x", "/tmp/x"),
    ("RLX_LOG", "Debug", "debug"),
]

BAD = [
    (
        "RLX_DEVICE",
        "cuda:x",
        "the device 'cuda:x' has the index 'x', which is not a number. "
        "Fix: write cuda for any, or cuda:0 for the first.",
    ),
    (
        "RLX_DEVICE",
        '"cuda"',
        "the value '\"cuda\"' holds quotes. Fix: leave the quotes away: RLX_DEVICE=cuda.",
    ),
    ("RLX_BACKEND", "numpy,x", "one id is meant, got 'numpy,x'. Fix: name one."),
    (
        "RLX_CONFIG",
        "'a.yaml'",
        "the value \"'a.yaml'\" holds quotes. Fix: leave the quotes away: RLX_CONFIG=a.yaml.",
    ),
    (
        "RLX_CONFIG",
        "~nobody-here/x",
        "the path '~nobody-here/x' names a home folder that is not known. "
        "Fix: write the whole path.",
    ),
    (
        "RLX_CONFIG_ONLY",
        "maybe",
        "unknown value 'maybe', allowed: 1, true, yes, on, 0, false, no, off. "
        "Fix: write one of: 1, true, yes, on, 0, false, no, off.",
    ),
    (
        "RLX_PRECEDENCE",
        "numpy,,x",
        "the list 'numpy,,x' holds an empty name. "
        "Fix: write names with one comma between them, such as a,b.",
    ),
    ("RLX_DISABLE", "a,A", "the list 'a,A' names a twice. Fix: name each once."),
    (
        "RLX_DISABLE",
        "a b",
        "the list 'a b' holds 'a b'. Fix: write names with one comma between them, such as a,b.",
    ),
    (
        "RLX_KERNEL_DISPATCH",
        "prefer_native",
        "unknown value 'prefer_native', allowed: native, prefer-native, common. "
        "Fix: did you mean prefer-native?",
    ),
    (
        "RLX_PRECISION",
        "fp16",
        "unknown value 'fp16', allowed: f32, f16, bf16. Fix: did you mean f16?",
    ),
    (
        "RLX_PRECISION_POLICY",
        "strict",
        "unknown value 'strict', allowed: error, warn, allow. "
        "Fix: write one of: error, warn, allow.",
    ),
    (
        "RLX_LOG",
        "verbose\n",
        "unknown value 'verbose\\n', allowed: debug, info, warning, error, off. "
        "Fix: write one of: debug, info, warning, error, off.",
    ),
]


@pytest.mark.parametrize(("name", "text", "value"), GOOD)
def test_a_good_value_is_read_and_remembers_its_variable(name, text, value):
    setting = environment({name: text}).get(name)
    assert setting.value == value
    assert str(setting.origin) == name


@pytest.mark.parametrize(("name", "text", "message"), BAD)
def test_a_bad_value_is_an_error_that_names_it(name, text, message):
    with pytest.raises(SettingError) as caught:
        environment({name: text})
    assert str(caught.value) == f"{name}: {message}"


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda one: one.name)
@pytest.mark.parametrize("text", ["", "  ", "auto", " AUTO "])
def test_empty_and_auto_are_unset(variable, text):
    assert environment({variable.name: text}).settings == ()


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda one: one.name)
def test_every_example_is_accepted(variable):
    assert environment({variable.name: variable.example}).get(variable.name) is not None


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda one: one.name)
@pytest.mark.parametrize("edit", [lambda n: n[:-1], lambda n: n + "S", lambda n: n.lower()])
def test_a_name_within_two_edits_is_an_error(variable, edit):
    name = edit(variable.name)
    with pytest.raises(SettingError) as caught:
        environment({name: "1"})
    fix = f"did you mean {variable.name}? Else unset it."
    assert str(caught.value) == f"unknown variable {name}. Fix: {fix}"


def test_another_unknown_name_warns_once():
    with pytest.warns(UnknownSetting) as caught:
        environment({"RLX_WORKER_COUNT": "1"})
    assert str(caught[0].message) == (
        "unknown variable RLX_WORKER_COUNT is ignored. Fix: unset it; `rlx env` lists those that "
        "rlx reads."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        environment({"RLX_WORKER_COUNT": "2"})


def test_names_of_tests_are_left_alone():
    assert environment({"RLX_TEST_REQUIRE": "torch", "PATH": "x"}).settings == ()


def test_the_process_environment_is_read_at_each_use(monkeypatch):
    assert environment() is environment()
    monkeypatch.setenv("RLX_DEVICE", "cpu")
    assert environment().value("RLX_DEVICE") == (DeviceSpec("cpu"),)
    monkeypatch.setenv("RLX_DEVICE", "cuda")
    assert environment().value("RLX_DEVICE") == (DeviceSpec("cuda"),)
    monkeypatch.delenv("RLX_DEVICE")
    assert environment().value("RLX_DEVICE", "none") == "none"


def test_an_error_stays_until_its_cause_is_gone(monkeypatch):
    environment()
    monkeypatch.setenv("RLX_DEVCE", "cuda")
    for _ in range(2):
        with pytest.raises(SettingError, match="did you mean RLX_DEVICE"):
            environment()
    monkeypatch.delenv("RLX_DEVCE")
    assert environment().settings == ()


def test_configuration_is_a_path_and_a_flag():
    assert configuration({}) == (None, False)
    assert configuration({"RLX_CONFIG": "a.yaml", "RLX_CONFIG_ONLY": "1"}) == ("a.yaml", True)


def test_importing_checks_nothing():
    code = "import os; os.environ['RLX_DEVCE'] = 'x'; import rlx.settings, rlx.router"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_bad_variable_is_said_at_once(monkeypatch):
    monkeypatch.setenv("RLX_LOG", "loud")
    monkeypatch.setenv("RLX_PRECISION", "f8")
    monkeypatch.setenv("RLX_DEVCE", "cuda")
    with pytest.raises(SettingError) as caught:
        environment()
    assert str(caught.value) == (
        "unknown variable RLX_DEVCE. Fix: did you mean RLX_DEVICE? Else unset it.\n"
        "RLX_PRECISION: unknown value 'f8', allowed: f32, f16, bf16. "
        "Fix: write one of: f32, f16, bf16.\n"
        "RLX_LOG: unknown value 'loud', allowed: debug, info, warning, error, off. "
        "Fix: write one of: debug, info, warning, error, off."
    )
