"""Fixtures of the whole suite."""

import os
import ssl
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Before anything builds a client: stream calls would go to a host that moto does not know.
os.environ.setdefault("AWS_ACCOUNT_ID_ENDPOINT_MODE", "disabled")
os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "streambank")

# Each httpx.Client makes one, and reads all certificates for it: 30 ms. Nobody here speaks TLS.
ssl.create_default_context = cache(ssl.create_default_context)

TESTS = Path(__file__).parent
JOURNEYS = sorted(module.name for module in TESTS.glob("journeys/test_*.py"))
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
# Where a module starts a service, or changes what is the process's, for all of its tests.
HAS_SERVICES = {"bedrock", "benchmarks", "docs", "functions", "gold", "infra", "storm", "tracing"}

settings.register_profile("streambank", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("streambank")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what shares a service into a group, and the groups first; a worker takes whole groups, then what is left."""
    for item in items:
        if group := _group(item.path):
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: _group(item.path) is None)


def _group(module: Path) -> str | None:
    """Return the name of the group that a module's tests are in: all of them run on one worker, one after the other."""
    folder = module.relative_to(TESTS).parts[0]
    if folder == "journeys":  # one service for each worker, which it starts once
        return f"journeys {JOURNEYS.index(module.name) % WORKERS}"
    return str(module.relative_to(TESTS)) if folder in HAS_SERVICES else None


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
