"""The emulator's queries of an index see every change of the table at once, as moto's own do."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.dynamodb.models.table import Table

from streambank_local.emulator import moto_repair

TABLE = "table"
NAMES = ("PK", "SK", "place", "rank")


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    """Yield a client in front of a table whose index has three items in two partitions, and one item outside."""
    moto_repair.install()
    with mock_aws():
        client: Any = boto3.Session("test", "test", region_name="us-east-1").client("dynamodb")
        index = {
            "IndexName": "places",
            "KeySchema": [
                {"AttributeName": "place", "KeyType": "HASH"},
                {"AttributeName": "rank", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
        client.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in NAMES],
            GlobalSecondaryIndexes=[index],
            BillingMode="PAY_PER_REQUEST",
        )
        yield client


def key(name: str) -> dict[str, Any]:
    return {"PK": {"S": name}, "SK": {"S": name}}


def item(name: str, place: str) -> dict[str, Any]:
    return {**key(name), "place": {"S": place}, "rank": {"S": name}}


@pytest.fixture(autouse=True)
def items(dynamodb: Any) -> None:
    for found in dynamodb.scan(TableName=TABLE)["Items"]:
        dynamodb.delete_item(TableName=TABLE, Key={"PK": found["PK"], "SK": found["SK"]})
    for one in (item("a", "x"), item("b", "x"), item("c", "y"), key("d")):
        dynamodb.put_item(TableName=TABLE, Item=one)


def read(dynamodb: Any) -> dict[str, list[str]]:
    """Return the names of the items in each partition of the index."""
    query = {"TableName": TABLE, "IndexName": "places", "KeyConditionExpression": "place = :place"}
    return {
        place: [
            one["rank"]["S"]
            for one in dynamodb.query(**query, ExpressionAttributeValues={":place": {"S": place}})["Items"]
        ]
        for place in "xyz"
    }


def update(dynamodb: Any, name: str, expression: str, **more: Any) -> None:
    values = {":z": {"S": "z"}, ":rank": {"S": name}}
    used = {name: value for name, value in values.items() if name in expression}
    values_of = {"ExpressionAttributeValues": used} if used else {}
    dynamodb.update_item(TableName=TABLE, Key=key(name), UpdateExpression=expression, **values_of, **more)


def cancelled(dynamodb: Any) -> None:
    """Move an item, and take an attribute that another has not in the same transaction: nothing happens."""
    actions = [
        {"Put": {"TableName": TABLE, "Item": item("a", "z")}},
        {
            "Update": {
                "TableName": TABLE,
                "Key": key("b"),
                "UpdateExpression": "SET place = elsewhere",
            }
        },
    ]
    with pytest.raises(ClientError, match="TransactionCanceled"):
        dynamodb.transact_write_items(TransactItems=actions)


CHANGES: dict[str, tuple[Callable[[Any], Any], dict[str, list[str]]]] = {
    "nothing": (lambda _: None, {"x": ["a", "b"], "y": ["c"], "z": []}),
    "a new item": (
        lambda db: db.put_item(TableName=TABLE, Item=item("e", "y")),
        {"x": ["a", "b"], "y": ["c", "e"], "z": []},
    ),
    "an item in another place": (
        lambda db: db.put_item(TableName=TABLE, Item=item("a", "y")),
        {"x": ["b"], "y": ["a", "c"], "z": []},
    ),
    "a deletion": (lambda db: db.delete_item(TableName=TABLE, Key=key("a")), {"x": ["b"], "y": ["c"], "z": []}),
    "an update": (lambda db: update(db, "a", "SET place = :z"), {"x": ["b"], "y": ["c"], "z": ["a"]}),
    "an update that makes an item": (
        lambda db: update(db, "f", "SET place = :z, #r = :rank", ExpressionAttributeNames={"#r": "rank"}),
        {"x": ["a", "b"], "y": ["c"], "z": ["f"]},
    ),
    "an update out of the index": (lambda db: update(db, "a", "REMOVE place"), {"x": ["b"], "y": ["c"], "z": []}),
    "a transaction": (
        lambda db: db.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": TABLE, "Item": item("a", "z")}},
                {"Delete": {"TableName": TABLE, "Key": key("c")}},
            ]
        ),
        {"x": ["b"], "y": [], "z": ["a"]},
    ),
    "a cancelled transaction": (cancelled, {"x": ["a", "b"], "y": ["c"], "z": []}),
    "a batch": (
        lambda db: db.batch_write_item(
            RequestItems={
                TABLE: [{"PutRequest": {"Item": item("e", "z")}}, {"DeleteRequest": {"Key": key("b")}}],
            }
        ),
        {"x": ["a"], "y": ["c"], "z": ["e"]},
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_index_follows_its_table(dynamodb: Any, change: str) -> None:
    """What was read of an index before a change is not what is read after it."""
    make, expected = CHANGES[change]
    assert read(dynamodb) == CHANGES["nothing"][1]
    make(dynamodb)
    assert read(dynamodb) == expected
    moto_repair.uninstall()
    try:
        assert read(dynamodb) == expected
    finally:
        moto_repair.install()


def test_queries_between_two_changes_look_at_the_items_once(dynamodb: Any) -> None:
    """Many queries of an index ask the table for its indexes as often as one does."""
    asked = 0
    original = Table.all_indexes

    def count(table: Table) -> Any:
        nonlocal asked
        asked += 1
        return original(table)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "all_indexes", count)
        read(dynamodb)
        first, asked = asked, 0
        read(dynamodb)
    assert asked < first
