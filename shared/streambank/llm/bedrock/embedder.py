"""Vectors from Amazon Titan Text Embeddings V2 and Cohere Embed on Bedrock."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from streambank.errors import ModelVectorsInvalid
from streambank.llm.bedrock.models import Family, model_family
from streambank.llm.bedrock.request import send
from streambank.llm.dialogue.model_names import select_model
from streambank.retry import RetryPolicy
from streambank.rules import vectors
from streambank.rules.batches import batches
from streambank.settings import ModelSettings

# Cohere accepts 96 texts a call, of 2,048 characters each in version 3; Titan accepts one text of 50,000 characters
# (Amazon Bedrock user guide, "Cohere Embed models" and "Amazon Titan Text Embeddings").
_COHERE_TEXTS = 96
_MAX_CHARACTERS = {
    Family.TITAN: 40_000,
    Family.COHERE_3: 2_048,
    Family.COHERE_3_MULTILINGUAL: 2_048,
    Family.COHERE_4: 40_000,
}
_CONCURRENT_CALLS = 8
# A blank text is embedded as this, since the services reject blank texts.
_BLANK = "-"

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BedrockEmbedder:
    """Embeds texts: Cohere takes 96 in a call, Titan one in a call, with eight calls at once."""

    client: Any
    models: ModelSettings
    retry_policy: RetryPolicy
    is_local: ClassVar[bool] = False

    def embed(self, texts: Sequence[str], *, model: str | None = None, for_query: bool = False) -> list[bytes]:
        """Return the packed unit vector of each text, cut where it is longer than the model allows.

        Raises:
            ModelUnavailable, ModelNotConfigured, ModelRejected: see `request.send`.
            ModelVectorsInvalid: the reply does not hold one vector for each text.
        """
        if not texts:
            return []
        name = select_model(model, self.models.embedding_model, self.models.allowed)
        kind = model_family(name)
        cut = [text[: _MAX_CHARACTERS[kind]].strip() or _BLANK for text in texts]
        numbers = self._titan(name, cut) if kind is Family.TITAN else self._cohere(name, kind, cut, for_query)
        return [vectors.pack(one, kind, for_query=for_query) for one in numbers]

    def _titan(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        def one(text: str) -> list[float]:
            body = {"inputText": text, "dimensions": self.models.dimensions, "normalize": True}
            return _vector(self._invoke(model, body).get("embedding"))

        if len(texts) == 1:
            return [one(texts[0])]
        with ThreadPoolExecutor(_CONCURRENT_CALLS) as pool:
            return list(pool.map(one, texts))

    def _cohere(self, model: str, kind: Family, texts: Sequence[str], for_query: bool) -> list[list[float]]:  # noqa: FBT001
        body: Body = {"input_type": "search_query" if for_query else "search_document", "embedding_types": ["float"]}
        is_new = kind is Family.COHERE_4
        body |= {"truncate": "RIGHT", "output_dimension": self.models.dimensions} if is_new else {"truncate": "END"}
        rows = (self._cohere_batch(model, {**body, "texts": batch}) for batch in batches(texts, _COHERE_TEXTS))
        return list(chain.from_iterable(rows))

    def _cohere_batch(self, model: str, body: Body) -> list[list[float]]:
        embeddings = self._invoke(model, body).get("embeddings")
        rows = embeddings.get("float") if isinstance(embeddings, dict) else embeddings
        if not isinstance(rows, list) or len(rows) != len(body["texts"]):
            raise ModelVectorsInvalid("the embedding model did not return one vector for each text")
        return [_vector(row) for row in rows]

    def _invoke(self, model: str, body: Body) -> Mapping[str, Any]:
        text = json.dumps(body)

        def request() -> Mapping[str, Any]:
            reply = self.client.invoke_model(
                modelId=model, body=text, contentType="application/json", accept="application/json"
            )
            return _json(reply["body"].read())

        return send(request, self.retry_policy)[0]


def _json(raw: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ModelVectorsInvalid("the embedding model did not return a JSON object")
    return value


def _vector(value: Any) -> list[float]:
    is_vector = isinstance(value, list) and value and all(isinstance(number, int | float) for number in value)
    if not is_vector:
        raise ModelVectorsInvalid("the embedding model did not return a vector")
    return [float(number) for number in value]
