"""The shortcut to the emulator's DynamoDB answers as the long way does."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from streambank_local.emulator import moto_repair

TABLE = "table"
DEFINITION: dict[str, Any] = {
    "TableName": TABLE,
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
    "BillingMode": "PAY_PER_REQUEST",
}
HEAD = {"PK": {"S": "a"}, "SK": {"S": "HEAD"}}
ITEM = HEAD | {
    "n": {"N": "3"},
    "bytes": {"B": b"\x00\xff"},
    "B": {"B": b"also a name"},
    "list": {"L": [{"M": {"B": {"S": "x"}}}, {"BOOL": True}, {"NULL": True}]},
    "sets": {"SS": ["a", "b"]},
}


@pytest.fixture(scope="module")
def both() -> tuple[Any, Any]:
    """Return a client that takes the shortcut and one that does not: a session reads botocore's models for each."""
    moto_repair.uninstall()
    long_way = _client()
    moto_repair.install()
    return _client(), long_way


@pytest.fixture
def clients(both: tuple[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield both clients in front of the same empty table."""
    with mock_aws():
        both[1].create_table(**DEFINITION)
        yield both


def _client() -> Any:
    session = boto3.Session("test", "test", region_name="us-east-1")
    return session.client("dynamodb")


UPDATE = {
    "TableName": TABLE,
    "Key": HEAD,
    "UpdateExpression": "SET #n = #n + :one",
    "ExpressionAttributeNames": {"#n": "n"},
    "ExpressionAttributeValues": {":one": {"N": "1"}},
}
CALLS: dict[str, Callable[[Any], Any]] = {
    "get": lambda db: db.get_item(TableName=TABLE, Key=HEAD, ConsistentRead=True),
    "get of nothing": lambda db: db.get_item(TableName=TABLE, Key=HEAD | {"SK": {"S": "none"}}),
    "capacity": lambda db: db.get_item(TableName=TABLE, Key=HEAD, ReturnConsumedCapacity="TOTAL"),
    "batch get": lambda db: db.batch_get_item(RequestItems={TABLE: {"Keys": [HEAD], "ConsistentRead": True}}),
    "query": lambda db: db.query(
        TableName=TABLE, KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "a"}}
    ),
    "page": lambda db: db.query(
        TableName=TABLE, KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "a"}}, Limit=1
    ),
    "scan": lambda db: db.scan(TableName=TABLE),
    "put": lambda db: db.put_item(TableName=TABLE, Item=ITEM, ReturnValues="ALL_OLD"),
    "update": lambda db: db.update_item(**UPDATE),
    "update with values": lambda db: db.update_item(**UPDATE, ReturnValues="ALL_NEW"),
    "delete": lambda db: db.delete_item(TableName=TABLE, Key=HEAD, ReturnValues="ALL_OLD"),
    "batch write": lambda db: db.batch_write_item(RequestItems={TABLE: [{"PutRequest": {"Item": ITEM}}]}),
    "transaction": lambda db: db.transact_write_items(TransactItems=[{"Put": {"TableName": TABLE, "Item": ITEM}}]),
}
FAILURES: dict[str, Callable[[Any], Any]] = {
    "condition": lambda db: db.put_item(TableName=TABLE, Item=ITEM, ConditionExpression="attribute_not_exists(PK)"),
    "no such table": lambda db: db.get_item(TableName="other", Key=HEAD),
    "no such key": lambda db: db.get_item(TableName=TABLE, Key={"PK": {"S": "a"}}),
    "cancelled": lambda db: db.transact_write_items(
        TransactItems=[
            {
                "Put": {
                    "TableName": TABLE,
                    "Item": ITEM,
                    "ConditionExpression": "attribute_not_exists(PK)",
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            }
        ]
    ),
    "no vector index": lambda db: db.search_vectors(
        TableName=TABLE, IndexName="vectors", SearchVector=[{"N": "1"}], TopK=1
    ),
    "two writes of one item": lambda db: db.transact_write_items(
        TransactItems=[{"Put": {"TableName": TABLE, "Item": ITEM}}] * 2
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_a_reply_is_that_of_the_long_way(clients, call):
    """Values, bytes, page tokens and absent members are the same, and so is what the table holds after it."""
    replies, tables = [], []
    for client in clients:
        clients[1].put_item(TableName=TABLE, Item=ITEM)
        clients[1].put_item(TableName=TABLE, Item=HEAD | {"SK": {"S": "W#1"}})
        reply = call(client)
        assert reply.pop("ResponseMetadata")["HTTPStatusCode"] == 200
        replies.append(reply)
        tables.append(clients[1].scan(TableName=TABLE)["Items"])
    assert replies[0] == replies[1]
    assert tables[0] == tables[1]


@pytest.mark.parametrize("call", FAILURES.values(), ids=FAILURES.keys())
def test_an_error_is_that_of_the_long_way(clients, call):
    """Code, message and reasons are the same, and nothing is written."""
    clients[1].put_item(TableName=TABLE, Item=ITEM)
    errors = []
    for client in clients:
        with pytest.raises(ClientError) as caught:
            call(client)
        error = dict(caught.value.response)
        error.pop("ResponseMetadata")
        errors.append(error)
    assert errors[0] == errors[1]
    assert clients[1].scan(TableName=TABLE)["Items"] == [ITEM]


def test_the_shortcut_is_taken(clients, monkeypatch):
    """A call that succeeds never gets as far as a request; other services and other addresses go the long way."""
    shortcut, long_way = clients
    sent = []
    for client in clients:
        client.meta.events.register("before-send.dynamodb", lambda **_: sent.append(1))
    shortcut.put_item(TableName=TABLE, Item=ITEM)
    assert not sent
    long_way.put_item(TableName=TABLE, Item=ITEM)
    assert sent == [1]


def test_a_reply_is_a_copy(clients):
    """Whoever changes a reply does not change the table."""
    shortcut, _ = clients
    shortcut.put_item(TableName=TABLE, Item=ITEM)
    shortcut.get_item(TableName=TABLE, Key=HEAD)["Item"]["list"]["L"].clear()
    assert shortcut.get_item(TableName=TABLE, Key=HEAD)["Item"] == ITEM


def test_the_repair_brings_it_along():
    """Clients that are made after the repair take it."""
    moto_repair.install()
    with mock_aws():
        sent = []
        client = _client()
        client.create_table(**DEFINITION)
        client.meta.events.register("before-send.dynamodb", lambda **_: sent.append(1))
        client.put_item(TableName=TABLE, Item=ITEM)
    assert not sent
