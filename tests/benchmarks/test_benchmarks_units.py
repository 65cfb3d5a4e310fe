"""The meter counts what DynamoDB charges for a vector index."""

from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.units import Meter
from tests import aws

KEY = {"PK": {"S": "S#1"}, "SK": {"S": "M#1"}}
VECTOR = {"L": [{"N": "0.5"}] * 1024}
ENTRY = KEY | {"VPK": {"S": "b"}, "v": VECTOR, "w": {"S": "w" * 20}}
# Names and values of the entry but the vector: PK, SK, VPK, w, and the name v.
BESIDE = (2 + 3) + (2 + 3) + (3 + 1) + (1 + 20) + 1


@pytest.fixture
def client() -> Iterator[Any]:
    with aws.dynamodb() as client:
        yield client


def search(client: Any) -> Any:
    return client.search_vectors(
        TableName=aws.TABLE,
        IndexName="vectors",
        SearchVector=VECTOR["L"],
        TopK=1,
        SearchConditionExpression="VPK = :b",
        ExpressionAttributeValues={":b": {"S": "b"}},
    )


def test_a_search_is_a_round_trip_and_the_bytes_it_examined(client):
    """Four bytes a number, of the entries with the hash and of the vector that is looked for."""
    for number in range(3):
        client.put_item(TableName=aws.TABLE, Item=ENTRY | {"SK": {"S": f"M#{number}"}})
    with Meter(client, aws.TABLE).running() as bill:
        search(client)
        search(client)
    assert (bill.round_trips, bill.calls) == (2, {"SearchVectors": 2})
    assert bill.vector_bytes == 2 * 4 * 1024 * (3 + 1)
    assert bill.read_units == 0


def test_an_entry_is_charged_where_a_write_changes_it(client):
    """An entry is written with its item, and again only if something that it holds changes; the least is a KB."""
    meter = Meter(client, aws.TABLE)
    with meter.running() as bill:
        client.put_item(TableName=aws.TABLE, Item=ENTRY)
    assert bill.vector_write_bytes == 4 * 1024 + BESIDE
    assert bill.write_units == 5, "the vector has four bytes a number in the table too"
    with meter.running() as bill:
        client.put_item(TableName=aws.TABLE, Item=ENTRY | {"fact": {"S": "not in the index"}})
    assert bill.vector_write_bytes == 0
    with meter.running() as bill:
        client.delete_item(TableName=aws.TABLE, Key=KEY)
        client.put_item(TableName=aws.TABLE, Item={name: ENTRY[name] for name in ("PK", "SK", "w")})
    assert bill.vector_write_bytes == 4 * 1024 + BESIDE
