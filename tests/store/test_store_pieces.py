"""Attribute values, compression, keys and conditions."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.store import due_partitions, keys, text
from streambank.store.actions import (
    ConditionCheck,
    Delete,
    Put,
    Update,
    absent,
    absent_or_expired,
    equals,
    present,
)
from streambank.store.attributes import instant, milliseconds, packed, seconds, unpacked
from streambank.store.keys import Key
from tests.store.building import json_values

KEY = Key("S#b#s", "HEAD")
plain = st.text(max_size=9) | st.integers(-(10**30), 10**30) | st.binary(max_size=9)


# ---- attributes


@given(values=st.dictionaries(st.text(max_size=9), st.none() | plain, max_size=6))
def test_attributes_come_back(values):
    """Text, whole numbers and bytes come back as they were; None is no attribute."""
    item = packed(values)
    before = json.dumps(item, default=repr)
    assert unpacked(item) == {name: value for name, value in values.items() if value is not None}
    assert json.dumps(item, default=repr) == before


def test_each_kind_has_its_type():
    """A truth value is stored as a number, a StrEnum as its text."""
    assert packed({"s": "x", "n": 7, "b": b"y", "t": True, "z": None}) == {
        "s": {"S": "x"},
        "n": {"N": "7"},
        "b": {"B": b"y"},
        "t": {"N": "1"},
    }


@given(moment=st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda found: found.replace(tzinfo=UTC)))
def test_instants_are_rounded_the_safe_way(moment):
    """Arrivals are cut to the millisecond; due times and expiries are rounded up to the second, never early."""
    lost = moment - instant(milliseconds(moment))
    assert timedelta(0) <= lost < timedelta(milliseconds=1)
    early = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds(moment)) - moment
    assert timedelta(0) <= early < timedelta(seconds=1)


def test_no_instant_is_no_number():
    """What never happened has no time."""
    assert milliseconds(None) is seconds(None) is instant(None) is None


# ---- text


@given(value=json_values)
def test_compressed_json_comes_back(value):
    """Any JSON comes back, and compression never adds more than one byte."""
    data = text.compressed(value)
    assert json.dumps(text.decompressed(data)) == json.dumps(value)
    assert len(data) <= len(text.dumps(value).encode()) + 1


def test_repeated_text_is_compressed():
    """A long conversation takes a fraction of its JSON, and DynamoDB's own kind of bytes can be read."""
    value = ["the same words over and over"] * 1_000
    data = text.compressed(value)
    assert len(data) < len(text.dumps(value)) / 50
    assert text.decompressed(memoryview(data)) == value


def test_json_is_as_short_as_it_can_be():
    """No space is wasted and no letter escaped."""
    assert text.dumps({"a": [1, "é"]}) == '{"a":[1,"é"]}'


# ---- keys


@given(numbers=st.lists(st.integers(0, 999_999_999_999), min_size=2, max_size=2))
def test_sort_keys_keep_the_order_of_numbers(numbers):
    """Batches, windows and revisions sort as their numbers do."""
    first, second = sorted(numbers)
    for key in (keys.batch, keys.window, lambda b, s, n: keys.revision(b, s, "m", n)):
        assert (key("b", "s", first).sk < key("b", "s", second).sk) is (first < second)


def test_no_key_of_one_bank_is_a_key_of_another():
    """Every partition but the banks' own names its bank (I8)."""

    def all_keys(bank):
        return {
            keys.head(bank, "s"),
            keys.batch(bank, "s", 1),
            keys.marker(bank, "s", "e"),
            keys.window(bank, "s", 1),
            keys.candidates(bank, "s", 1, 0),
            keys.plan(bank, "s", 1, 0),
            keys.verdicts(bank, "s", 1, 0),
            keys.version(bank, "c"),
            keys.memory(bank, "c", "m"),
            keys.revision(bank, "c", "m", 1),
            keys.memory_name(bank, "m"),
            keys.registered_scope(bank, "c"),
            keys.registered_stream(bank, "c", "s"),
            keys.bank(bank),
            keys.bank_config(bank),
        }

    assert len(all_keys("b1")) == 15
    assert not all_keys("b1") & all_keys("b2")
    assert not {key.pk for key in all_keys("b1")} & {key.pk for key in all_keys("b2")} - {"BANKS"}
    assert not set(keys.list_partitions("b1", "M")) & set(keys.list_partitions("b2", "M"))


