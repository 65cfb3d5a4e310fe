"""How models are chosen, and how embedding models differ."""

from __future__ import annotations

from enum import StrEnum

from streambank.errors import ModelNotConfigured

# Google's SDK puts the models of its own service into configurations; here the deployment's own takes their place.
_GOOGLE = ("projects/", "publishers/", "models/", "gemini", "text-embedding-", "text-multilingual-")


class Family(StrEnum):
    """Embedding models that take the same requests."""

    TITAN = "amazon.titan-embed-text-v2"
    COHERE_3 = "cohere.embed-english-v3"
    COHERE_3_MULTILINGUAL = "cohere.embed-multilingual-v3"
    COHERE_4 = "cohere.embed-v4"


def chosen(asked: str | None, default: str) -> str:
    """Return the model that a bank asked for, else the deployment's. Raises ModelNotConfigured if there is none."""
    is_own = asked and not asked.startswith(_GOOGLE)
    model = asked if is_own and asked else default
    if not model:
        raise ModelNotConfigured("this deployment names no model")
    return model


def family(model: str) -> Family:
    """Return how *model* is spoken to; a region's prefix or an ARN before its name does not matter."""
    for known in Family:
        if known in model:
            return known
    raise ModelNotConfigured("no embedding model of that name is known here")
