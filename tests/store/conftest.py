"""One emulator for a module: a table that is emptied costs a tenth of a new one."""

import pytest

from tests import aws
from tests.world import World


@pytest.fixture(scope="module")
def emulator():
    with aws.dynamodb() as client:
        yield client


@pytest.fixture
def world(emulator):
    """The service over an empty table."""
    yield World(emulator)
    for item in aws.dump(emulator):
        emulator.delete_item(TableName=aws.TABLE, Key={"PK": item["PK"], "SK": item["SK"]})
