"""Journeys of the embedded model, played once more through Bedrock's adapters; `make test-all` plays all of them."""

from collections.abc import Iterator

import httpx
import pytest

from streambank_local.service import LocalService
from tests.bedrock.thinking import bedrock_service
from tests.journeys.caller import Caller
from tests.journeys.test_journey_memories import *  # noqa: F403
from tests.journeys.test_journey_operations import *  # noqa: F403

pytestmark = pytest.mark.slow  # a minute; `make test-all` plays them


@pytest.fixture(scope="module")
def service() -> Iterator[LocalService]:
    with bedrock_service() as service:
        yield service


@pytest.fixture(scope="module")
def client(service: LocalService) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=60) as client:
        yield client


@pytest.fixture
def caller(service: LocalService, client: httpx.Client) -> Iterator[Caller]:
    caller = Caller(service, client)
    yield caller
    caller.leave()
