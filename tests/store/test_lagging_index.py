"""The index that lags, as tests use it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from benchmarks.units import Meter
from tests import aws
from tests.lagging_index import LaggingIndex
from tests.stack.vector_table import TABLE, item, made, names, search
from tests.world import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def table() -> Iterator[Any]:
    with aws.dynamodb() as client, made(client):
        for one in (item("changed", 1, 0, 0, w={"S": "old"}), item("deleted", 1, 0, 0), item("kept", 1, 0, 0)):
            client.put_item(TableName=TABLE, Item=one)
        yield client


@pytest.fixture
def index(table: Any, clock: Clock) -> LaggingIndex:
    return LaggingIndex(table, clock, TABLE)


def change(table: Any) -> None:
    table.put_item(TableName=TABLE, Item=item("changed", 0, 1, 0, w={"S": "new"}))
    table.put_item(TableName=TABLE, Item=item("added", 1, 0, 0))
    table.delete_item(TableName=TABLE, Key={"PK": {"S": "p"}, "SK": {"S": "deleted"}})


def test_an_index_that_does_not_lag_is_that_of_the_table(table, index):
    """Until it falls behind, a search gets what is there."""
    change(table)
    assert names(search(table, 1, 0, 0)) == ["added", "kept", "changed"]


def test_an_index_that_lags_has_what_was_there(table, index, clock):
    """Deleted entries still appear, new ones are missing and changed ones are old, until the clock has moved."""
    index.fall_behind(timedelta(seconds=5))
    change(table)
    reply = search(table, 1, 0, 0)
    assert names(reply) == ["changed", "deleted", "kept"]
    assert reply["SearchResults"][0]["Item"]["w"] == {"S": "old"}
    clock.move(seconds=4)
    assert names(search(table, 1, 0, 0)) == ["changed", "deleted", "kept"]
    clock.move(seconds=1)
    assert names(search(table, 1, 0, 0)) == ["added", "kept", "changed"]


def test_an_index_may_have_entries_twice(table, index, clock):
    """What did not change appears twice, and what changed as it was and as it is."""
    index.fall_behind(timedelta(seconds=5), doubled=True)
    change(table)
    assert names(search(table, 1, 0, 0)) == ["added", "changed", "deleted", "kept", "kept", "changed"]


def test_an_index_catches_up(table, index):
    """A test can end the lag before its time."""
    index.fall_behind(timedelta(days=1))
    change(table)
    index.catch_up()
    assert names(search(table, 1, 0, 0)) == ["added", "kept", "changed"]


def test_a_wrong_search_is_refused_and_a_right_one_is_counted(table, index):
    """Errors are the emulator's own, and meters see the searches of a lagging index."""
    index.fall_behind(timedelta(days=1))
    with pytest.raises(ClientError, match="does not have the specified index"):
        search(table, 1, 0, 0, IndexName="none")
    with Meter(table, TABLE).running() as bill:
        search(table, 1, 0, 0)
    assert (bill.round_trips, bill.vector_bytes) == (1, 4 * 3 * (3 + 1))
