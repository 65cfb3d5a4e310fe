"""The choice of a model, and the families of embedding models."""

from __future__ import annotations

from enum import StrEnum

from streambank.errors import ModelNotConfigured

# Google's SDK names models of its own service in configurations; the deployment's model is used in their place.
_GOOGLE_PREFIXES = ("projects/", "publishers/", "models/", "gemini", "text-embedding-", "text-multilingual-")


class Family(StrEnum):
    """Embedding models that share one request format."""

    TITAN = "amazon.titan-embed-text-v2"
    COHERE_3 = "cohere.embed-english-v3"
    COHERE_3_MULTILINGUAL = "cohere.embed-multilingual-v3"
    COHERE_4 = "cohere.embed-v4"


def select_model(requested: str | None, default: str) -> str:
    """Return the model that a bank requests, else the deployment's. Raises ModelNotConfigured if there is none."""
    is_usable = requested and not requested.startswith(_GOOGLE_PREFIXES)
    model = requested if is_usable and requested else default
    if not model:
        raise ModelNotConfigured("this deployment names no model")
    return model


def model_family(model: str) -> Family:
    """Return the family of *model*; a region's prefix or an ARN before its name does not matter.

    Raises:
        ModelNotConfigured: the model is of no known family.
    """
    for known in Family:
        if known in model:
            return known
    raise ModelNotConfigured("no embedding model of this name is supported")
