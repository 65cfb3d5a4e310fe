"""The choice of a model, and the families of embedding models."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from streambank.errors import ModelNotConfigured
from streambank.rules.model_choice import choose_model


class Family(StrEnum):
    """Embedding models that share one request format."""

    TITAN = "amazon.titan-embed-text-v2"
    COHERE_3 = "cohere.embed-english-v3"
    COHERE_3_MULTILINGUAL = "cohere.embed-multilingual-v3"
    COHERE_4 = "cohere.embed-v4"


def select_model(requested: str | None, default: str, allowed: Collection[str]) -> str:
    """Return the model that a bank requests if it is allowed, else the deployment's.

    Raises:
        ModelNotConfigured: there is none.
    """
    model = choose_model(requested, default, allowed)
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
