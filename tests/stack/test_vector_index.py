"""What the service relies on of a vector index; `make test-stack` runs it against MiniStack too, so that both agree."""

import os
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from streambank_local.emulator.moto_repair import install
from tests.stack.deployed import VARIABLE, Deployed
from tests.stack.vector_table import TABLE, item, made, names, numbers, search


@pytest.fixture
def table() -> Iterator[Any]:
    """A client of an emulator with the table: local mode's, or that of the deployment which the environment names."""
    if os.environ.get(VARIABLE):
        Deployed.named()
        with made(boto3.client("dynamodb", region_name="us-east-1")) as client:
            yield client
        return
    install()
    with mock_aws(), made(boto3.Session("test", "test", region_name="us-east-1").client("dynamodb")) as client:
        yield client


def put(table: Any, *items: dict[str, Any]) -> None:
    for one in items:
        table.put_item(TableName=TABLE, Item=one)


def test_the_nearest_come_first(table):
    """A score is the dot product, and the highest comes first."""
    put(table, item("far", 0, 0, 2), item("opposite", -1, 0, 0), item("same", 5, 0, 0), item("near", 1, 1, 0))
    reply = search(table, 2, 0, 0)
    assert names(reply) == ["same", "near", "far", "opposite"]
    scores = [one["Score"] for one in reply["SearchResults"]]
    assert scores == pytest.approx([10, 2, 0, -2], abs=1e-6)
    assert names(search(table, 2, 0, 0, TopK=2)) == ["same", "near"]


def test_only_whole_entries_of_the_hash_are_searched(table):
    """Items without a vector, without the hash key or with another one are not among the results."""
    put(table, item("a", 1, 0, 0), item("b", 1, 0, 0, bank="other"), item("c"), item("d", 1, 0, 0, bank=None))
    assert names(search(table, 1, 0, 0)) == ["a"]
    assert names(search(table, 1, 0, 0, bank="none")) == []


def test_an_entry_goes_and_changes_with_its_item(table):
    """A vector that is written again moves the entry; without the vector or the item it is gone."""
    put(table, item("a", 1, 0, 0), item("b", 0, 1, 0), item("c", 0, 0, 1))
    change = {"TableName": TABLE, "Key": {"PK": {"S": "p"}, "SK": {"S": "a"}}}
    values = {":v": {"L": numbers(-1, 0, 0)}}
    table.update_item(**change, UpdateExpression="SET v = :v", ExpressionAttributeValues=values)
    assert names(search(table, 1, 0, 0))[-1] == "a"
    table.update_item(**change, UpdateExpression="REMOVE v")
    table.delete_item(TableName=TABLE, Key={"PK": {"S": "p"}, "SK": {"S": "b"}})
    assert names(search(table, 1, 0, 0)) == ["c"]


def test_a_result_has_the_keys_and_what_is_projected(table):
    """The vector comes only where it is asked for, with 32 bits a number, and what is not projected never."""
    put(table, item("a", 0.1, 0, 0, w={"B": b"\xff"}, rev={"N": "3"}, fact={"S": "bees"}))
    [found] = search(table, 1, 0, 0)["SearchResults"]
    keys = {"PK": {"S": "p"}, "SK": {"S": "a"}, "VPK": {"S": "b"}}
    assert found["Item"] == keys | {"w": {"B": b"\xff"}, "rev": {"N": "3"}}
    [found] = search(table, 1, 0, 0, ProjectionExpression="SK, v, fact")["SearchResults"]
    assert found["Item"].keys() == {"SK", "v"}
    assert [float(one["N"]) for one in found["Item"]["v"]["L"]] == pytest.approx([0.1, 0, 0])
    whole = table.get_item(TableName=TABLE, Key={"PK": {"S": "p"}, "SK": {"S": "a"}})["Item"]
    assert whole["v"] == {"L": numbers(0.1, 0, 0)}


