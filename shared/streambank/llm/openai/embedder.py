"""Vectors from a server's embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from streambank.errors import ModelOutputTruncated, ModelVectorsInvalid
from streambank.llm.dialogue.model_names import select_model
from streambank.llm.openai.dialect import Dialect, Dialects
from streambank.llm.openai.failures import Problem
from streambank.llm.openai.request import Document, send
from streambank.llm.openai.server import Server
from streambank.retry import RetryPolicy
from streambank.rules import vectors
from streambank.rules.batches import batches
from streambank.settings import ModelSettings

# Text Embeddings Inference accepts 32 texts a call by default, other servers more.
_TEXTS = 32
# A text is cut to the first of these lengths that the model accepts; models take 512 to 32,000 tokens.
_CHARACTERS = (24_000, 6_000, 1_500, 400)
# A blank text is embedded as this, since servers reject blank texts.
_BLANK = "-"
# Parts of the names of models whose vectors can be cut to a wanted length. A server that refuses is asked without one.
_ANY_LENGTH = ("text-embedding-3", "qwen3-embedding", "embeddinggemma", "nomic-embed-text-v1.5")


@dataclass(frozen=True, slots=True)
class OpenAiEmbedder:
    """Embeds texts, 32 in a call."""

    server: Server
    models: ModelSettings
    retry_policy: RetryPolicy
    dialects: Dialects
    is_local: ClassVar[bool] = False

    def embed(self, texts: Sequence[str], *, model: str | None = None, for_query: bool = False) -> list[bytes]:
        """Return the packed unit vector of each text, cut where it is longer than the model allows.

        Raises:
            ModelUnavailable, ModelNotConfigured, ModelRejected: see `request.send`.
            ModelVectorsInvalid: the reply does not hold one vector of one length for each text.
        """
        if not texts:
            return []
        name = select_model(model, self.models.embedding_model, self.models.allowed)
        rows = list(chain.from_iterable(self._batch(name, batch) for batch in batches(texts, _TEXTS)))
        if len({len(row) for row in rows}) != 1:
            raise ModelVectorsInvalid("the embedding model returned vectors of different lengths")
        return [vectors.pack(row, name, for_query=for_query) for row in rows]

    def _batch(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        for characters in _CHARACTERS:
            cut = [text[:characters].strip() or _BLANK for text in texts]
            try:
                return _rows(self._send(model, cut), len(texts))
            except ModelOutputTruncated:
                if characters == _CHARACTERS[-1]:
                    raise
        raise AssertionError("unreachable")  # pragma: no cover

    def _send(self, model: str, texts: list[str]) -> Document:
        dialect = self.dialects.of(model)

        def learn(problem: Problem) -> bool:
            nonlocal dialect
            is_changed = self.dialects.learn(model, problem, dialect)
            dialect = self.dialects.of(model)
            return is_changed

        def document() -> Document:
            return {"model": model, "input": texts, **self._options(model, dialect)}

        return send(self.server, "/embeddings", document, learn, self.retry_policy)[0]

    def _options(self, model: str, dialect: Dialect) -> dict[str, Any]:
        has_any_length = any(part in model.lower() for part in _ANY_LENGTH)
        options: dict[str, Any] = {"encoding_format": "float"} if dialect.has_encoding else {}
        return options | ({"dimensions": self.models.dimensions} if has_any_length and dialect.has_dimensions else {})


def _rows(document: Document, count: int) -> list[list[float]]:
    """Return the vectors in the order of their texts; a server may return them in another one, with an index each."""
    data = document.get("data")
    rows = data if isinstance(data, list) else []
    if len(rows) != count or not all(isinstance(row, dict) for row in rows):
        raise ModelVectorsInvalid("the embedding model did not return one vector for each text")
    if sorted(str(row.get("index")) for row in rows) == sorted(map(str, range(count))):
        rows = sorted(rows, key=lambda row: int(row["index"]))
    return [_vector(row.get("embedding")) for row in rows]


def _vector(value: Any) -> list[float]:
    is_vector = isinstance(value, list) and value and all(isinstance(number, int | float) for number in value)
    if not is_vector:
        raise ModelVectorsInvalid("the embedding model did not return a vector")
    return [float(number) for number in value]
