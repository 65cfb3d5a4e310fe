"""Which models are used, and how they are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from streambank.errors import ModelNotConfigured

# Google's SDK puts the models of its own service into configurations; here the deployment's own takes their place.
_GOOGLE = ("projects/", "publishers/", "models/", "gemini", "text-embedding-", "text-multilingual-")


@dataclass(frozen=True, slots=True)
class Models:
    """A deployment's models; *dimensions* is the length of vectors where the embedding model offers a choice."""

    model: str
    embedding_model: str
    dimensions: int = 512
    max_output_tokens: int = 4_096
    guardrail: str = ""
    guardrail_version: str = "DRAFT"

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Models:
        """Return what *environment* names; nothing is required before a model is called."""
        return cls(
            model=environment.get("MODEL_ID", ""),
            embedding_model=environment.get("EMBEDDING_MODEL_ID", ""),
            dimensions=int(environment.get("EMBEDDING_DIMENSIONS", "512")),
            max_output_tokens=int(environment.get("MODEL_MAX_OUTPUT_TOKENS", "4096")),
            guardrail=environment.get("GUARDRAIL_ID", ""),
            guardrail_version=environment.get("GUARDRAIL_VERSION", "") or "DRAFT",
        )


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
