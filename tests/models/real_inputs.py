"""Inputs from the world: a repository's files, a minute of speech, a scanned page."""

from __future__ import annotations

import json
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.models.catalogue import MODELS, Feeds
from tests.models.packages import FOLDER, SPEECH

Array = np.ndarray[Any, Any]
CHUNK, CONTEXT = 512, 64
"""Samples that silero-vad is given at a time, and how many of those before them."""


def file_features(path: Path) -> Feeds:
    """A file as magika sees it: its beginning and its end, stripped, with padding between.

    The sizes are from the model's configuration: whitespace is stripped within a block from
    either end, and what is short is filled up with a token that is no byte.
    """
    config = json.loads((MODELS["magika"].path.parent / "config.min.json").read_text())
    begin, end, block = config["beg_size"], config["end_size"], config["block_size"]
    data = path.read_bytes()
    if len(data) <= block:
        data = data.strip()
    first = data[:block].lstrip()[:begin]
    last = data[-block:].rstrip()[-end:]
    row = np.full(begin + end, config["padding_token"], np.int32)
    row[: len(first)] = np.frombuffer(first, np.uint8)
    row[begin + end - len(last) :] = np.frombuffer(last, np.uint8)
    return {"bytes": row[None]}


def labels() -> list[str]:
    """What magika's outputs stand for."""
    config = json.loads((MODELS["magika"].path.parent / "config.min.json").read_text())
    found: list[str] = config["target_labels_space"]
    return found


def speech() -> Array:
    """The minute of speech: samples from -1 to 1, 16 kHz."""
    with wave.open(str(FOLDER / SPEECH)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return samples.astype(np.float32) / np.float32(32768)


def speech_chunks() -> Iterator[Array]:
    """What silero-vad is given one after the other, each (1, 576)."""
    samples = np.concatenate([np.zeros(CONTEXT, np.float32), speech()])
    for start in range(0, len(samples) - CONTEXT - CHUNK + 1, CHUNK):
        yield samples[None, start : start + CONTEXT + CHUNK]


def page() -> Feeds:
    """scikit-image's scanned page, as rapidocr gives it to its detector: sides of 32s, -1 to 1."""
    from PIL import Image

    with Image.open(FOLDER / "skimage/data/page.png") as image:
        sides = tuple(max(32, round(side / 32) * 32) for side in image.size)
        pixels = np.asarray(image.convert("RGB").resize(sides, Image.Resampling.BILINEAR))
    scaled = (pixels.astype(np.float32) / np.float32(255) - np.float32(0.5)) / np.float32(0.5)
    return {"x": np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])}
