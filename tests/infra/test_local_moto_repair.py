"""The emulator's DynamoDB, repaired."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler
from moto.dynamodbstreams.responses import DynamoDBStreamsHandler

from streambank_local.emulator import moto_repair

Client = Any

REGION = "us-east-1"
TABLE = "table"


def key(name: str) -> dict[str, Any]:
    return {"PK": {"S": name}, "SK": {"S": "HEAD"}}


def item(name: str, **attributes: Any) -> dict[str, Any]:
    return key(name) | attributes


def put(name: str, condition: str | None = None, **attributes: Any) -> dict[str, Any]:
    request: dict[str, Any] = {"TableName": TABLE, "Item": item(name, **attributes)}
    return {"Put": request | ({"ConditionExpression": condition} if condition else {})}


def get(table: Client, name: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = table.get_item(TableName=TABLE, Key=key(name)).get("Item")
    return found


def update(name: str, expression: str, **more: Any) -> dict[str, Any]:
    return {"Update": {"TableName": TABLE, "Key": key(name), "UpdateExpression": expression, **more}}


def sell(table: Client, receipt: str) -> bool:
    """Sell one of the stock, and write a receipt: both or neither."""
    take = update(
        "stock",
        "SET n = n - :one",
        ConditionExpression="n >= :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )
    try:
        table.transact_write_items(TransactItems=[take, put(receipt)])
    except ClientError as error:
        # Not by its class: a client that makes its classes in two threads at once has two of each.
        if error.response["Error"]["Code"] != "TransactionCanceledException":
            raise
        return False
    return True


def stream(table: Client) -> Callable[[], list[dict[str, Any]]]:
    """Return a reader of the stream from where it stands now."""
    client = boto3.client("dynamodbstreams", region_name=REGION)
    arn = table.describe_table(TableName=TABLE)["Table"]["LatestStreamArn"]
    shard = client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    start = client.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="LATEST")["ShardIterator"]
    return lambda: [dict(record) for record in client.get_records(ShardIterator=start)["Records"]]


def reasons(error: ClientError) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = error.response["CancellationReasons"]
    return found


@pytest.fixture
def eager_threads() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def lost_by_threads(table: Client) -> int:
    """Have eight threads sell 40 of 60 and write 40 other items beside it; return how many writes are wrong."""
    table.put_item(TableName=TABLE, Item=item("stock", n={"N": "40"}))

    def work(number: int) -> bool:
        table.put_item(TableName=TABLE, Item=item(f"other-{number}"))
        return sell(table, f"receipt-{number}")

    with ThreadPoolExecutor(8) as pool:
        sold = sum(pool.map(work, range(60)))
    stored = {found["PK"]["S"] for found in table.scan(TableName=TABLE)["Items"]}
    receipts, others = (len([name for name in stored if name.startswith(kind)]) for kind in ("receipt-", "other-"))
    return abs(sold - 40) + abs(receipts - 40) + abs(others - 60)


def ghosts_of_cancelled(table: Client) -> int:
    """Cancel a transaction; return how many of its writes the stream shows."""
    table.put_item(TableName=TABLE, Item=item("taken"))
    read = stream(table)
    with pytest.raises(table.exceptions.TransactionCanceledException):
        table.transact_write_items(TransactItems=[put("ghost"), put("taken", "attribute_not_exists(PK)")])
    return len(read())


def repeats_of_one_token(table: Client) -> int:
    """Send one transaction twice under one token; return how often more than once it took effect."""
    table.put_item(TableName=TABLE, Item=item("counter", n={"N": "0"}))
    add = update("counter", "ADD n :one", ExpressionAttributeValues={":one": {"N": "1"}})
    for _ in range(2):
        table.transact_write_items(TransactItems=[add], ClientRequestToken="token")
    return int(str((get(table, "counter") or {})["n"]["N"])) - 1


def records_of_nothing(table: Client) -> int:
    """Write an item that is there already; return how many records the stream shows."""
    table.put_item(TableName=TABLE, Item=item("same", b={"B": b"\x00\xff"}))
    read = stream(table)
    table.put_item(TableName=TABLE, Item=item("same", b={"B": b"\x00\xff"}))
    return len(read())


def extra_records_of_an_update(table: Client) -> int:
    """Create an item by an update; return how many records too many the stream shows."""
    read = stream(table)
    table.update_item(
        TableName=TABLE,
        Key=key("new"),
        UpdateExpression="SET n = :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )
    return len(read()) - 1


FAULTS = [lost_by_threads, ghosts_of_cancelled, repeats_of_one_token, records_of_nothing, extra_records_of_an_update]


@pytest.mark.parametrize("fault", FAULTS)
def test_repaired_emulator_has_none_of_the_faults(table: Client, eager_threads: None, fault: Any) -> None:
    """Nothing is oversold, lost, visible although cancelled, repeated or recorded twice."""
    assert fault(table) == 0


@pytest.mark.parametrize("fault", FAULTS)
def test_plain_emulator_still_needs_the_repair(plain_table: Client, eager_threads: None, fault: Any) -> None:
    """When this fails, a new moto has mended the fault: take that part of the repair out."""
    try:
        assert fault(plain_table) > 0
    except RuntimeError:
        # "dictionary changed size during iteration" is the fault too.
        assert fault is lost_by_threads


def test_token_with_other_content_is_refused(table: Client) -> None:
    """The same token on another transaction is a mismatch, and writes nothing."""
    table.transact_write_items(TransactItems=[put("a", b={"B": b"\xff"})], ClientRequestToken="token")
    with pytest.raises(table.exceptions.IdempotentParameterMismatchException):
        table.transact_write_items(TransactItems=[put("a", b={"B": b"\xfe"})], ClientRequestToken="token")
    assert (get(table, "a") or {})["b"] == {"B": b"\xff"}


def test_token_of_a_cancelled_transaction_is_unused(table: Client) -> None:
    """A transaction that was cancelled runs when it comes again under its token."""
    needs_b = [{"ConditionCheck": {"TableName": TABLE, "Key": key("b"), "ConditionExpression": "attribute_exists(PK)"}}]
    with pytest.raises(table.exceptions.TransactionCanceledException):
        table.transact_write_items(TransactItems=[*needs_b, put("a")], ClientRequestToken="token")
    table.put_item(TableName=TABLE, Item=item("b"))
    table.transact_write_items(TransactItems=[*needs_b, put("a")], ClientRequestToken="token")
    assert get(table, "a")


def test_two_actions_on_one_item_are_refused(table: Client) -> None:
    """A transaction names an item once, as AWS demands, even to check it."""
    check = {"ConditionCheck": {"TableName": TABLE, "Key": key("a"), "ConditionExpression": "attribute_not_exists(PK)"}}
    with pytest.raises(ClientError, match="multiple operations on one item"):
        table.transact_write_items(TransactItems=[check, put("a")])


def test_reasons_have_aws_shape(table: Client) -> None:
    """Each action has a reason in its place: None, or what failed with the item that stood in the way."""
    table.put_item(TableName=TABLE, Item=item("taken", b={"B": b"\xff"}))
    refused = put("taken", "attribute_not_exists(PK)")
    refused["Put"]["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    with pytest.raises(
        table.exceptions.TransactionCanceledException, match=r"\[None, ConditionalCheckFailed\]"
    ) as info:
        table.transact_write_items(TransactItems=[put("free"), refused])
    assert reasons(info.value) == [
        {"Code": "None"},
        {
            "Code": "ConditionalCheckFailed",
            "Message": "The conditional request failed",
            "Item": item("taken", b={"B": b"\xff"}),
        },
    ]
    assert get(table, "free") is None


def test_reasons_of_a_missing_item_hold_no_item(table: Client) -> None:
    """ALL_OLD of nothing is nothing."""
    needs = update(
        "none",
        "SET n = :one",
        ConditionExpression="attribute_exists(PK)",
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )
    with pytest.raises(table.exceptions.TransactionCanceledException) as info:
        table.transact_write_items(TransactItems=[needs])
    assert reasons(info.value) == [{"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}]


def test_failure_while_applying_undoes_the_whole_transaction(table: Client) -> None:
    """An action that cannot be applied to its item cancels all, and the stream shows none of it."""
    table.put_item(TableName=TABLE, Item=item("flat"))
    read = stream(table)
    nested = update("flat", "SET a.b = :one", ExpressionAttributeValues={":one": {"N": "1"}})
    with pytest.raises(table.exceptions.TransactionCanceledException) as info:
        table.transact_write_items(TransactItems=[put("first"), put("second"), nested])
    assert [reason["Code"] for reason in reasons(info.value)] == ["None", "None", "ValidationError"]
    assert (get(table, "first"), get(table, "flat"), read()) == (None, item("flat"), [])


def test_transaction_writes_checks_and_deletes_together(table: Client) -> None:
    """Put, Update, Delete and ConditionCheck take effect as one, each with its record."""
    for name in ("old", "watched", "counter"):
        table.put_item(TableName=TABLE, Item=item(name))
    read = stream(table)
    watched = {"TableName": TABLE, "Key": key("watched"), "ConditionExpression": "attribute_exists(PK)"}
    table.transact_write_items(
        TransactItems=[
            put("new"),
            update("counter", "SET n = :one", ExpressionAttributeValues={":one": {"N": "1"}}),
            {"Delete": {"TableName": TABLE, "Key": key("old")}},
            {"ConditionCheck": watched},
        ]
    )
    assert [record["eventName"] for record in read()] == ["INSERT", "MODIFY", "REMOVE"]


def test_sequence_numbers_have_no_gap(table: Client) -> None:
    """After an item was created by an update, the next record still has the next number."""
    read = stream(table)
    extra_records_of_an_update(table)
    table.put_item(TableName=TABLE, Item=item("next"))
    first, second = (int(record["dynamodb"]["SequenceNumber"]) for record in read())
    assert second == first + 1


def due(table: Client, partition: str, until: int) -> list[str]:
    answer = table.query(
        TableName=TABLE,
        IndexName="due",
        KeyConditionExpression="G1PK = :partition AND G1SK <= :until",
        ExpressionAttributeValues={":partition": {"S": partition}, ":until": {"N": str(until)}},
    )
    return [found["PK"]["S"] for found in answer["Items"]]


def test_index_shows_what_transactions_wrote(table: Client) -> None:
    """An index is ordered by number, follows updates, and forgets an item that lost its index key."""
    times = {"c": 100, "a": 9, "b": 20, "late": 900}
    entries = [put(name, G1PK={"S": "DUE#0"}, G1SK={"N": str(time)}) for name, time in times.items()]
    table.transact_write_items(TransactItems=[*entries, put("elsewhere", G1PK={"S": "DUE#1"}, G1SK={"N": "1"})])
    assert due(table, "DUE#0", 100) == ["a", "b", "c"]
    table.transact_write_items(
        TransactItems=[update("a", "REMOVE G1PK, G1SK"), put("d", G1PK={"S": "DUE#0"}, G1SK={"N": "5"})]
    )
    assert due(table, "DUE#0", 100) == ["d", "b", "c"]


def test_partition_is_read_page_by_page_in_order(table: Client) -> None:
    """A query sees its partition only, in the order of the range key, across pages, both ways."""
    for number in (3, 1, 2):
        table.put_item(TableName=TABLE, Item={"PK": {"S": "p"}, "SK": {"S": f"B#{number}"}})
        table.put_item(TableName=TABLE, Item={"PK": {"S": "q"}, "SK": {"S": f"B#{number}"}})
    query = table.get_paginator("query")
    for forward, order in ((True, ["B#1", "B#2", "B#3"]), (False, ["B#3", "B#2", "B#1"])):
        pages = query.paginate(
            TableName=TABLE,
            KeyConditionExpression="PK = :p",
            ExpressionAttributeValues={":p": {"S": "p"}},
            ScanIndexForward=forward,
            PaginationConfig={"PageSize": 1},
        )
        assert [found["SK"]["S"] for page in pages for found in page["Items"]] == order


def test_install_is_idempotent_and_can_be_undone(table: Client) -> None:
    """Two calls of install need one uninstall, after which the methods are the emulator's own."""
    methods = [(DynamoHandler, "call_action"), (DynamoDBStreamsHandler, "call_action"), (Table, "query")]
    moto_repair.install()
    repaired = [getattr(*method) for method in methods]
    moto_repair.uninstall()
    plain = [getattr(*method) for method in methods]
    moto_repair.install()
    assert not set(repaired) & set(plain)
    assert "call_action" in vars(DynamoDBStreamsHandler)
