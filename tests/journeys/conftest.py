"""One local service for all journeys; each test has scopes, streams and banks of its own."""

from collections import Counter
from collections.abc import Iterator

import httpx
import pytest

from infra.local.service import LocalService
from tests.journeys.caller import Caller
from tests.journeys.crowding import Calls, stores


@pytest.fixture(scope="package")
def service(request: pytest.FixtureRequest) -> Iterator[LocalService]:
    """The whole service in this process, by default with the embedded model; the clock moves only when told."""
    parameters = getattr(request, "param", {})
    with LocalService(parameters=parameters, timer_enabled=False) as service:
        yield service


@pytest.fixture(scope="package")
def client(service: LocalService) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=60) as client:
        yield client


@pytest.fixture
def caller(service: LocalService, client: httpx.Client) -> Iterator[Caller]:
    caller = Caller(service, client)
    yield caller
    caller.leave()


@pytest.fixture
def calls(service: LocalService) -> Iterator[Calls]:
    """Watch every call to DynamoDB: none of them may be a Scan."""
    calls, events = Calls(Counter()), stores().table._client.meta.events
    events.register("before-call.dynamodb", calls)
    yield calls
    events.unregister("before-call.dynamodb", calls)
    assert calls.counts.total()
    assert "Scan" not in calls.counts
