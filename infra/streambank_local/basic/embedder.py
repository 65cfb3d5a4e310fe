"""Sentence vectors from a small static model whose package contains its weights; without the package there are none."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from streambank.rules import vectors

DIMENSIONS = 256
_MODEL = "wordllama"
# How the rules write that a text has no vector: a search then goes by words.
_NO_VECTOR = b""
# The vector is a mean over words; words after so many characters hardly change it.
_MAX_CHARACTERS = 20_000

_log = logging.getLogger(__name__)
_loading = Lock()


class WordLlamaEmbedder:
    """Embeds with WordLlama: 256 dimensions, thousands of sentences per second, no network.

    Where WordLlama cannot be imported, no text has a vector.
    """

    is_local = True

    def __init__(self) -> None:
        self._model: Any = None
        self._is_loaded = False

    def embed(self, texts: Sequence[str], *, model: str | None = None, for_query: bool = False) -> list[bytes]:  # noqa: ARG002  one model
        """Return the packed unit vector of each text; a text without a known word has one too."""
        if not texts:
            return []
        words = self._loaded()
        if words is None:
            return [_NO_VECTOR] * len(texts)
        raw = words.embed([_prepare(text) for text in texts])
        return [vectors.pack(vector.tolist(), _MODEL, for_query=for_query) for vector in raw.astype("float32")]

    def _loaded(self) -> Any:
        with _loading:
            if not self._is_loaded:
                self._model, self._is_loaded = _load(), True
            return self._model


def _load() -> Any:
    # Imported here: it takes 0.6 s, and only the first embedding needs it.
    try:
        with _without_logging_setup():
            import wordllama  # noqa: PLC0415
    except ModuleNotFoundError:
        return None
    except ImportError as error:
        _log.warning("wordllama cannot be imported (%s): a search goes by words alone, not by meaning", error)
        return None
    return _model_of(wordllama)


@cache
def _model_of(package: ModuleType) -> Any:
    """Return the model of *package*: all embedders of a process share it."""
    # Without both arguments the loader looks in its download cache and fails offline.
    folder = Path(str(package.__file__)).parent
    return package.WordLlama.load(cache_dir=folder, dim=DIMENSIONS, disable_download=True)


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
