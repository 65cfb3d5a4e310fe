"""The models of a deployment: Amazon Bedrock's, or those that stand in their place."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config

from streambank.llm.bedrock.converse import Converse
from streambank.llm.bedrock.embedder import BedrockEmbedder
from streambank.llm.dialogue.consolidator import ModelConsolidator
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.dialogue.retries import model_retry_policy
from streambank.llm.ports import ModelProvider
from streambank.retry import RetryPolicy
from streambank.settings import ModelSettings
from streambank.wiring import overrides


@dataclass(frozen=True, slots=True)
class BedrockModels:
    """Builds the adapters over one client."""

    client: Any
    settings: ModelSettings

    def extractor(self) -> ModelExtractor:
        """Return the model that proposes facts."""
        return ModelExtractor(self._converse())

    def consolidator(self) -> ModelConsolidator:
        """Return the model that decides what facts mean for memories."""
        return ModelConsolidator(self._converse())

    def embedder(self) -> BedrockEmbedder:
        """Return the model that maps texts to vectors."""
        return BedrockEmbedder(self.client, self.settings, _retry_policy())

    def _converse(self) -> Converse:
        return Converse(self.client, self.settings, _retry_policy())


def _retry_policy() -> RetryPolicy:
    return model_retry_policy(time.sleep, random.random)


def provider(settings: ModelSettings) -> ModelProvider:
    """Return where a deployment's models come from."""
    return overrides.current.models or BedrockModels(_client(settings), settings)


def _client(settings: ModelSettings) -> Any:
    """Return the client; it sends once: `llm.bedrock.request` repeats. boto3 reads AWS_ENDPOINT_URL_BEDROCK_RUNTIME."""
    config = Config(
        connect_timeout=3,
        read_timeout=settings.timeout_seconds,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    return boto3.client("bedrock-runtime", config=config, region_name=settings.region or None)
