"""Keys in the table."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streambank.errors import Conflict, NotFound
from streambank.model.api_key import ApiKey, Token
from streambank.model.principal import Principal, Role, operator
from streambank.store.api_keys import ApiKeys
from tests import aws

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
times = st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)).map(
    lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)
)
principals = st.builds(
    Principal,
    st.text(max_size=9),
    st.lists(st.sampled_from(["*", "default", "1"]), max_size=3).map(tuple),
    st.frozensets(st.sampled_from(Role)),
    st.none() | st.dictionaries(st.text(min_size=1), st.text(), min_size=1, max_size=3),
)


def made(number, **changes):
    token = Token.from_random_bytes(bytes([number]) * 42)
    return ApiKey(**{"id": token.key_id, "digest": token.digest, "principal": operator("o"), "created": NOW, **changes})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=25)
@given(principal=principals, created=times, expires=st.none() | times, random=st.binary(min_size=42, max_size=42))
def test_a_key_is_found_as_it_was_made(world, principal, created, expires, random):
    """Whatever a principal may do comes back, no more and no less."""
    token = Token.from_random_bytes(random)
    key = ApiKey(token.key_id, token.digest, principal, created, expires)
    store = ApiKeys(world.table)
    if store.find(key.id) is None:
        store.create(key)
        assert store.find(key.id) == key


def test_a_secret_is_not_in_the_table(world):
    """The item holds a digest; what expires is left to DynamoDB too."""
    token = Token.from_random_bytes(bytes(42))
    ApiKeys(world.table).create(ApiKey(token.key_id, token.digest, operator("o"), NOW, NOW + timedelta(seconds=1)))
    [item] = aws.dump(world.client)
    assert token.secret not in str(item)
    assert item["ttl"]["N"] == str(int(NOW.timestamp()) + 1)
    assert (item["PK"]["S"], item["SK"]["S"]) == (f"A#{token.key_id}", "KEY")


def test_an_id_is_taken_once(world):
    """A second key under the same id is refused, and the first stays."""
    store = ApiKeys(world.table)
    store.create(made(1))
    with pytest.raises(Conflict):
        store.create(made(1, principal=Principal("thief", ("*",), frozenset(Role))))
    assert store.find(made(1).id) == made(1)


def test_keys_are_listed_newest_first(world):
    """The list holds every key, revoked ones too, and nothing else."""
    store = ApiKeys(world.table)
    for number in (1, 2, 3):
        store.create(made(number, created=NOW + timedelta(hours=number)))
    store.revoke(made(2).id, now=NOW)
    assert [key.id for key in store.list()] == [made(number).id for number in (3, 2, 1)]
    assert [key.revoked for key in store.list()] == [None, NOW, None]


def test_a_revoked_key_stays_revoked(world):
    """Revoking twice changes nothing, and an unknown id is an error rather than a new item."""
    store = ApiKeys(world.table)
    store.create(made(1))
    for _ in range(2):
        store.revoke(made(1).id, now=NOW)
        assert not store.find(made(1).id).is_live(NOW)
    with pytest.raises(NotFound):
        store.revoke(made(2).id, now=NOW)
    assert len(aws.dump(world.client)) == 1
