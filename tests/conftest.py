"""Fixtures of the whole suite."""

import gc
import os
import ssl
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from hypothesis import HealthCheck, settings

# Before anything builds a client: stream calls would go to a host that moto does not know.
os.environ.setdefault("AWS_ACCOUNT_ID_ENDPOINT_MODE", "disabled")
os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "streambank")

# Each httpx.Client makes one, and reads all certificates for it: 30 ms. Nobody here speaks TLS.
ssl.create_default_context = cache(ssl.create_default_context)

# Each session of boto3 makes one, and reads the descriptions of its services again: 100 ms. They never change.
botocore.session.create_loader = cache(botocore.session.create_loader)

# The emulator and its libraries are many objects that all stay; to look through them again and again takes a tenth of
# the time.
gc.set_threshold(200_000, 20, 20)

TESTS = Path(__file__).parent
# Here modules start services, some for the whole folder.
HAS_SERVICES = {
    "bedrock",
    "benchmarks",
    "blackbox",
    "docs",
    "frameworks",
    "functions",
    "gold",
    "infra",
    "journeys",
    "storm",
    "tracing",
}

# Their tests start services, processes or whole conversations, seconds each; what they test has fast tests elsewhere.
SLOW_MODULES = {
    "test_bedrock_journey.py",
    "test_evaluation.py",
    "test_blackbox.py",
    "test_demo.py",
    "test_disk_damage.py",
    "test_docs_examples.py",
    "test_gold_basic.py",
    "test_journey_example_chat_backend.py",
    "test_personal_data_journey.py",
    "test_local_data.py",
    "test_local_journal.py",
    "test_local_models.py",
    "test_pipeline_erase_large.py",
    "test_tracing_failures.py",
}

settings.register_profile("streambank", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("streambank-fast", settings.get_profile("streambank"), max_examples=25)
settings.load_profile("streambank")


def pytest_configure(config: pytest.Config) -> None:
    """Let the fast suite try fewer examples of each property than `make test-all`, which tries a hundred."""
    if config.getoption("markexpr") == "not slow":
        settings.load_profile("streambank-fast")


def pytest_unconfigure() -> None:
    """Let pytest's last collections pass over what is left: the emulator's objects take them seconds."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the folders with services first: a worker keeps a service while it runs modules of one folder.

    The short modules that come last keep all workers busy to the end.
    """
    for item in items:
        if item.path.name in SLOW_MODULES:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.path.relative_to(TESTS).parts[0] not in HAS_SERVICES)


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
