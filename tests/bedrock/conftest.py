"""The adapters, with a scripted Converse server over real HTTP."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from streambank.llm.bedrock.converse import Converse
from streambank.llm.dialogue.consolidator import ModelConsolidator
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.dialogue.retries import model_retry_policy
from tests.bedrock.converse_server import Bedrock, running
from tests.bedrock.requests import MODELS


@pytest.fixture
def server() -> Iterator[Bedrock]:
    with running(Bedrock()) as server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(server: Bedrock) -> Any:
    config = Config(read_timeout=1, retries={"total_max_attempts": 1})
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    return boto3.client("bedrock-runtime", endpoint_url=server.url, config=config, **keys)


@pytest.fixture
def converse(client: Any, pauses: list[float]) -> Converse:
    pause: Callable[[float], None] = pauses.append
    return Converse(client, MODELS, model_retry_policy(pause, lambda: 0.5))


@pytest.fixture
def extractor(converse: Converse) -> ModelExtractor:
    return ModelExtractor(converse)


@pytest.fixture
def consolidator(converse: Converse) -> ModelConsolidator:
    return ModelConsolidator(converse)
