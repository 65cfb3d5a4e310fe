"""Sentence vectors from a small static model whose package contains its weights."""

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
# The vector is a mean over words; words after so many characters hardly change it.
_MAX_CHARACTERS = 20_000


class WordLlamaEmbedder:
    """Embeds with WordLlama: 256 dimensions, thousands of sentences per second, no network."""

    is_local = True

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str], *, model: str | None = None, for_query: bool = False) -> list[bytes]:  # noqa: ARG002  one model, one kind of text
        """Return the packed unit vector of each text; a text without a known word has one too."""
        if not texts:
            return []
        raw = self._loaded().embed([_prepare(text) for text in texts])
        return [vectors.pack(vector.tolist()) for vector in np.asarray(raw, dtype=np.float32)]

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load()
            return self._model


def _load() -> Any:
    # Imported here: it takes 0.6 s, and only the first embedding needs it.
    with _without_logging_setup():
        import wordllama  # noqa: PLC0415
    # Without both arguments the loader looks in its download cache and fails offline.
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, dim=DIMENSIONS, disable_download=True)


@contextmanager
def _without_logging_setup() -> Iterator[None]:
    """Make `logging.basicConfig` without effect: it changes nothing if the root logger has a handler."""
    root, handler = logging.getLogger(), logging.NullHandler()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def _prepare(text: str) -> str:
    """Return *text* as the tokenizer accepts it: not empty, not too long, without lone surrogates."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode() or " "
