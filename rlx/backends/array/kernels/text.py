"""TfIdfVectorizer: counting n-grams of tokens, by tables instead of a walk for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


@dataclass(frozen=True, slots=True)
class _Grams:
    """The n-grams of one length in the pool.

    Tokens are numbers here. `levels[k]` holds, sorted, prefix * tokens + token for every
    distinct prefix of k + 1 tokens, where a prefix is its place in the level before.
    """

    size: int
    levels: tuple[Array, ...]
    places: Array
    """By place in the last level: the n-gram's place in the pool."""


def _grams(rows: Array, first: int, tokens: int) -> _Grams:
    """The tables of n-grams (m, n), whose first is number `first` of the pool."""
    levels = []
    prefix = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys, prefix = np.unique(prefix * tokens + column, return_inverse=True)
        levels.append(keys)
    places = np.full(len(levels[-1]), -1, np.int64)
    places[prefix[::-1]] = first + np.arange(len(rows))[::-1]  # of equal ones the first counts
    return _Grams(rows.shape[1], tuple(levels), places)


def _find(keys: Array, wanted: Array) -> Array:
    """The place of each in sorted `keys`, or -1."""
    if not len(keys):
        return np.full(wanted.shape, -1, np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)


def _look_up(grams: _Grams, x: Array, step: int, tokens: int) -> tuple[Array, Array]:
    """The rows and the n-grams' places in the pool, of every n-gram with tokens `step` apart."""
    width = x.shape[1] - step * (grams.size - 1)
    if width <= 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    found = np.zeros((x.shape[0], width), np.int64)
    for place, keys in enumerate(grams.levels):
        token = x[:, place * step : place * step + width]
        known = (found >= 0) & (token >= 0)
        found = np.where(known, _find(keys, np.where(known, found * tokens + token, -1)), -1)
    rows, at = np.nonzero(found >= 0)
    return rows, grams.places[found[rows, at]]


def pool_grams(numbers: Array, starts: Sequence[int], wanted: range, tokens: int) -> list[_Grams]:
    """The tables for each wanted length; the pool holds all 1-grams, then all 2-grams and so on.

    Raises:
        ValueError: a part of the pool is no whole number of n-grams.
    """
    found = []
    first = 0
    ends = [*starts[1:], len(numbers)]
    for size, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        if start > end or (end - start) % size:
            raise ValueError(f"ngram_counts: {end - start} tokens make no whole {size}-grams")
        rows = numbers[start:end].reshape(-1, size)
        if len(rows) and size in wanted:
            found.append(_grams(rows, first, tokens))
        first += len(rows)
    return found


def _tf_idf(site: Site) -> Kernel:
    """Counts (TF), whether there are any (IDF) or counts (TFIDF), the latter two times weights.

    Skips leave tokens out between those of one n-gram; 1-grams are counted once all the same.

    Raises:
        NotImplementedError: an unknown mode, or no pool, or two.
    """
    attributes = site.attributes
    mode = attributes["mode"]
    if mode not in {"TF", "IDF", "TFIDF"}:
        raise NotImplementedError(f"mode {mode!r}")
    text, integers = attributes.get("pool_strings"), attributes.get("pool_int64s")
    if (text is None) == (integers is None):
        raise NotImplementedError("one of pool_strings and pool_int64s is needed, and only one")
    pool = list(text or integers or ())
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(pool))}
    tokens = max(len(vocabulary), 1)
    numbers = np.asarray([vocabulary[token] for token in pool], np.int64)
    columns = np.asarray(attributes["ngram_indexes"], np.int64)
    wanted = range(attributes["min_gram_length"], attributes["max_gram_length"] + 1)
    tables = pool_grams(numbers, attributes["ngram_counts"], wanted, tokens)
    steps = range(1, attributes["max_skip_count"] + 2)
    size = int(columns.max()) + 1
    weights = attributes.get("weights")
    factors = np.ones(size, np.float32)
    if weights and mode != "TF":
        if list(columns) != list(range(len(weights))):
            raise NotImplementedError(
                "weights beside ngram_indexes that don't count up: ONNX's text gives weights to "
                "n-grams, its implementations to columns"
            )
        factors[:] = weights
    keys = np.asarray(sorted(vocabulary), np.int64) if integers is not None else None
    ranks = np.asarray([vocabulary[key] for key in keys], np.int64) if keys is not None else None

    def numbered(x: Array) -> Array:
        if keys is None or ranks is None:
            found = (vocabulary.get(token, -1) for token in x.ravel().tolist())
            return np.fromiter(found, np.int64, x.size).reshape(x.shape)
        at = _find(keys, x.astype(np.int64))
        return np.where(at < 0, -1, ranks[at])

    def count(x: Array) -> Array:
        if x.ndim > 2:
            raise ValueError(f"the shape is {x.shape}, and it takes (C,) or (N, C)")
        lines = numbered(x.reshape(x.shape[0] if x.ndim == 2 else 1, -1) if x.size else x)
        rows = x.shape[0] if x.ndim == 2 else 1
        counts = np.zeros(rows * size, np.int64)
        for grams in tables if x.size else ():
            for step in steps if grams.size > 1 else steps[:1]:
                row, place = _look_up(grams, lines, step, tokens)
                counts += np.bincount(row * size + columns[place], minlength=rows * size)
        if mode == "IDF":
            counts = np.minimum(counts, 1)
        y = counts.reshape(rows, size) * factors
        return y.astype(np.float32).reshape(y.shape if x.ndim == 2 else (size,))

    return Fresh(count)


KERNELS: dict[str, Builder] = {"TfIdfVectorizer": _tf_idf}
HOSTED = dict.fromkeys(KERNELS)
