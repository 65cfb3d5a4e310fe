"""The models of a deployment: Amazon Bedrock's, a server's, or those that stand in their place."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any

import boto3
import urllib3
from botocore.config import Config

from streambank.llm.bedrock.converse import Converse
from streambank.llm.bedrock.embedder import BedrockEmbedder
from streambank.llm.dialogue.consolidator import ModelConsolidator
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.dialogue.retries import model_retry_policy
from streambank.llm.openai.chat import ChatCompletions
from streambank.llm.openai.dialect import Dialects
from streambank.llm.openai.embedder import OpenAiEmbedder
from streambank.llm.openai.server import Server
from streambank.llm.ports import ModelProvider
from streambank.retry import RetryPolicy
from streambank.settings import ModelProviderName, ModelSettings
from streambank.wiring import overrides
from streambank.wiring.model_key import ModelKey

# Windows of one process at once, in local mode; a function in Lambda sends one request at a time.
_CONNECTIONS = 16


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


@dataclass(frozen=True, slots=True)
class OpenAiModels:
    """Builds the adapters over one pool of connections."""

    pool: urllib3.PoolManager
    settings: ModelSettings
    key: ModelKey
    dialects: Dialects = field(default_factory=Dialects)

    def extractor(self) -> ModelExtractor:
        """Return the model that proposes facts."""
        return ModelExtractor(self._chat())

    def consolidator(self) -> ModelConsolidator:
        """Return the model that decides what facts mean for memories."""
        return ModelConsolidator(self._chat())

    def embedder(self) -> OpenAiEmbedder:
        """Return the model that maps texts to vectors."""
        server = self._server(self.settings.openai.embedding_base_url)
        return OpenAiEmbedder(server, self.settings, _retry_policy(), self.dialects)

    def _chat(self) -> ChatCompletions:
        server = self._server(self.settings.openai.base_url)
        return ChatCompletions(server, self.settings, _retry_policy(), self.dialects)

    def _server(self, url: str) -> Server:
        return Server(url, self.key, self.pool, self.settings.timeout_seconds, time.monotonic)


def _retry_policy() -> RetryPolicy:
    return model_retry_policy(time.sleep, random.random)


def provider(settings: ModelSettings) -> ModelProvider:
    """Return where a deployment's models come from."""
    if overrides.current.models:
        return overrides.current.models
    if settings.provider is ModelProviderName.OPENAI:
        return OpenAiModels(urllib3.PoolManager(maxsize=_CONNECTIONS), settings, ModelKey(settings.openai))
    return BedrockModels(bedrock_client(settings, boto3), settings)


def bedrock_client(settings: ModelSettings, session: Any) -> Any:
    """Return *session*'s client, which sends once: `llm.bedrock.request` repeats.

    boto3 reads AWS_ENDPOINT_URL_BEDROCK_RUNTIME.
    """
    config = Config(
        connect_timeout=3,
        read_timeout=settings.timeout_seconds,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    return session.client("bedrock-runtime", config=config, region_name=settings.region or None)
