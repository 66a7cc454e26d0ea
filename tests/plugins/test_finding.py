"""Which plugins are installed, and where their files are: nothing is imported to tell."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import rlx
from rlx.manifest.plugins import find_plugins


def only():
    (found,) = find_plugins()
    return found


def refusal():
    (fault,) = only().faults
    return f"[{fault.code}] {fault}"


def test_without_plugins_there_are_none(site):
    site.metadata(points=None)
    site.write("tool-1.0.dist-info/entry_points.txt", "[console_scripts]\nrlx-tool = tool:main\n")
    assert find_plugins() == ()


def test_a_package_is_found_with_its_file_by_default(site):
    file = site.package("backends: []\n")
    site.metadata(version="1.0.post1")
    found = only()
    assert (str(found), found.active) == ("plugin acme-backend 1.0.post1", True)
    (layer,) = found.files
    assert (layer.layer, layer.path, layer.trusted) == ("plugin", file, True)
    assert layer.shown == "plugin acme-backend 1.0.post1 backends.yaml"


@pytest.mark.parametrize(
    ("value", "path", "shown"),
    [
        ("acme_backend:mine.yaml", "acme_backend/mine.yaml", "mine.yaml"),
        ("acme_backend : mine.yaml", "acme_backend/mine.yaml", "mine.yaml"),
        ("acme_backend:conf/mine.yaml", "acme_backend/conf/mine.yaml", "conf/mine.yaml"),
        ("acme_backend.conf", "acme_backend/conf/backends.yaml", "conf/backends.yaml"),
        ("acme_backend.conf:a.yaml", "acme_backend/conf/a.yaml", "conf/a.yaml"),
    ],
)
def test_the_value_names_a_package_and_maybe_a_file(site, value, path, shown):
    file = site.write(path, "")
    site.metadata(points=f"# a comment\n\n acme={value}")
    (layer,) = only().files
    assert (layer.path, layer.shown) == (file, f"plugin acme-backend 1.0 {shown}")


def test_several_files_are_shown_apart(site):
    for package in ("acme_a", "acme_b"):
        site.package("backends: []\n", package)
    site.metadata(points="a = acme_a\nb = acme_b\nc = acme_a")
    assert [one.shown for one in only().files] == [
        "plugin acme-backend 1.0 acme_a/backends.yaml",
        "plugin acme-backend 1.0 acme_b/backends.yaml",
    ]


def test_plugins_are_in_order_of_their_names_whatever_the_path_is(site, tmp_path, monkeypatch):
    site.plugin("backends: []\n", "acme_b")
    site.plugin("backends: []\n", "Acme.A")
    monkeypatch.syspath_prepend(str(tmp_path / "other"))
    other = type(site)(tmp_path / "other")
    other.plugin("backends: []\n", "acme_c")
    assert [one.name for one in find_plugins()] == ["acme-a", "acme-b", "acme-c"]


def test_the_first_on_the_path_counts_even_where_it_is_no_plugin(site, tmp_path, monkeypatch):
    site.plugin("backends: []\n", version="1.0")
    first = type(site)(tmp_path / "first")
    monkeypatch.syspath_prepend(str(first.folder))
    first.plugin("backends: []\n", version="2.0")
    assert only().version == "2.0"
    (first.folder / "acme_backend-2.0.dist-info/entry_points.txt").unlink()
    assert find_plugins() == ()


def test_an_egg_info_without_a_version_in_its_name_is_read(site):
    site.package("backends: []\n")
    site.write("acme_backend.egg-info/entry_points.txt", "[rlx.manifests]\na = acme_backend\n")
    site.write("acme_backend.egg-info/PKG-INFO", "Name: acme\nVersion: 3.1\n")
    assert (str(only()), len(only().files)) == ("plugin acme-backend 3.1", 1)


MAPPING = "MAPPING: dict[str, str] = {{'acme_backend': {!r}}}\nNAMESPACES = {{}}\n"
REDIRECT = "from editables.redirector import RedirectingFinder as F\nF.install()\n"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("_acme_backend.pth", "# ours\n{source}\n"),
        ("__editable__.acme_backend-1.0.pth", "../source\n"),
        ("__editable___acme_backend_1_0_finder.py", MAPPING),
        ("_editable_impl_acme_backend.py", REDIRECT + "F.map_module('acme_backend', {init!r})\n"),
    ],
)
def test_an_editable_install_is_followed_without_running_it(site, tmp_path, file, text):
    source = type(site)(tmp_path / "source")
    manifest = source.package("backends: []\n")
    folder = source.folder / "acme_backend"
    text = text.replace("{source}", str(source.folder)).replace(
        "{init!r}", repr(f"{folder}/__init__.py")
    )
    site.write(file, text.format(str(folder)) if text is MAPPING else text)
    site.write("acme_hook.pth", "import acme_hook\n")
    record = f"{file},sha256=x,1\nacme_hook.pth,,\nacme_backend-1.0.dist-info/RECORD,,\n"
    site.metadata(RECORD=record)
    (layer,) = only().files
    assert layer.path.resolve() == manifest.resolve()


def test_an_import_hook_of_another_kind_is_not_run(site):
    site.write("_acme_editable.py", "raise SystemExit\n")
    site.write("_acme_editable.pth", "import _acme_editable\n")
    site.metadata(RECORD="_acme_editable.pth,,\n_acme_editable.py,,\n")
    assert refusal() == (
        "[plugin-place] plugin acme-backend 1.0 entry_points.txt:2:8: package acme_backend is "
        "installed so that only an import hook finds it, and rlx imports no plugin to read its "
        "manifest. Fix: install it without -e, or name its file in RLX_CONFIG."
    )


AUTHOR = "report this to the plugin's author, or uninstall it."


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        (
            "acme = nothing_here",
            "[plugin-place] {}:2:8: no package nothing_here is installed with it, in {site}. "
            f"Fix: {AUTHOR}",
        ),
        (
            "acme = acme_backend:other.yaml",
            "[file-missing] {}:2:8: package acme_backend holds no 'other.yaml'. Fix: add the file "
            "to the package's data, and build it again.",
        ),
        (
            "acme = acme_backend:../outside.yaml",
            "[plugin-file] {}:2:8: the file must be a path below package acme_backend, got "
            f"'../outside.yaml'. Fix: {AUTHOR}",
        ),
        (
            "acme = acme_backend:/etc/passwd",
            "[plugin-file] {}:2:8: the file must be a path below package acme_backend, got "
            f"'/etc/passwd'. Fix: {AUTHOR}",
        ),
        (
            "acme = acme_backend:link.yaml",
            "[plugin-file] {}:2:8: a link leads 'link.yaml' out of package acme_backend. "
            "Fix: install the file itself there, not a link.",
        ),
        (
            "acme = acme-backend",
            "[plugin-entry] {}:2:8: an entry point must be package or package:file.yaml, got "
            f"'acme-backend'. Fix: {AUTHOR}",
        ),
        (
            "acme",
            "[plugin-place] {}:2:1: no package acme is installed with it, in {site}. "
            f"Fix: {AUTHOR}",
        ),
        (
            "acme = acme_backend [extra]",
            "[plugin-entry] {}:2:8: an entry point must be package or package:file.yaml, got "
            f"'acme_backend [extra]'. Fix: {AUTHOR}",
        ),
    ],
)
def test_an_entry_point_that_leads_to_no_file_says_why(site, points, fault):
    site.package("backends: []\n")
    site.write("outside.yaml", "")
    (site.folder / "acme_backend/link.yaml").symlink_to(site.folder / "outside.yaml")
    site.metadata(points=points)
    place = "plugin acme-backend 1.0 entry_points.txt"
    assert refusal() == fault.replace("{}", place).replace("{site}", str(site.folder))


@pytest.mark.parametrize("group", ["rlx.manifest", "rlx-manifests", "rlx.plugins", "RLX.backends"])
def test_a_group_that_is_nearly_the_right_one_is_said(site, group):
    site.write("acme_backend-1.0.dist-info/entry_points.txt", f"[x]\na=b\n[{group}]\na = acme\n")
    if group.startswith("RLX"):
        assert find_plugins() == ()
        return
    assert refusal() == (
        "[plugin-entry] plugin acme-backend 1.0 entry_points.txt:4:1: the group of entry points is "
        f"rlx.manifests, got '{group}'. Fix: rename the group to rlx.manifests, and build again."
    )


def test_entry_points_that_are_not_utf8_are_a_fault_of_that_plugin(site):
    info = site.metadata()
    (info / "entry_points.txt").write_bytes(b"[rlx.manifests]\na = caf\xe9\n")
    assert refusal() == (
        "[plugin-entry] plugin acme-backend 1.0 entry_points.txt: it is not UTF-8 (byte 23). "
        f"Fix: {AUTHOR}"
    )


def test_entry_points_that_cannot_be_read_are_said(site):
    (site.metadata(points=None, METADATA="") / "entry_points.txt").mkdir()
    assert refusal() == (
        "[file-unreadable] plugin acme-backend 1.0 entry_points.txt: it can't be read (Is a "
        "directory), so plugins in it stay unknown. Fix: correct its permissions, or reinstall it."
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_place_of_entry_points_is_not_waited_for(site):
    os.mkfifo(site.metadata(points=None, METADATA="") / "entry_points.txt")
    assert find_plugins() == ()


def test_two_versions_in_one_folder_are_said_and_neither_is_taken(site):
    site.plugin("backends: []\n", version="1.0")
    site.plugin("backends: []\n", version="2.0")
    assert refusal() == (
        f"[plugin-place] plugin acme-backend 1.0 entry_points.txt: acme-backend is installed twice "
        f"in {site.folder}: acme_backend-1.0.dist-info, acme_backend-2.0.dist-info. Fix: run `pip "
        "uninstall acme-backend` until it is gone, then install it again."
    )


def test_the_working_directory_is_no_place_to_install_into(site, tmp_path, monkeypatch):
    decoy = type(site)(tmp_path / "work")
    decoy.plugin("backends: []\n", "acme_decoy")
    monkeypatch.syspath_prepend("")
    assert refusal() == (
        "[plugin-place] plugin acme-decoy 1.0 entry_points.txt: it lies in the working directory, "
        "from where no plugin is loaded. Fix: install it: `pip install .` in its project."
    )
    site.plugin("backends: []\n", "acme_decoy")
    assert only().active
    monkeypatch.chdir(site.folder)
    assert not only().active


def test_what_cannot_be_listed_is_passed_over(site, tmp_path, monkeypatch):
    archive = tmp_path / "a.whl"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("acme-1.0.dist-info/entry_points.txt", "[rlx.manifests]\na = acme\n")
    for entry in (archive, tmp_path / "absent", "a\0b"):
        monkeypatch.syspath_prepend(str(entry))
    assert find_plugins() == ()


def test_a_settled_folder_is_listed_again_when_it_changes(site):
    os.utime(site.folder, (1_000_000_000, 1_000_000_000))
    assert find_plugins() == ()
    site.plugin("backends: []\n")
    assert only().active
    os.utime(site.folder, (1_000_000_001, 1_000_000_001))
    assert only().active
    (site.folder / "acme_backend-1.0.dist-info").rename(site.folder / "gone")
    assert find_plugins() == ()


@pytest.mark.parametrize("left", ["~cme_backend-0.9", "-cme_backend-0.9", "-0.9", ""])
def test_what_an_uninstallation_left_behind_is_no_plugin(site, left):
    site.package("backends: []\n")
    site.metadata()
    site.write(f"{left}.dist-info/entry_points.txt", "[rlx.manifests]\nacme = acme_backend\n")
    assert [str(one) for one in find_plugins()] == ["plugin acme-backend 1.0"]


def test_finding_imports_neither_a_parser_nor_importlib_metadata():
    heavy = "{'yaml', 'pydantic', 'importlib.metadata', 'csv', 'email', 'zipfile'}"
    code = (
        "import sys; from rlx.manifest.plugins import find_plugins; find_plugins(); "
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    root = Path(rlx.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout == "[]\n"
