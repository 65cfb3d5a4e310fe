"""Journeys of the embedded model, played once more through Bedrock's adapters; `make test-all` plays all of them."""

from collections.abc import Iterator

import pytest

from infra.local.service import LocalService
from tests.bedrock.thinking import bedrock_service
from tests.journeys.conftest import caller, client  # noqa: F401  fixtures
from tests.journeys.test_journey_memories import *  # noqa: F403
from tests.journeys.test_journey_operations import *  # noqa: F403
from tests.journeys.test_journey_timers import *  # noqa: F403


@pytest.fixture(scope="package")
def service() -> Iterator[LocalService]:
    with bedrock_service() as service:
        yield service
