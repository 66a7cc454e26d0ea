"""Which files are in force, found by their paths alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlx import resources
from rlx.errors import ConfigError
from rlx.manifest import discover, discovery
from rlx.manifest.discovery import find

PACKAGED = ("packaged", "packaged backends.yaml")


@pytest.fixture(autouse=True)
def empty_site(tmp_path, monkeypatch):
    """No file of the machine's own takes part; the working directory is a fresh folder."""
    monkeypatch.setattr("platformdirs.site_config_dir", lambda *a, **k: str(tmp_path / "system"))
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *a, **k: str(tmp_path / "user"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path


def write(path: str | Path) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")
    return path


def shown(*args, **kwargs) -> list[tuple[str, str]]:
    return [(one.layer, one.shown.replace(os.sep, "/")) for one in find(*args, **kwargs)]


def test_without_other_files_the_packaged_layer_is_alone():
    assert shown() == [PACKAGED]
    assert find()[0].path == resources.configs() / "backends.yaml"


def test_all_layers_in_order(empty_site):
    for name in ("system", "user", "work"):
        write(empty_site / name / "backends.yaml")
    assert shown(("a.yaml", "b.yaml"), environment="env.yaml") == [
        PACKAGED,
        ("system", f"{empty_site}/system/backends.yaml"),
        ("user", f"{empty_site}/user/backends.yaml"),
        ("project", "backends.yaml"),
        ("environment", "env.yaml"),
        ("argument", "a.yaml"),
        ("argument", "b.yaml"),
    ]


def test_a_user_without_a_home_has_no_layer_that_a_project_could_bring(monkeypatch):
    write("~/.config/rlx/backends.yaml")
    for name in ("user_config_dir", "site_config_dir"):
        monkeypatch.setattr(f"platformdirs.{name}", lambda *_, **__: "~/.config/rlx")
    assert shown() == [PACKAGED]


def test_only_keeps_what_was_named(empty_site):
    for name in ("system", "user", "work"):
        write(empty_site / name / "backends.yaml")
    assert shown(("a.yaml",), True, environment="env.yaml") == [
        PACKAGED,
        ("environment", "env.yaml"),
        ("argument", "a.yaml"),
    ]


def test_a_discovered_project_file_alone_is_not_trusted(empty_site):
    for name in ("system", "user", "work"):
        write(empty_site / name / "backends.yaml")
    layers = find(("a.yaml",), environment="env.yaml")
    assert [one.layer for one in layers if not one.trusted] == ["project"]
    assert [one.layer for one in layers if one.explicit] == ["environment", "argument"]


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["rlx.yaml", "backends.yaml", "configs/backends.yaml"], "rlx.yaml"),
        (["backends.yaml", "configs/backends.yaml"], "backends.yaml"),
        (["configs/backends.yaml"], "configs/backends.yaml"),
        (["config/backends.yaml"], None),
        (["rlx.yml", "backends.yaml"], "backends.yaml"),
        (["rlx.yml", "config/backends.yaml"], "rlx.yml"),
    ],
)
def test_one_project_file_is_taken_by_name(files, chosen):
    for name in files:
        write(name)
    assert shown()[1:] == ([("project", chosen)] if chosen else [])


def test_without_a_repository_only_the_working_directory_counts(empty_site):
    write(empty_site / "backends.yaml")
    assert shown() == [PACKAGED]


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_nearest_file_up_to_the_repository_is_taken_and_ancestors_do_not_merge(
    empty_site, monkeypatch, kind
):
    git = Path(".git")
    git.mkdir() if kind == "folder" else git.write_text("gitdir: elsewhere")
    write(empty_site / "backends.yaml")
    write("backends.yaml")
    deep = empty_site / "work/a/b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert shown()[1:] == [("project", "../../backends.yaml")]
    write("../configs/backends.yaml")
    assert shown()[1:] == [("project", "../configs/backends.yaml")]


def test_above_the_repository_nothing_is_looked_at(empty_site):
    Path(".git").mkdir()
    write(empty_site / "backends.yaml")
    assert shown() == [PACKAGED]


