"""The emulator's table on the disk."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import Table

from streambank_local.disk.record import Kind
from streambank_local.disk.store import NotKeptError, Store, opened
from streambank_local.emulator.journal import TableJournal
from streambank_local.emulator.requests import kept_by

NOW = datetime(2026, 12, 1, tzinfo=UTC)
KEYS = [f"k{number}" for number in range(4)]
VALUES: list[dict[str, Any]] = [
    {"S": "text \u00e4\u2603"},
    {"N": "12.5"},
    {"B": b"\x00\xff"},
    {"BS": [b"a", b"b"]},
    {"SS": ["a", "b"]},
    {"BOOL": True},
    {"NULL": True},
    {"L": [{"B": b"x"}, {"M": {"B": {"S": "named as a type"}, "BS": {"L": []}}}]},
    {"M": {}},
]

key = st.sampled_from(KEYS).map(lambda name: {"PK": {"S": name}, "SK": {"S": "HEAD"}})
value = st.sampled_from(VALUES)
put = st.builds(lambda where, what: {"Put": {"Item": where | {"v": what}}}, key, value)
delete = key.map(lambda where: {"Delete": {"Key": where}})
update = st.builds(
    lambda where, what: {
        "Update": {
            "Key": where,
            "UpdateExpression": "SET v = :v ADD n :one",
            "ExpressionAttributeValues": {":v": what, ":one": {"N": "1"}},
        }
    },
    key,
    value,
)
action = st.one_of(put, delete, update)
# A condition that never holds cancels the transaction.
check = key.map(lambda where: {"ConditionCheck": {"Key": where, "ConditionExpression": "attribute_exists(nothing)"}})
transaction = st.lists(st.one_of(action, action, action, check), min_size=1, max_size=4)
step = st.one_of(action.map(lambda one: ("single", [one])), transaction.map(lambda many: ("transaction", many)))
batch = st.lists(st.one_of(put, delete), min_size=1, max_size=4).map(lambda many: ("batch", many))


def table_of(table: Any) -> dict[str, Any]:
    items = table.scan(TableName="table")["Items"]
    return {item["PK"]["S"]: item for item in items}


def carry_out(table: Any, kind: str, actions: list[dict[str, Any]]) -> None:
    if kind == "batch":
        requests = [
            {"PutRequest": {"Item": one["Put"]["Item"]}} if "Put" in one else {"DeleteRequest": one["Delete"]}
            for one in actions
        ]
        table.batch_write_item(RequestItems={"table": requests})
    elif kind == "transaction":
        table.transact_write_items(
            TransactItems=[
                {name: {"TableName": "table", **request}} for one in actions for name, request in one.items()
            ]
        )
    else:
        ((name, request),) = actions[0].items()
        getattr(table, f"{name.lower()}_item")(TableName="table", **request)


def emulated() -> Table:
    return dynamodb_backends["123456789012"]["us-east-1"].get_table("table")


def stream() -> list[Any]:
    shard = emulated().stream_shard
    assert shard is not None
    return shard.items


@contextmanager
def journaled(store: Store, now: datetime = NOW) -> Iterator[None]:
    """The table as a new process has it, kept in *store*."""
    emulated().items.clear()
    stream().clear()
    journal = TableJournal(emulated(), store)
    journal.load(now)
    with kept_by(journal):
        yield


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.one_of(step, batch), max_size=12))
def test_the_table_after_a_restart_is_the_table_before(
    table: Any, steps: list[tuple[str, list[dict[str, Any]]]]
) -> None:
    """Whatever was written, cancelled or refused: the loaded table equals the one that was lost."""
    with TemporaryDirectory() as folder, opened(Path(folder)) as store:
        with journaled(store):
            for kind, actions in steps:
                try:
                    carry_out(table, kind, actions)
                except ClientError as error:
                    assert error.response["Error"]["Code"] in {  # noqa: PT017  each is a refusal
                        "TransactionCanceledException",
                        "ValidationException",
                    }
            before = table_of(table)
        with journaled(store):
            assert table_of(table) == before


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path / "data") as store:
        yield store


def item(name: str, **attributes: Any) -> dict[str, Any]:
    return {"PK": {"S": name}, "SK": {"S": "HEAD"}, **attributes}


def break_writes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise NotKeptError("the folder is full")

    monkeypatch.setattr(store, "write", fail)


@pytest.mark.parametrize(
    "request_of",
    [
        lambda table: table.put_item(TableName="table", Item=item("a", v={"S": "new"})),
        lambda table: table.delete_item(TableName="table", Key=item("a")),
        lambda table: table.update_item(
            TableName="table",
            Key=item("a"),
            UpdateExpression="SET v = :v",
            ExpressionAttributeValues={":v": {"S": "new"}},
        ),
        lambda table: table.update_item(
            TableName="table",
            Key=item("absent"),
            UpdateExpression="SET v = :v",
            ExpressionAttributeValues={":v": {"S": "new"}},
        ),
        lambda table: table.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": "table", "Item": item("b")}},
                {"Delete": {"TableName": "table", "Key": item("a")}},
            ]
        ),
        lambda table: table.batch_write_item(
            RequestItems={"table": [{"PutRequest": {"Item": item("b")}}, {"DeleteRequest": {"Key": item("a")}}]}
        ),
    ],
)
def test_a_request_that_cannot_be_kept_is_an_error_and_changes_nothing(
    table: Any, store: Store, monkeypatch: pytest.MonkeyPatch, request_of: Any
) -> None:
    """AWS's server error is the reply; the table and its stream are as before, now and after a restart."""
    with journaled(store):
        table.put_item(TableName="table", Item=item("a", v={"S": "old"}))
        with monkeypatch.context() as patched:
            break_writes(store, patched)
            with pytest.raises(ClientError) as refused:
                request_of(table)
        assert refused.value.response["Error"]["Code"] == "InternalServerError"
        assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
        assert len(stream()) == 1
        assert table_of(table) == {"a": item("a", v={"S": "old"})}
        request_of(table)
        after = table_of(table)
        assert after != {"a": item("a", v={"S": "old"})}
    with journaled(store):
        assert table_of(table) == after


