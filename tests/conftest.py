"""Fixtures of the whole suite."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Before anything builds a client: stream calls would go to a host that moto does not know.
os.environ.setdefault("AWS_ACCOUNT_ID_ENDPOINT_MODE", "disabled")
os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "streambank")

settings.register_profile("streambank", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("streambank")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep journeys, which share one service and its environment, on a worker of their own."""
    for item in items:
        is_journey = "journeys" in item.path.parts
        item.add_marker(pytest.mark.xdist_group("journeys" if is_journey else "pieces"))


@pytest.fixture(scope="module")
def emulator() -> Iterator[Any]:
    """One emulator for a module: a table that is emptied costs a tenth of a new one."""
    from tests import aws

    with aws.dynamodb() as client:
        yield client


@pytest.fixture
def world(emulator: Any) -> Any:
    """The service over an empty table."""
    from tests import aws
    from tests.world import World

    aws.empty(emulator)
    return World(emulator)
