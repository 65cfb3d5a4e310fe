"""The emulator's faster queries, scans, updates and items do what moto's own do."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.utilities import dynamo_to_dict

from streambank_local.emulator import moto_items, moto_repair

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


UPDATES = [
    "SET a = :s",
    "SET a = :s, b = :s, #n = :n REMOVE l[0], l[2], m.x ADD n :n DELETE ss :ss",
    "SET m.x = if_not_exists(m.y, :n), n = n + :n, #n = n - :n",
    "SET l = list_append(l, :l), l[7] = :s",
    "SET copy = l, other = m",
    "SET m.none.x = :s",
    "SET a = none",
    "SET PK = :s",
    "SET a = :s, a = :n",
    "SET #n = :s, #n = :n",
    "SET m = :n, m.x = :n",
    "SET a = :s SET b = :s",
    "SET a = :none",
    "SET #none = :s",
    "SET a = :s + :n",
    "ADD a :s",
    "REMOVE l",
    "SET size = :s",
    "nonsense",
]
CONDITIONS_OF_UPDATES = [
    None,
    "attribute_exists(PK)",
    "attribute_not_exists(PK) OR (n > :n AND NOT contains(ss, :s))",
    "#n = :s",
    "n BETWEEN :n AND :m AND a IN (:s, :n) AND size(l) >= :n",
    "begins_with(m.y, :s) OR attribute_type(l, :s)",
    "n >",
    "size = :n",
]


def _outcome(dynamodb: Any, update: str, condition: str | None) -> Any:
    """Return the item after an update of a known one, or the error."""
    key = {"PK": {"S": "updates"}, "SK": {"S": "é"}}
    known = {
        "n": {"N": "3.5"},
        "bytes": {"B": b"\x00\xff"},
        "m": {"M": {"x": {"N": "1"}, "y": {"S": "word"}}},
        "l": {"L": [{"S": "one"}, {"BOOL": True}, {"NULL": True}, {"M": {"b": {"B": b"\x01"}}}]},
        "ss": {"SS": ["word", "ü"]},
    }
    values = {
        ":s": {"S": "word"},
        ":n": {"N": "2"},
        ":m": {"N": "9"},
        ":l": {"L": [{"S": "new"}]},
        ":ss": {"SS": ["word"]},
    }
    used = {name: value for name, value in values.items() if name in re.findall(r":\w+", f"{update} {condition}")}
    dynamodb.put_item(TableName=TABLE, Item=key | known)
    try:
        dynamodb.update_item(
            TableName=TABLE,
            Key=key,
            UpdateExpression=update,
            **({"ExpressionAttributeNames": {"#n": "new"}} if "#n " in f"{update} {condition}" else {}),
            **({"ExpressionAttributeValues": used} if used else {}),
            **({"ConditionExpression": condition} if condition else {}),
            ReturnValues="ALL_NEW",
        )
    except Exception as error:  # moto raises its own mistakes too
        return str(error)
    finally:
        stored = dynamodb.get_item(TableName=TABLE, Key=key)["Item"]
        dynamodb.delete_item(TableName=TABLE, Key=key)
    return stored | {"ss": {"SS": sorted(stored["ss"]["SS"])} if "ss" in stored else None}


@pytest.mark.parametrize("update", UPDATES)
def test_an_update_has_the_outcome_of_motos_own(dynamodb: Any, update: str) -> None:
    """Every kind of update, right and wrong, on every kind of condition, ends as moto's own, with the same message."""
    read = lambda: [_outcome(dynamodb, update, condition) for condition in CONDITIONS_OF_UPDATES]
    fast = read()
    again = read()
    assert fast == again == without_repairs(read)


VALUES = st.recursive(
    st.one_of(
        st.builds(lambda text: {"S": text}, st.text(max_size=8)),
        st.builds(lambda number: {"N": str(number)}, st.integers(-999, 999)),
        st.builds(lambda content: {"B": content}, st.binary(min_size=1, max_size=5)),
        st.builds(lambda truth: {"BOOL": truth}, st.booleans()),
        st.just({"NULL": True}),
        st.builds(lambda words: {"SS": words}, st.lists(st.text(min_size=1, max_size=3), min_size=1, unique=True)),
        st.builds(lambda words: {"BS": words}, st.lists(st.binary(min_size=1, max_size=3), min_size=1, unique=True)),
    ),
    lambda inner: st.one_of(
        st.builds(lambda members: {"L": members}, st.lists(inner, max_size=3)),
        st.builds(lambda members: {"M": members}, st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3)),
    ),
    max_leaves=8,
)
ITEMS = st.dictionaries(st.text(min_size=1, max_size=4), VALUES, max_size=4)


@given(attributes=ITEMS)
def test_an_item_is_measured_copied_and_returned_as_by_moto(attributes: dict[str, Any]) -> None:
    """Size, copy and plain form of any item are moto's own, and a change of the copy leaves the item alone."""
    moto_repair.uninstall()
    item = Item(DynamoType({"S": "p"}), None, attributes)
    expected = item.size(), dynamo_to_dict(item.attrs), item.to_json()
    moto_repair.install()
    assert (moto_items.item_size(item), moto_items.plain(dict(item.attrs)), item.to_json()) == expected
    copied = moto_items.copy_item(item)
    assert copied.to_json() == expected[2]
    for value in copied.attrs.values():
        if value.type in {"L", "M", "SS", "BS"}:
            value.value.clear()
    assert item.to_json() == expected[2]


@pytest.mark.parametrize("size", [404_998, 404_999])
def test_an_item_is_too_large_where_motos_own_is(dynamodb: Any, size: int) -> None:
    """An item of just under the limit is stored, one of just over it refused, as by moto."""

    def read() -> str:
        item = {"PK": {"S": "large"}, "SK": {"S": "x"}, "a": {"S": "x" * (size - 100)}, "b": {"S": "x" * 90}}
        try:
            dynamodb.put_item(TableName=TABLE, Item=item)
            dynamodb.delete_item(TableName=TABLE, Key={"PK": {"S": "large"}, "SK": {"S": "x"}})
        except ClientError as error:
            return str(error)
        return "stored"

    fast = read()
    assert fast == without_repairs(read)
    assert (fast == "stored") == (size + 2 <= moto_items.ITEM_LIMIT_BYTES)
