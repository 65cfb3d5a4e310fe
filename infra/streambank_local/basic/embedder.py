"""Sentence vectors from a small static model that installs with its weights."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from streambank.rules import vectors

DIMENSIONS = 256
# The model reads a text word by word; what follows this many characters hardly moves the mean.
_LONGEST_TEXT = 20_000


class WordLlamaEmbedder:
    """Embeds with WordLlama: 256 dimensions, thousands of sentences per second, no network."""

    is_local = True

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str], *, model: str | None = None, for_query: bool = False) -> list[bytes]:  # noqa: ARG002  one model, one kind of text
        """Return the unit vector of each text; a text without a known word has a vector too, never a zero one."""
        if not texts:
            return []
        raw = self._loaded().embed([_readable(text) for text in texts])
        return [vectors.pack(vector.tolist()) for vector in np.asarray(raw, dtype=np.float32)]

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load()
            return self._model


def _load() -> Any:
    with _root_logger_kept():
        import wordllama
    # Without both arguments the loader looks in its download cache and fails offline.
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, dim=DIMENSIONS, disable_download=True)


@contextmanager
def _root_logger_kept() -> Iterator[None]:
    """Keep an import's `logging.basicConfig` from taking effect, which it does only on a root without handlers."""
    root, occupied = logging.getLogger(), logging.NullHandler()
    root.addHandler(occupied)
    try:
        yield
    finally:
        root.removeHandler(occupied)


def _readable(text: str) -> str:
    """Return *text* as the tokenizer takes it: not empty, not endless, without lone surrogates."""
    return text[:_LONGEST_TEXT].encode("utf-8", "replace").decode() or " "