@given(name=st.text(max_size=9))
def test_every_shard_is_walked(name):
    """Whatever is put into a sharded partition lies in one of those that are read."""
    assert due_partitions.partition_of(Key(name, "HEAD")) in due_partitions.shards()
    assert keys.list_partition("b", "M", name) in keys.list_partitions("b", "M")
    shards = [keys.registry("b", shard) for shard in range(keys.REGISTRY_SHARDS)]
    assert keys.registered_scope("b", name).pk in shards
    assert keys.registered_stream("b", name, "s").pk == keys.registered_scope("b", name).pk


def test_shards_share_the_load():
    """Many keys fill all shards."""
    found = {due_partitions.partition_of(Key(f"S#b#{number}", "HEAD")) for number in range(200)}
    assert found == set(due_partitions.shards())


# ---- actions

NAMES = ["ttl", "status", "ver", "PK", "name", "st"]
values = st.dictionaries(st.sampled_from(NAMES[:3]), st.none() | plain, min_size=1, max_size=3)
conditions = st.sampled_from(
    [absent(), present(), absent_or_expired(7), equals(st="SEALED", att=0), equals(name="x") & equals(ver=3) & absent()]
)


def requests(key, said, condition):
    yield Put(key, said, condition)
    yield Put(key, said)
    yield Update(key, said, condition)
    yield Delete(key, condition)
    yield Delete(key)
    yield ConditionCheck(key, condition)


@given(said=values, condition=conditions)
def test_every_name_is_aliased_and_every_alias_is_used(said, condition):
    """No expression holds a bare attribute name, a reserved word among them; DynamoDB refuses what is unused."""
    for action in requests(KEY, said, condition):
        request = action.request("t")
        text_ = " ".join(request.get(part, "") for part in ("ConditionExpression", "UpdateExpression"))
        names, inserted = set(re.findall(r"#\w+", text_)), set(re.findall(r":\w+", text_))
        assert names == set(request.get("ExpressionAttributeNames", {}))
        assert inserted == set(request.get("ExpressionAttributeValues", {}))
        bare = set(re.findall(r"(?<![#:\w])\w+", text_))
        assert bare <= {"SET", "REMOVE", "AND", "OR", "attribute_not_exists", "attribute_exists"}
        assert request["TableName"] == "t"
        assert all(alias == f"#{name}" for alias, name in request.get("ExpressionAttributeNames", {}).items())


def test_an_update_removes_what_is_none():
    """None takes an attribute off, so that it leaves a sparse index."""
    request = Update(KEY, {"G1SK": None, "st": "DONE"}, present()).request("t")
    assert request["UpdateExpression"] == "SET #st = :to_st REMOVE #G1SK"
    assert request["ExpressionAttributeValues"] == {":to_st": {"S": "DONE"}}
    assert Update(KEY, {"G1SK": None}, present()).request("t")["UpdateExpression"] == "REMOVE #G1SK"


def test_a_condition_and_a_new_value_of_one_attribute_stay_apart():
    """An attribute may be compared with one value and set to another in the same request."""
    request = Update(KEY, {"ver": 4}, equals(ver=3)).request("t")
    assert request["UpdateExpression"] == "SET #ver = :to_ver"
    assert request["ConditionExpression"] == "#ver = :is_ver"
    assert request["ExpressionAttributeValues"] == {":to_ver": {"N": "4"}, ":is_ver": {"N": "3"}}


def test_conditions_are_joined_with_and():
    """All clauses must hold; an alternative stays in its own brackets."""
    joined = absent_or_expired(7) & equals(ver=3)
    assert joined.expression == "(attribute_not_exists(#PK) OR #ttl < :now) AND #ver = :is_ver"


@pytest.mark.parametrize("action", [Put(KEY, {"a": None, "n": 1}), Delete(KEY)])
def test_without_a_condition_nothing_is_compared(action):
    """An unconditional write has no expression at all."""
    request = action.request("t")
    assert set(request) in ({"TableName", "Item"}, {"TableName", "Key"})
    if "Item" in request:
        assert request["Item"] == {"PK": {"S": "S#b#s"}, "SK": {"S": "HEAD"}, "sv": {"N": "1"}, "n": {"N": "1"}}
