"""Keys that are remembered for a minute."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from streambank.errors import Unauthenticated
from streambank.model.api_key import ApiKey, Token
from streambank.model.principal import operator
from streambank.pipeline.api_key_cache import ApiKeyCache
from streambank.store.api_keys import ApiKeys
from tests.world import START, Clock

TOKENS = [Token.from_random_bytes(bytes([number]) * 42) for number in range(5)]


@dataclass
class Counted:
    """A client that counts its reads."""

    client: object
    reads: list[str] = field(default_factory=list)

    def __getattr__(self, name):
        self.reads.append(name)
        return getattr(self.client, name)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def counted(world):
    world.table._client = Counted(world.client)
    return world.table._client.reads


@pytest.fixture
def store(world, counted):
    store = ApiKeys(world.table)
    for token in TOKENS[:4]:
        store.create(ApiKey(token.key_id, token.digest, operator(token.key_id), START, START + timedelta(minutes=10)))
    counted.clear()
    return store


@pytest.fixture
def ring(store, clock):
    return ApiKeyCache(store, clock, max_keys=3)


def refused(ring, text):
    with pytest.raises(Unauthenticated) as found:
        ring.principal(text)
    return str(found.value)


def test_a_token_opens_with_one_read_a_minute(ring, counted, clock):
    """The first use reads one item, further ones nothing until a minute has passed."""
    for _ in range(5):
        assert ring.principal(TOKENS[0].reveal()).name == TOKENS[0].key_id
    clock.move(seconds=59)
    ring.principal(TOKENS[0].reveal())
    assert counted == ["get_item"]
    clock.move(seconds=1)
    ring.principal(TOKENS[0].reveal())
    assert counted == ["get_item"] * 2


def test_a_revoked_key_opens_for_a_minute_at_most(ring, store, clock):
    """What is remembered is forgotten in time."""
    ring.principal(TOKENS[0].reveal())
    store.revoke(TOKENS[0].key_id, now=clock())
    clock.move(seconds=60)
    refused(ring, TOKENS[0].reveal())


def test_an_expired_key_is_not_opened_by_memory(ring, clock):
    """The expiry counts to the second, also for a key that is remembered."""
    clock.move(minutes=9, seconds=59)
    ring.principal(TOKENS[0].reveal())
    clock.move(seconds=1)
    refused(ring, TOKENS[0].reveal())


def test_memory_takes_no_other_secret(ring):
    """A key that is remembered still asks for its own secret."""
    ring.principal(TOKENS[0].reveal())
    refused(ring, Token(TOKENS[0].key_id, TOKENS[1].secret).reveal())


def test_a_clock_that_is_set_back_keeps_no_key(ring, store, clock):
    """What was remembered later than now is read again."""
    clock.move(minutes=5)
    ring.principal(TOKENS[0].reveal())
    store.revoke(TOKENS[0].key_id, now=clock())
    clock.move(minutes=-5)
    refused(ring, TOKENS[0].reveal())


def test_an_unknown_key_is_read_once_in_ten_seconds(ring, counted, clock):
    """Who repeats a key that is not there costs one read, however often."""
    for _ in range(5):
        refused(ring, TOKENS[4].reveal())
    clock.move(seconds=9)
    refused(ring, TOKENS[4].reveal())
    assert counted == ["get_item"]
    clock.move(seconds=1)
    refused(ring, TOKENS[4].reveal())
    assert counted == ["get_item"] * 2


def test_a_key_that_was_refused_opens_ten_seconds_after_it_is_made(ring, store, clock):
    """A key that is made after somebody tried it opens within the time; a key that nobody tried opens at once."""
    refused(ring, TOKENS[4].reveal())
    store.create(ApiKey(TOKENS[4].key_id, TOKENS[4].digest, operator("new"), START))
    clock.move(seconds=10)
    assert ring.principal(TOKENS[4].reveal()).name == "new"


def test_unknown_keys_displace_no_key(ring, counted):
    """A flood of invented ids fills a memory of its own, which has a bound."""
    ring.principal(TOKENS[0].reveal())
    for number in range(100, 120):
        refused(ring, Token.from_random_bytes(bytes([number]) * 42).reveal())
    counted.clear()
    ring.principal(TOKENS[0].reveal())
    assert counted == []
    assert len(ring._unknown) == 3


def test_a_clock_that_is_set_back_keeps_no_refusal(ring, store, clock):
    """An id that was unknown later than now is read again."""
    clock.move(minutes=5)
    refused(ring, TOKENS[4].reveal())
    store.create(ApiKey(TOKENS[4].key_id, TOKENS[4].digest, operator("new"), START))
    clock.move(minutes=-5)
    assert ring.principal(TOKENS[4].reveal()).name == "new"


def test_what_is_no_token_reads_nothing(ring, counted):
    """Nonsense does not reach the table."""
    for text in (None, "", "local", "sb_", TOKENS[0].reveal() + "x", "x" * 10_000):
        refused(ring, text)
    assert counted == []


def test_memory_has_a_bound(ring, counted):
    """The longest known key makes way for a new one; every key still opens."""
    for token in TOKENS[:4]:
        ring.principal(token.reveal())
    assert len(ring._cached) == 3
    counted.clear()
    for token in TOKENS[1:4]:
        ring.principal(token.reveal())
    assert counted == []
    ring.principal(TOKENS[0].reveal())
    assert counted == ["get_item"]


def test_refusals_say_the_same_and_show_nothing(ring, store, clock):
    """Unknown, wrong, revoked: one message, without the token; the ring's own text has no key either."""
    store.revoke(TOKENS[1].key_id, now=clock())
    wrong = Token(TOKENS[0].key_id, TOKENS[2].secret)
    said = {refused(ring, token.reveal()) for token in (TOKENS[4], TOKENS[1], wrong)} | {refused(ring, "nonsense")}
    assert said == {"the request has no valid API key"}
    assert TOKENS[1].key_id not in repr(ring)