def test_the_capacity_is_what_was_examined(table):
    """Four bytes a number, for each entry of the hash and for the vector itself; of no other hash."""
    put(table, *(item(f"{at}", 1, 0, at) for at in range(5)), item("other", 1, 0, 0, bank="other"))
    reply = search(table, 1, 0, 0, TopK=1, ReturnConsumedCapacity="TOTAL")
    assert reply["ConsumedCapacity"] == {"VectorSearchRequestBytes": 4.0 * 3 * 6}
    assert "ConsumedCapacity" not in search(table, 1, 0, 0)


@pytest.mark.parametrize(
    ("request_parts", "message"),
    [
        ({"IndexName": "none"}, "The table does not have the specified index: none"),
        ({"TopK": 101}, "TopK value '101' is out of valid range"),
        ({"SearchVector": numbers(1, 0)}, "dimension 2 does not match vector index dimension 3"),
        ({"SearchVector": [{"S": "1"}] * 3}, "Search vector contains invalid values"),
        ({"SearchVector": numbers(1e39, 0, 0)}, "Search vector contains invalid values"),
        (
            dict.fromkeys(
                ("SearchConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"),
            ),
            "SearchConditionExpression must be provided",
        ),
        ({"SearchConditionExpression": "#vpk > :vpk"}, "Invalid comparator"),
        ({"ExpressionAttributeNames": {"#vpk": "w"}}, "Invalid attribute: w"),
        ({"SearchConditionExpression": "#vpk = :none"}, "attribute value: :none"),
    ],
)
def test_a_wrong_search_is_refused(table, request_parts, message):
    """Each fault of a request has DynamoDB's error of validation."""
    with pytest.raises(ClientError, match=message) as refused:
        search(table, 1, 0, 0, **request_parts)
    assert refused.value.response["Error"]["Code"] == "ValidationException"


def test_a_search_of_no_table_is_refused(table):
    """A table that is not there has the error that other calls have."""
    with pytest.raises(ClientError) as refused:
        search(table, 1, 0, 0, TableName="streambank-none")
    assert refused.value.response["Error"]["Code"] == "ResourceNotFoundException"


WRONG = {
    "no list": ({"v": {"S": "1,0,0"}}, "Invalid type for parameter v, Expected: 32-bit floating point number list"),
    "no number": ({"v": {"L": [{"N": "1"}, {"S": "0"}, {"N": "0"}]}}, r"parameter v\[1\], .* Actual: S"),
    "too large": ({"v": {"L": numbers(1e39, 0, 0)}}, r"parameter v\[0\]"),
    "short": ({"v": {"L": numbers(1, 0)}}, "Invalid size for parameter v, Expected: 3, Actual: 2"),
    "empty": ({"v": {"L": []}}, "Invalid size for parameter v, Expected: 3, Actual: 0"),
    "hash key": ({"VPK": {"N": "1"}}, "(?i)type mismatch for .*VPK expected: S actual: N"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_malformed_vector_is_not_written(table, fault):
    """Put, update and transaction refuse it, and the item stays what it was."""
    attributes, message = WRONG[fault]
    before = item("a", 1, 0, 0)
    put(table, before)
    key = {"TableName": TABLE, "Key": {"PK": {"S": "p"}, "SK": {"S": "a"}}}
    [(name, value)] = attributes.items()
    with pytest.raises(ClientError, match=message):
        put(table, before | attributes)
    with pytest.raises(ClientError, match=message):
        table.update_item(**key, UpdateExpression=f"SET {name} = :x", ExpressionAttributeValues={":x": value})
    # Whether the request or its action is at fault is each emulator's own.
    with pytest.raises(ClientError, match=r"Validation(Exception|Error)"):
        table.transact_write_items(TransactItems=[{"Put": {"TableName": TABLE, "Item": before | attributes}}])
    assert table.get_item(**key)["Item"] == before


def test_the_index_is_described(table):
    """DescribeTable names the index, which can be searched."""
    [index] = table.describe_table(TableName=TABLE)["Table"]["VectorIndexes"]
    assert (index["IndexName"], index["Dimensions"], index["IndexStatus"]) == ("vectors", 3, "ACTIVE")
    assert index["IndexArn"].endswith(f":table/{TABLE}/index/vectors")
