"""Vectors in the emulator: their numbers, their size in memory, and the time of a search."""

import math
import random
import time
from array import array
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moto import mock_aws
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType

from streambank_local.disk.store import opened
from streambank_local.emulator import attribute_json, dot_products, moto_repair
from streambank_local.emulator.journal import TableJournal
from streambank_local.emulator.moto_numbers import FEWEST, Numbers, vector_of
from streambank_local.emulator.requests import kept_by
from streambank_local.emulator.stream import to_lambda_record
from tests import aws
from tests.stack.vector_table import DEFINITION, INDEX, TABLE, item, made, names, numbers, search

DIMENSIONS = 1_024
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}


def vector(seed: int) -> list[dict[str, str]]:
    rng = random.Random(seed)
    return numbers(*(round(rng.gauss(0, 1), 6) for _ in range(DIMENSIONS)))


@pytest.fixture
def table() -> Iterator[Any]:
    """A client of the template's table."""
    with aws.dynamodb() as client:
        yield client


def memory(number: int) -> dict[str, Any]:
    keys = {"PK": {"S": "S#1"}, "SK": {"S": f"M#{number:06}"}, "VPK": {"S": "b"}}
    return keys | {"v": {"L": vector(number)}, "w": {"S": f"{number}"}}


def nearest(client: Any, number: int, **more: Any) -> Any:
    return search(client, TableName=aws.TABLE, SearchVector=vector(number), **more)


def test_the_templates_index_is_searched(table):
    """The table that tests make has the index of the template, and finds a memory by its vector."""
    for number in range(5):
        table.put_item(TableName=aws.TABLE, Item=memory(number))
    reply = nearest(table, 3, TopK=1)
    assert names(reply) == ["M#000003"]
    assert reply["SearchResults"][0]["Item"]["w"] == {"S": "3"}


def test_a_vector_is_read_as_it_was_written(table):
    """Gets, queries, scans and old values have each number of a long vector as the writer spelled it."""
    whole = memory(1) | {"v": {"L": [{"N": "0.10"}, *vector(1)[1:]]}}
    table.put_item(TableName=aws.TABLE, Item=whole)
    key = {"PK": whole["PK"], "SK": whole["SK"]}
    condition = {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": whole["PK"]}}
    assert table.get_item(TableName=aws.TABLE, Key=key)["Item"] == whole
    assert table.query(TableName=aws.TABLE, **condition)["Items"] == [whole]
    assert aws.dump(table) == [whole]
    projected = table.get_item(TableName=aws.TABLE, Key=key, ProjectionExpression="v")["Item"]
    assert [float(one["N"]) for one in projected["v"]["L"]] == [float(one["N"]) for one in whole["v"]["L"]]
    assert table.put_item(TableName=aws.TABLE, Item=whole, ReturnValues="ALL_OLD")["Attributes"] == whole


def test_a_vector_is_updated(table):
    """An update of a long vector, alone or in a transaction, is read and searched as it was sent."""
    table.put_item(TableName=aws.TABLE, Item=memory(1))
    change = {
        "TableName": aws.TABLE,
        "Key": {name: memory(1)[name] for name in ("PK", "SK")},
        "UpdateExpression": "SET #v = :v",
        "ExpressionAttributeNames": {"#v": "v"},
    }
    table.update_item(**change, ExpressionAttributeValues={":v": {"L": vector(2)}})
    assert aws.dump(table) == [memory(1) | {"v": {"L": vector(2)}}]
    table.transact_write_items(
        TransactItems=[{"Update": change | {"ExpressionAttributeValues": {":v": {"L": vector(3)}}}}]
    )
    assert aws.dump(table) == [memory(1) | {"v": {"L": vector(3)}}]
    square = sum(float(one["N"]) ** 2 for one in vector(3))
    assert nearest(table, 3)["SearchResults"][0]["Score"] == pytest.approx(square, rel=1e-6)


def test_equal_scores_are_in_the_order_of_the_keys(table):
    """Ties are broken by the keys, so that a search returns the same twice."""
    for number in (3, 1, 2):
        table.put_item(TableName=aws.TABLE, Item=memory(number) | {"v": {"L": vector(0)}})
    assert names(nearest(table, 0)) == ["M#000001", "M#000002", "M#000003"]


def test_ten_thousand_entries_are_searched_in_less_than_a_second(table):
    """A search unpacks no vector twice, and a vector takes kilobytes."""
    for number in range(50):
        table.put_item(TableName=aws.TABLE, Item=memory(number))
    [partition] = dynamodb_backends["123456789012"]["us-east-1"].get_table(aws.TABLE).items.values()
    entries = list(partition.values())
    for number in range(50, 10_000):
        partition[DynamoType({"S": f"M#{number:06}"})] = entries[number % 50]
    nearest(table, 0)
    begun = time.process_time()
    nearest(table, 0, TopK=100)
    assert time.process_time() - begun < 1
    assert type(entries[0].attrs["v"].value) is Numbers
    assert len(entries[0].attrs["v"].value.text) < 12 * DIMENSIONS


def test_a_stream_record_has_the_vector():
    """A function is given the image of an item as Lambda gives it, each number of its vector too."""
    moto_repair.install()
    with mock_aws():
        client = boto3.Session("test", "test", region_name="us-east-1").client("dynamodb")
        index = INDEX | {"Dimensions": DIMENSIONS}
        client.create_table(TableName=TABLE, VectorIndexes=[index], StreamSpecification=STREAM, **DEFINITION)
        client.put_item(TableName=TABLE, Item=memory(1))
        shard = dynamodb_backends["123456789012"]["us-east-1"].get_table(TABLE).stream_shard
        assert shard is not None
        [raw] = shard.get(shard.starting_sequence_number, 1)
        assert to_lambda_record(raw, "arn")["dynamodb"]["NewImage"] == memory(1)


def test_vectors_are_kept_on_the_disk(tmp_path: Path):
    """A process that starts on a folder searches what the one before it wrote."""
    moto_repair.install()
    index = INDEX | {"Dimensions": DIMENSIONS}
    for is_first in (True, False):
        with mock_aws(), opened(tmp_path) as store:
            client = boto3.Session("test", "test", region_name="us-east-1").client("dynamodb")
            client.create_table(TableName=TABLE, VectorIndexes=[index], StreamSpecification=STREAM, **DEFINITION)
            journal = TableJournal(dynamodb_backends["123456789012"]["us-east-1"].get_table(TABLE), store)
            journal.load(datetime(2026, 12, 1, tzinfo=UTC))
            if is_first:
                with kept_by(journal):
                    client.put_item(TableName=TABLE, Item=memory(1))
                    client.put_item(TableName=TABLE, Item=memory(2))
                    client.delete_item(TableName=TABLE, Key={name: memory(2)[name] for name in ("PK", "SK")})
            assert names(search(client, SearchVector=vector(1))) == ["M#000001"]
            assert client.scan(TableName=TABLE)["Items"] == [memory(1)]


def test_an_index_is_added_to_a_table_and_removed(table):
    """What was written before the index is found by it, and nothing without it."""
    with made(table):
        table.put_item(TableName=TABLE, Item=item("a", 1, 0, 0))
        table.update_table(TableName=TABLE, VectorIndexUpdates=[{"Delete": {"IndexName": "vectors"}}])
        assert "VectorIndexes" not in table.describe_table(TableName=TABLE)["Table"]
        with pytest.raises(table.exceptions.ClientError, match="does not have the specified index"):
            search(table, 1, 0, 0)
        table.update_table(
            TableName=TABLE,
            AttributeDefinitions=DEFINITION["AttributeDefinitions"],
            VectorIndexUpdates=[{"Create": INDEX}],
        )
        assert names(search(table, 1, 0, 0)) == ["a"]


def test_a_condition_needs_a_defined_attribute(table):
    """An attribute of the index's schema that the table does not define is refused, as DynamoDB refuses it."""
    definition = DEFINITION | {"AttributeDefinitions": DEFINITION["AttributeDefinitions"][:2]}
    with pytest.raises(table.exceptions.ClientError, match="not defined in attribute definitions"):
        table.create_table(TableName="other", VectorIndexes=[INDEX], **definition)


components = st.floats(-100, 100, width=32)


@settings(max_examples=50, deadline=None)
@given(
    query=st.lists(components, min_size=3, max_size=3), vectors=st.lists(st.lists(components, min_size=3, max_size=3))
)
def test_products_are_the_same_with_numpy_and_without(query, vectors):
    """Where numpy is not installed a search scores as with it."""
    found = dot_products.dot_products(array("f", query), [array("f", one) for one in vectors])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dot_products, "_numpy", lambda: None)
        alone = dot_products.dot_products(array("f", query), [array("f", one) for one in vectors])
    assert found == pytest.approx(alone, rel=1e-9, abs=1e-9)