def test_a_token_of_a_lost_transaction_is_free(table: Any, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction that could not be kept is carried out when it is sent again with its token."""
    actions = [{"Put": {"TableName": "table", "Item": item("a")}}]
    with journaled(store):
        with monkeypatch.context() as patched:
            break_writes(store, patched)
            with pytest.raises(ClientError):
                table.transact_write_items(TransactItems=actions, ClientRequestToken="token")
        table.transact_write_items(TransactItems=actions, ClientRequestToken="token")
        assert table_of(table) == {"a": item("a")}


def test_a_transaction_is_one_write(table: Any, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """All items of a transaction are written at once, a cancelled one writes nothing, and reading writes nothing."""
    writes = []
    monkeypatch.setattr(store, "write", lambda records: writes.append(len(records)))
    with journaled(store):
        names = ("a", "b", "c")
        table.transact_write_items(
            TransactItems=[{"Put": {"TableName": "table", "Item": item(name)}} for name in names]
        )
        with pytest.raises(ClientError):
            carry_out(
                table,
                "transaction",
                [
                    {"Put": {"Item": item("d")}},
                    {"ConditionCheck": {"Key": item("e"), "ConditionExpression": "attribute_exists(PK)"}},
                ],
            )
        assert len(table_of(table)) == 3
    assert writes == [3]


def test_loaded_items_are_no_news(table: Any, store: Store) -> None:
    """The stream has no records of items that were loaded."""
    with journaled(store):
        table.put_item(TableName="table", Item=item("a"))
    with journaled(store):
        assert stream() == []


def test_what_expired_long_ago_is_dropped_at_the_start(table: Any, store: Store) -> None:
    """An item goes two days after its TTL, by the service's clock, from the table and from the disk."""
    ages = {"fresh": timedelta(0), "expired": timedelta(days=1), "old": timedelta(days=2, seconds=1)}
    with journaled(store):
        for name, age in ages.items():
            ttl = int((NOW - age).timestamp())
            table.put_item(TableName="table", Item=item(name, ttl={"N": str(ttl)}))
        table.put_item(TableName="table", Item=item("lasting"))
    with journaled(store):
        assert table_of(table).keys() == {"fresh", "expired", "lasting"}
    assert len(store.read(Kind.ITEM)) == 3
    with journaled(store, NOW + timedelta(days=9)):
        assert table_of(table).keys() == {"lasting"}


def test_an_item_is_kept_as_json(table: Any, store: Store) -> None:
    """What is in the file can be read with SQLite's own tools."""
    with journaled(store):
        table.put_item(TableName="table", Item=item("a", v={"B": b"\x00"}))
    (record,) = store.read(Kind.ITEM)
    assert json.loads(record.content or b"")["v"] == {"B": "AA=="}
