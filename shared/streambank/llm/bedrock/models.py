"""The families of embedding models, and the models that take a cache point."""

from __future__ import annotations

import re
from enum import StrEnum

from streambank.errors import ModelNotConfigured

# Claude 3.5 Haiku and 3.7 Sonnet, every Claude whose version comes after its name (4 and later), and the first Nova
# models. Bedrock rejects a cache point for others.
_CACHING = re.compile(
    r"anthropic\.claude-(3-5-haiku|3-7-sonnet|[a-z]+-([4-9]|[1-9][0-9])(?![0-9]))|amazon\.nova-(micro|lite|pro|premier)-v1"
)


class Family(StrEnum):
    """Embedding models that share one request format."""

    TITAN = "amazon.titan-embed-text-v2"
    COHERE_3 = "cohere.embed-english-v3"
    COHERE_3_MULTILINGUAL = "cohere.embed-multilingual-v3"
    COHERE_4 = "cohere.embed-v4"


def model_family(model: str) -> Family:
    """Return the family of *model*; a region's prefix or an ARN before its name does not matter.

    Raises:
        ModelNotConfigured: the model is of no known family.
    """
    for known in Family:
        if known in model:
            return known
    raise ModelNotConfigured("no embedding model of this name is supported")


def takes_cache_point(model: str) -> bool:
    """Tell whether *model* accepts a cache point in its system text; an ARN that does not name its model does not.

    Source: Amazon Bedrock user guide, "Prompt caching for faster model inference", the table of supported models
    (https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html). A prefix that is shorter than a model's
    minimum is not cached, and the request succeeds.
    """
    return _CACHING.search(model) is not None
