"""The wheel holds what the package needs, and works where nothing else of the project is."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from tests.packaging.conftest import PROJECT, Environment


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    environment = Environment(tmp_path_factory.mktemp("environment") / "venv", borrow=True)
    environment.pip("--no-deps", wheel)
    return environment


def package_of(environment):
    out = environment.output("-c", "import rlx; print(rlx.__file__)")
    return Path(out.strip()).parent


def digests(folder):
    files = (
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_wheel_holds_configs_schemas_and_the_type_marker(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, inside in (("configs", "rlx/_configs"), ("schemas", "rlx/_schemas")):
        mine = (path for path in (PROJECT / folder).rglob("*") if path.is_file())
        expected = {f"{inside}/{path.relative_to(PROJECT / folder).as_posix()}" for path in mine}
        assert expected
        assert expected <= names
    assert "rlx/py.typed" in names
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in names)


def test_the_wheel_needs_the_core_dependencies_and_no_others(wheel):
    archive = zipfile.ZipFile(wheel)
    metadata = next(name for name in archive.namelist() if name.endswith("/METADATA"))
    lines = archive.read(metadata).decode().splitlines()
    needs = [line.split(": ")[1] for line in lines if line.startswith("Requires-Dist: ")]
    core = {need.split(">")[0].split("<")[0] for need in needs if "extra ==" not in need}
    assert core == {
        "array-api-compat", "click", "numpy", "onnx", "packaging",
        "platformdirs", "pydantic", "pyyaml", "rich",
    }  # fmt: skip


def test_an_installed_wheel_reads_its_own_copy_of_the_configuration(installed):
    package = package_of(installed)
    assert PROJECT not in package.parents
    code = "from rlx import resources; print(resources.configs(), resources.schemas())"
    out = installed.output("-c", code)
    assert out.split() == [str(package / "_configs"), str(package / "_schemas")]
    listed = json.loads(installed.output("-m", "rlx", "backends", "--json"))
    assert [one["id"] for one in listed["backends"]][-1] == "reference"


def test_an_installed_wheel_runs_a_network(installed):
    report = json.loads(installed.output("-m", "rlx", "demo", "squeezenet", "--json"))
    assert report["agrees"] is True


def test_a_read_only_install_and_home_are_enough(installed, tmp_path):
    package = package_of(installed)
    before = digests(package)
    for path in [*package.rglob("*"), package]:
        path.chmod(path.stat().st_mode & ~0o222)
    home = tmp_path / "absent"
    for command in (["backends"], ["schema", "--check"], ["demo", "squeezenet"]):
        installed.output(
            "-m",
            "rlx",
            *command,
            HOME=str(home),
            XDG_CONFIG_HOME=str(home),
            XDG_CACHE_HOME=str(home),
        )
    assert digests(package) == before
    assert not home.exists()


def test_editing_the_packaged_file_of_an_editable_install_changes_the_route(checkout, tmp_path):
    environment = Environment(tmp_path / "venv", borrow=True)
    environment.pip("--no-deps", "--no-build-isolation", "-e", checkout)
    code = (
        "import rlx; from onnx import parser;"
        'print(rlx.route(parser.parse_model(\'<ir_version: 8, opset_import: ["" : 13]>'
        " g (float[4] x) => (float[4] y) { y = Relu(x) }'), require=['deterministic']).backend)"
    )
    config = checkout / "configs" / "backends.yaml"
    text = config.read_text(encoding="utf-8")
    before = environment.output("-c", code).strip()
    last = "rank: 900" if before == "numpy" else "rank: 1"
    numpy = text.index("id: numpy")
    edited = text[:numpy] + text[numpy:].replace("rank: 200", last, 1)
    config.write_text(edited, encoding="utf-8")
    after = environment.output("-c", code).strip()
    config.write_text(text, encoding="utf-8")
    assert {before, after} == {"numpy", "onnxruntime-cpu"}


@pytest.mark.network
def test_a_wheel_in_a_fresh_environment_brings_all_that_it_needs(wheel, tmp_path):
    environment = Environment(tmp_path / "venv", borrow=False)
    environment.pip(wheel)
    report = json.loads(environment.output("-m", "rlx", "demo", "squeezenet", "--json"))
    assert report["agrees"] is True
    assert report["route"]["backend"] == "numpy"
