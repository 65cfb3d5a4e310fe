"""The models of a deployment, and the families of embedding models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from streambank.errors import ModelNotConfigured

# Google's SDK names models of its own service in configurations; the deployment's model is used in their place.
_GOOGLE_PREFIXES = ("projects/", "publishers/", "models/", "gemini", "text-embedding-", "text-multilingual-")


@dataclass(frozen=True, slots=True)
class Models:
    """A deployment's models; *dimensions* is the length of a vector, if the embedding model offers a choice."""

    model: str
    embedding_model: str
    dimensions: int = 512
    max_output_tokens: int = 4_096
    guardrail: str = ""
    guardrail_version: str = "DRAFT"

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Models:
        """Return the models that *environment* names; a missing name is an error only when a model is called."""
        return cls(
            model=environment.get("MODEL_ID", ""),
            embedding_model=environment.get("EMBEDDING_MODEL_ID", ""),
            dimensions=int(environment.get("EMBEDDING_DIMENSIONS", "512")),
            max_output_tokens=int(environment.get("MODEL_MAX_OUTPUT_TOKENS", "4096")),
            guardrail=environment.get("GUARDRAIL_ID", ""),
            guardrail_version=environment.get("GUARDRAIL_VERSION", "") or "DRAFT",
        )


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
