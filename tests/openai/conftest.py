"""The adapters, with a scripted server that speaks OpenAI's API over real HTTP."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import urllib3

from streambank.llm.dialogue.consolidator import ModelConsolidator
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.dialogue.retries import model_retry_policy
from streambank.llm.openai.chat import ChatCompletions
from streambank.llm.openai.dialect import Dialects
from streambank.llm.openai.embedder import OpenAiEmbedder
from streambank.llm.openai.server import Server
from tests.bedrock.requests import MODELS as BEDROCK_MODELS
from tests.openai.chat_server import OpenAi, running

MODELS = replace(BEDROCK_MODELS, model="some/model:7b", embedding_model="some-embedding")
KEY = "sk-very-secret-key"


@pytest.fixture
def server() -> Iterator[OpenAi]:
    with running(OpenAi()) as server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def http(server: OpenAi) -> Iterator[Server]:
    with urllib3.PoolManager(maxsize=4) as pool:
        yield Server(f"{server.url}/v1", lambda: KEY, pool, 1.0, time.monotonic)


@pytest.fixture
def chat(http: Server, pauses: list[float]) -> ChatCompletions:
    pause: Callable[[float], None] = pauses.append
    return ChatCompletions(http, MODELS, model_retry_policy(pause, lambda: 0.5), Dialects())


@pytest.fixture
def extractor(chat: ChatCompletions) -> ModelExtractor:
    return ModelExtractor(chat)


@pytest.fixture
def consolidator(chat: ChatCompletions) -> ModelConsolidator:
    return ModelConsolidator(chat)


@pytest.fixture
def embedder(chat: ChatCompletions) -> OpenAiEmbedder:
    return OpenAiEmbedder(chat.server, chat.models, chat.retry_policy, chat.dialects)
