"""A folder to install into, and plugins made of text."""

import sys

import pytest

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"
SENTINEL = "raise SystemExit('a plugin was imported')\n"


class Site:
    """What `site-packages` is: metadata folders beside packages that must not be imported."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def metadata(self, name="acme_backend", version="1.0", points="acme = acme_backend", **files):
        """The metadata of one distribution; `RECORD="…"` and the like are more files of it."""
        info = f"{name}-{version}.dist-info"
        if points is not None:
            self.write(f"{info}/entry_points.txt", f"[rlx.manifests]\n{points}\n")
        for file, text in files.items():
            self.write(f"{info}/{file}", text)
        return self.folder / info

    def package(self, body, package="acme_backend", file="backends.yaml"):
        """A package that ships a manifest, whose body begins in line 3."""
        self.write(f"{package}/__init__.py", SENTINEL)
        return self.write(f"{package}/{file}", HEAD + body)

    def plugin(self, body, name="acme_backend", version="1.0"):
        """A whole plugin, whose package is called as it is."""
        self.metadata(name, version, f"x = {name}")
        return self.package(body, name)


@pytest.fixture
def site(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    yield Site(folder)
    imported = [one for one in sys.modules if one.startswith("acme")]
    assert not imported, f"imported: {imported}"


def backend(name, more=""):
    """One backend's registration, as a line of `backends`."""
    return f"  - {{id: {name}, device: cpu, rank: 7{more}}}\n"
