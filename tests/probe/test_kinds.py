"""`platform`, `module`, `path` and `library` probes."""

import sys

import pytest

from rlx.probe import checks
from rlx.probe.modules import distribution
from rlx.registration import Probe


def reason(kind, *values, **fields):
    return checks.check(Probe(kind, values, **fields), 0).reason


@pytest.fixture
def on(monkeypatch):
    def become(system, machine):
        monkeypatch.setattr(checks, "host", lambda: (system, machine))

    return become


@pytest.mark.parametrize(
    "values", [("linux",), ("macos", "linux"), ("x86_64",), ("linux", "amd64"), ("LINUX", "X86-64")]
)
def test_a_platform_that_is_named_fits(on, values):
    on("linux", "x86_64")
    assert reason("platform", *values) is None


@pytest.mark.parametrize(
    ("values", "needed"),
    [
        (("darwin",), "macos"),
        (("macos", "win32"), "macos or windows"),
        (("arm64",), "arm64"),
        (("linux", "aarch64"), "linux on arm64"),
    ],
)
def test_another_platform_is_a_reason(on, values, needed):
    on("linux", "x86_64")
    assert reason("platform", *values) == f"it needs {needed}, this is linux on x86_64"


def test_the_host_has_rlx_s_names():
    system, machine = checks.host()
    assert system in ("linux", "macos", "windows")
    assert machine in ("x86_64", "arm64")


def test_an_installed_module_is_found_and_not_imported():
    assert reason("module", "this") is None
    assert "this" not in sys.modules


def test_a_missing_module_is_a_reason():
    assert reason("module", "no_such_engine") == "no_such_engine is not installed"


def test_a_blocked_module_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "blocked_engine", None)
    assert reason("module", "blocked_engine") == "blocked_engine is not installed"


def test_a_module_without_a_spec_is_a_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "odd_engine", type(sys)("odd_engine"))
    assert reason("module", "odd_engine") == (
        "module odd_engine cannot be looked up: ValueError: odd_engine.__spec__ is None"
    )


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the path, and a way to install a distribution into it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(module, info, version, *, record=None, top_level=None):
        (tmp_path / module).mkdir(exist_ok=True)
        (tmp_path / module / "__init__.py").write_text("raise ImportError('imported')")
        folder = tmp_path / info
        folder.mkdir()
        name = info.split("-")[0]
        (folder / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n\nVersion: 9\n")
        if record is not None:
            (folder / "RECORD").write_text(record)
        if top_level is not None:
            (folder / "top_level.txt").write_text(top_level)

    return install


@pytest.mark.parametrize("installed", ["1.20", "1.21.3", "2.0", "1.22rc1", "1.20+cu12"])
def test_a_fitting_version_is_found_without_importing_the_module(site, installed):
    site("fast_engine", "fast_engine-1.dist-info", installed)
    assert reason("module", "fast_engine", version=">=1.20") is None


def test_a_version_too_old_is_a_reason(site):
    site("fast_engine", "fast_engine-1.4.dist-info", "1.4")
    assert reason("module", "fast_engine", version=">=1.20,<2") == (
        "fast_engine 1.4 is installed, >=1.20,<2 is needed"
    )


def test_a_module_of_another_name_is_found_by_its_distribution(site):
    site("PilLike", "pillow_like-3.dist-info", "3.1", record="PilLike/__init__.py,,\n")
    site("other", "other-1.dist-info", "1.0", record="other/__init__.py,,\n")
    assert distribution("PilLike") == ("pillow_like", "3.1")
    assert reason("module", "PilLike", version="<3") == "pillow_like 3.1 is installed, <3 is needed"


def test_a_build_under_another_name_counts(site):
    site("fast_engine", "fast_engine_gpu-2.dist-info", "2.0", top_level="fast_engine\n")
    assert distribution("fast_engine") == ("fast_engine_gpu", "2.0")


def test_a_distribution_that_only_shares_the_name_does_not_count(site):
    site("fast_engine", "fast_engine-2.dist-info", "2.0", record="unrelated.py,,\n")
    assert reason("module", "fast_engine", version=">=1") == (
        "module fast_engine has no distribution metadata, so it is not known to be >=1"
    )


def test_a_version_that_is_not_pep_440_is_a_reason(site):
    site("fast_engine", "fast_engine-x.dist-info", "banana")
    assert reason("module", "fast_engine", version=">=1") == (
        "fast_engine banana is not a PEP 440 version, so it is not known to be >=1"
    )


def test_a_specifier_that_is_none_is_a_reason(site):
    site("fast_engine", "fast_engine-1.dist-info", "1.0")
    assert reason("module", "fast_engine", version="new") == (
        "'new' is not a PEP 440 version specifier"
    )


def test_a_folder_without_init_is_no_module(tmp_path, monkeypatch):
    stray = tmp_path / "stray_engine"
    stray.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert reason("module", "stray_engine") == (
        f"stray_engine is not installed: {stray} is a folder without __init__.py"
    )


def test_packages_here_have_the_versions_that_importlib_knows():
    from importlib.metadata import version

    for module, name in {"numpy": "numpy", "yaml": "PyYAML", "pytest": "pytest"}.items():
        assert distribution(module) == (name, version(name))


def test_a_path_that_exists_fits(tmp_path):
    assert reason("path", str(tmp_path)) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/no/such/node", "path /no/such/node cannot be used: No such file or directory"),
        ("kfd", "path kfd is not absolute, and no folder is searched for it"),
        ("/a\0b", "path /a\0b cannot be used: embedded null byte"),
    ],
)
def test_a_path_that_cannot_be_used_is_a_reason(path, expected):
    assert reason("path", path) == expected


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names of Linux")
@pytest.mark.parametrize("name", ["libc.so.6", "c"])
def test_a_library_of_the_system_loads(name):
    assert reason("library", name) is None


def test_a_missing_library_is_a_reason():
    assert reason("library", "no_such_engine") == "shared library no_such_engine was not found"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="dlopen's text")
def test_a_library_in_the_working_directory_is_never_loaded(tmp_path, monkeypatch):
    (tmp_path / "libdecoy.so").write_bytes(b"not a library")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    assert reason("library", "libdecoy.so") == (
        "shared library libdecoy.so cannot be loaded: "
        "libdecoy.so: cannot open shared object file: No such file or directory"
    )
    assert "file too short" in reason("library", str(tmp_path / "libdecoy.so"))


def test_a_relative_library_path_is_refused():
    assert reason("library", "./lib/libx.so") == (
        "library ./lib/libx.so is neither an absolute path nor a name without a folder"
    )
