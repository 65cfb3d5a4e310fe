"""The emulator's faster queries and scans read the pages that moto's own read."""

import itertools
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models.dynamo_type import DynamoType

from streambank_local.emulator import moto_repair

TABLE = "table"
SORT_KEYS = [f"{kind}#{number:02}" for kind in "ACB" for number in (3, 1, 2)] + ["é", "~", "HEAD"]
CONDITIONS = {
    "": (),
    " AND SK = :a": ("B#02",),
    " AND SK < :a": ("B#02",),
    " AND SK <= :a": ("B#02",),
    " AND SK > :a": ("B#02",),
    " AND SK >= :a": ("B#02",),
    " AND begins_with(SK, :a)": ("B#",),
    " AND SK BETWEEN :a AND :b": ("A#02", "C#01"),
}


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    """Yield a client in front of three partitions, of which two items fill a page and others fit together."""
    moto_repair.install()
    with mock_aws():
        client: Any = boto3.Session("test", "test", region_name="us-east-1").client("dynamodb")
        client.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
            BillingMode="PAY_PER_REQUEST",
        )
        for partition, sort_key in itertools.product("qpr", SORT_KEYS):
            size = 350_000 if "#02" in sort_key else 1
            item = {"PK": {"S": partition}, "SK": {"S": sort_key}, "size": {"S": "x" * size}}
            client.put_item(TableName=TABLE, Item=item)
        yield client


def pages(call: Any, **request: Any) -> list[list[Any]]:
    """Return the keys on each page; moto's own last page may be empty where a large item comes after it."""
    read = []
    while not read or "ExclusiveStartKey" in request:
        reply = call(TableName=TABLE, **request)
        read.append([(item["PK"]["S"], item["SK"]["S"]) for item in reply["Items"]])
        request.pop("ExclusiveStartKey", None)
        request |= {"ExclusiveStartKey": reply["LastEvaluatedKey"]} if "LastEvaluatedKey" in reply else {}
    return [keys for keys in read if keys]


def without_repairs(read: Any) -> Any:
    """Return what *read* returns from moto as it is."""
    moto_repair.uninstall()
    try:
        return read()
    finally:
        moto_repair.install()


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_query_reads_the_same_pages(dynamodb: Any, condition: str) -> None:
    """Every condition, in both directions, gives the pages of moto's own query, whatever their limit."""
    values = {f":{name}": {"S": value} for name, value in zip("ab", CONDITIONS[condition], strict=False)}

    def read() -> list[Any]:
        return [
            pages(
                dynamodb.query,
                KeyConditionExpression="PK = :p" + condition,
                ExpressionAttributeValues={":p": {"S": "p"}, **values},
                ScanIndexForward=forward,
                **({"Limit": limit} if limit else {}),
            )
            for forward, limit in itertools.product((True, False), (None, 1, 2, 3))
        ]

    fast = read()
    assert fast == without_repairs(read)
    assert all(fast), "each condition is true of an item"


@pytest.mark.parametrize("request_", [{}, {"Limit": 1}, {"Limit": 5}])
def test_a_scan_reads_the_same_pages(dynamodb: Any, request_: dict[str, Any]) -> None:
    """A scan of the table gives the pages of moto's own scan, whatever their limit."""
    read = lambda: pages(dynamodb.scan, **request_)
    fast = read()
    assert len(fast) > 1
    assert fast == without_repairs(read)


def test_later_pages_do_not_compare_the_items_of_earlier_ones(dynamodb: Any) -> None:
    """Reading a partition in pages of one item makes a few comparisons for each page, not one for each item."""
    compared = 0

    def count(key: Any, other: Any) -> bool:
        nonlocal compared
        compared += 1
        return bool(key.cast_value < other.cast_value)

    query = {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}, "Limit": 1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DynamoType, "__lt__", count)
        number = len(pages(dynamodb.query, **query))
    assert number == len(SORT_KEYS)
    assert compared <= 4 * number


def test_an_expression_that_was_used_before_takes_its_new_values(dynamodb: Any) -> None:
    """The same update expression changes another item, with other values, as if it had not been used before."""
    keys = [{"PK": {"S": "counters"}, "SK": {"S": name}} for name in "ab"]
    for number, key in enumerate(keys, 1):
        dynamodb.update_item(
            TableName=TABLE,
            Key=key,
            UpdateExpression="SET n = if_not_exists(n, :zero) + :number",
            ExpressionAttributeValues={":zero": {"N": "0"}, ":number": {"N": str(number)}},
        )
    stored = [dynamodb.get_item(TableName=TABLE, Key=key)["Item"]["n"] for key in keys]
    for key in keys:
        dynamodb.delete_item(TableName=TABLE, Key=key)
    assert stored == [{"N": "1"}, {"N": "2"}]
