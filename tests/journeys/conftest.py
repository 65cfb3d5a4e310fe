"""One local service for all journeys; each test has scopes, streams and banks of its own."""

import os
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import cast

import httpx
import pytest

from streambank_local.service import LocalService
from tests.bedrock.thinking import bedrock_service
from tests.journeys.caller import Caller
from tests.journeys.crowding import Calls, wiring
from tests.openai.service import openai_service
from tests.stack.deployed import Deployed

# `make test-all` plays the journeys with each of them too.
ADAPTERS = {"bedrock": bedrock_service, "openai": openai_service}


@pytest.fixture(scope="package")
def service(request: pytest.FixtureRequest) -> Iterator[LocalService]:
    """The whole service in this process, by default with the embedded model; the clock moves only when told.

    `Region` among the parameters is the region of Bedrock, which is no parameter of the template.
    """
    parameters = getattr(request, "param", {})
    deployed = Deployed.named()
    if deployed and parameters not in ({}, {"AuthMode": "keys"}):
        pytest.skip("needs a stack with other parameters")
    if deployed:  # `make test-stack` plays the journeys against a stack that it has deployed
        yield cast("LocalService", deployed)
        return
    # Tests that choose the model themselves, such as one that is not configured, keep theirs.
    adapter = None if "Model" in parameters else ADAPTERS.get(os.environ.get("STREAMBANK_JOURNEYS_MODEL", ""))
    if adapter:
        with adapter(**parameters) as service:
            yield service
        return
    chosen = {name: value for name, value in parameters.items() if name != "Region"}
    with pytest.MonkeyPatch.context() as patch:
        if "Region" in parameters:
            patch.setenv("BEDROCK_REGION", parameters["Region"])
        with LocalService(parameters=chosen, timer_enabled=False) as service:
            yield service


@pytest.fixture(scope="package")
def client(service: LocalService) -> Iterator[httpx.Client]:
    token = getattr(service, "token", "local")
    with httpx.Client(base_url=service.base_url, headers={"authorization": f"Bearer {token}"}, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def rested(service: LocalService) -> None:
    """What other callers of this service left behind has fired, so that a module may count generations."""
    if not Deployed.named():  # there tests that count are skipped one by one
        assert service.advance(timedelta(hours=25))


@pytest.fixture
def caller(service: LocalService, client: httpx.Client) -> Iterator[Caller]:
    caller = Caller(service, client)
    yield caller
    caller.leave()


@pytest.fixture
def calls(service: LocalService) -> Iterator[Calls]:
    """Watch every call to DynamoDB: none of them may be a Scan."""
    if Deployed.named():
        pytest.skip("needs the service in this process")
    calls, events = Calls(Counter()), wiring().deployment.table._client.meta.events
    events.register("before-call.dynamodb", calls)
    yield calls
    events.unregister("before-call.dynamodb", calls)
    assert calls.counts.total()
    assert "Scan" not in calls.counts