@given(st.integers(FEWEST - 2, FEWEST + 2), st.booleans())
def test_a_list_is_kept_as_text_if_it_is_long_and_has_numbers_alone(length, has_text):
    """Short lists and lists of other values stay lists, which expressions change in place."""
    content = numbers(*range(length - has_text)) + [{"S": "1"}] * has_text
    value = DynamoType({"L": content})
    assert (type(value.value) is Numbers) is (length >= FEWEST and not has_text)
    assert value.to_regular_json() == {"L": content}
    assert (vector_of(value) is None) is has_text


NUMBERS = [("3.4e38", True), ("3.5e38", False), ("-1e39", False), ("nan", False), ("one", False), ("1,2", False)]


@pytest.mark.parametrize(("number", "is_vector"), NUMBERS)
def test_a_number_beyond_32_bits_is_no_element(number, is_vector):
    """DynamoDB refuses what a 32-bit number cannot hold."""
    found = vector_of(DynamoType({"L": [{"N": number}] * FEWEST}))
    assert (found is not None) is is_vector
    assert found is None or math.isfinite(found.norm())


texts = st.text(st.sampled_from('{"L":[N1}],\\'))


@given(st.integers(FEWEST - 2, FEWEST + 2), texts, st.booleans())
def test_an_item_is_loaded_from_the_disk_as_it_was(length, text, has_text):
    """A vector is found in the JSON of an item, and no text and no shorter list is taken for one."""
    content = {"a": {"S": text}, "v": {"L": numbers(*range(length))}, "z": {"M": {"L": {"S": text}}}}
    if has_text:
        content["v"]["L"][-1] = {"S": text}
    attributes = {name: DynamoType(value) for name, value in content.items()}
    loaded = attribute_json.loads_item(attribute_json.dumps(attributes))
    assert {name: DynamoType(value).to_regular_json() for name, value in loaded.items()} == content
    assert (type(loaded["v"]["L"]) is Numbers) is (length >= FEWEST and not has_text)
