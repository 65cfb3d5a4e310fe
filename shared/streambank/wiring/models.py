"""Which models a deployment has, and who pays for their calls."""

from __future__ import annotations

import os
import random
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from streambank.wiring import overrides, stores

if TYPE_CHECKING:
    from streambank.llm.bedrock.converse import Converse
    from streambank.llm.ports import Consolidator, Embedder, Extractor
    from streambank.pipeline.generation.token_budget import TokenBudget
    from streambank.store.usage import UsageStore


@cache
def usage_store() -> UsageStore:
    """Return the books about model calls."""
    from streambank.store.usage import UsageStore

    return UsageStore(stores().table)


@cache
def token_budget() -> TokenBudget:
    """Return what holds model calls within their budgets."""
    from streambank.pipeline.generation.token_budget import TokenBudget

    settings = stores().settings
    return TokenBudget(usage_store(), settings.daily_tokens, settings.call_tokens, settings.prices)


@cache
def _bedrock() -> Any:
    """Return the client; boto3 heeds AWS_ENDPOINT_URL_BEDROCK_RUNTIME. It sends once, since `request.send` retries."""
    config = Config(
        connect_timeout=3,
        read_timeout=stores().settings.model_timeout_seconds,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    return boto3.client("bedrock-runtime", config=config, region_name=os.environ.get("BEDROCK_REGION") or None)


def _converse() -> Converse:
    from streambank.llm.bedrock.converse import Converse
    from streambank.llm.bedrock.models import Models
    from streambank.llm.bedrock.request import bedrock_retry_policy

    return Converse(_bedrock(), Models.read(os.environ), bedrock_retry_policy(time.sleep, random.random))


@cache
def extractor() -> Extractor:
    """Return who proposes facts."""
    if overrides.current.models:
        return overrides.current.models.extractor()
    from streambank.llm.bedrock.extractor import BedrockExtractor

    return BedrockExtractor(_converse())


@cache
def consolidator() -> Consolidator:
    """Return who decides what facts mean for memories."""
    if overrides.current.models:
        return overrides.current.models.consolidator()
    from streambank.llm.bedrock.consolidator import BedrockConsolidator

    return BedrockConsolidator(_converse())


@cache
def embedder() -> Embedder:
    """Return who maps texts to vectors."""
    if overrides.current.models:
        return overrides.current.models.embedder()
    from streambank.llm.bedrock.embedder import BedrockEmbedder
    from streambank.llm.bedrock.models import Models
    from streambank.llm.bedrock.request import bedrock_retry_policy

    return BedrockEmbedder(_bedrock(), Models.read(os.environ), bedrock_retry_policy(time.sleep, random.random))


# Built once; another environment builds them anew.
BUILT = (extractor, consolidator, embedder, usage_store, token_budget, _bedrock)