def test_another_working_directory_can_be_given(empty_site):
    write(empty_site / "elsewhere/backends.yaml")
    assert shown(cwd=empty_site / "elsewhere")[1:] == [("project", "../elsewhere/backends.yaml")]


def test_a_folder_of_that_name_is_no_project_file_but_a_dangling_link_is_one():
    Path("rlx.yaml").mkdir()
    assert shown() == [PACKAGED]
    Path("backends.yaml").symlink_to("nowhere")
    assert shown()[1:] == [("project", "backends.yaml")]


def test_the_checkout_itself_is_no_project():
    assert shown(cwd=resources.configs().parent) == [PACKAGED]


def test_the_same_file_by_a_link_is_in_the_list_once(empty_site):
    write(empty_site / "user/backends.yaml")
    Path("backends.yaml").symlink_to(empty_site / "user/backends.yaml")
    assert [layer for layer, _ in shown()] == ["packaged", "user"]


def test_a_project_file_that_is_named_is_trusted_and_counts_as_named():
    write("backends.yaml")
    layers = find(("./backends.yaml",))
    assert [(one.layer, one.trusted) for one in layers[1:]] == [("argument", True)]


def test_the_packaged_file_that_is_named_stays_the_first_layer():
    path = os.path.relpath(resources.configs() / "backends.yaml")
    (layer,) = find((path,))
    assert (layer.layer, layer.shown) == ("packaged", path)


def test_a_file_named_twice_is_in_the_list_once():
    write("a.yaml")
    write("b.yaml")
    assert shown(("a.yaml", "b.yaml", "./a.yaml"))[1:] == [
        ("argument", "b.yaml"),
        ("argument", "./a.yaml"),
    ]


def test_a_named_file_that_is_missing_is_in_the_list():
    assert shown(("none.yaml",))[1:] == [("argument", "none.yaml")]


@pytest.mark.skipif(sys.platform == "win32", reason="a working directory can't be removed there")
def test_a_removed_working_directory_holds_no_project(empty_site):
    (empty_site / "work").rmdir()
    assert shown() == [PACKAGED]


def test_finding_imports_neither_yaml_nor_pydantic():
    code = (
        "import sys; from rlx.manifest.discovery import find; find(); "
        "print(sorted({'yaml', 'pydantic', 'numpy', 'onnx'} & set(sys.modules)))"
    )
    root = Path(resources.PACKAGE).parent
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_relative_path_from_a_removed_folder_is_kept_for_reading_to_refuse(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert shown(["a.yaml"], environment="b.yaml") == [
        PACKAGED,
        ("environment", "b.yaml"),
        ("argument", "a.yaml"),
    ]
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("path", "name"), [("a\0b.yaml", "a\\x00b.yaml"), ("", ".")])
def test_a_path_that_leads_nowhere_still_has_a_name(path, name):
    assert shown([path]) == [PACKAGED, ("argument", name)]


def test_a_project_link_that_cannot_be_followed_is_a_file_that_cannot_be_read(tmp_path):
    Path("rlx.yaml").symlink_to("x" * 300)
    assert shown() == [PACKAGED, ("project", "rlx.yaml")]
    with pytest.raises(ConfigError) as caught:
        discover()
    assert str(caught.value) == (
        "rlx.yaml: the file can't be read: File name too long."
        " Fix: check the path and its permissions."
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")
def test_the_folders_that_are_looked_at_first_are_those_of_platformdirs(monkeypatch):
    for name in discovery._MOVING:
        monkeypatch.delenv(name, raising=False)
    code = (
        "import platformdirs as p;"
        "print(p.site_config_dir('rlx', appauthor=False));"
        "print(p.user_config_dir('rlx', appauthor=False))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["/etc/xdg/rlx", str(Path("~/.config/rlx").expanduser())]


@pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")
def test_a_users_file_is_found_without_any_variable(monkeypatch, tmp_path):
    for name in discovery._MOVING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert discovery._plainly_absent()
    (tmp_path / ".config" / "rlx").mkdir(parents=True)
    assert not discovery._plainly_absent()
