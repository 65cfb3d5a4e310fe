"""Ingest under an idempotency key: the same body is repeated, another one is refused and changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from streambank.errors import KeyReused
from streambank.model.erasure import ErasureTarget
from streambank.model.stream import Head
from streambank.model.window import DirectMemory
from streambank.pipeline.generation.generate import GenerateCall, generate
from streambank.pipeline.jobs import erase
from tests import aws
from tests.scanner import places
from tests.world import SCOPE, World, event

MANY = {"eventCount": 5_000}


def head(world: World) -> Head:
    sid = world.ingest().operation.id.sid
    stored = world.streams.head("default", sid)
    assert stored is not None
    return stored


ONE = [event("I like tea")]
OTHERS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "another text": ([event("I like jam")], {}),
    "no event": ([], {}),
    "one event more": ([*ONE, event("I ski")], {}),
    "an id": ([event("I like tea", "e1")], {}),
    "a time": ([{**event("I like tea"), "eventTime": "2026-01-01T00:00:00Z"}], {}),
    "a flush": (ONE, {"forceFlush": True}),
    "another rule": (ONE, {"rule": {"eventCount": 7}}),
    "labels": (ONE, {"revisionLabels": {"a": "b"}}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_body_under_a_key_is_refused(world, name):
    """Whatever differs in the second body, the call is refused, and nothing is written."""
    world.ingest(*ONE, key="k", rule=MANY)
    events, more = OTHERS[name]
    before = aws.dump(world.client)
    with pytest.raises(KeyReused, match="idempotency key"):
        world.ingest(*events, key="k", **{"rule": MANY, **more})
    assert aws.dump(world.client) == before


@pytest.mark.parametrize("events", [[event("I ski", "e2")], [event("I like tea", "e1"), event("I ski", "e2")], []])
def test_ids_of_the_events_do_not_hide_another_body(world, events):
    """Events with ids of their own are refused under a used key like others: fewer, more, or new ones."""
    world.ingest(event("I like tea", "e1"), event("I sail", "e3"), key="k", rule=MANY)
    with pytest.raises(KeyReused):
        world.ingest(*events, key="k", rule=MANY)
    assert head(world).count == 2


def test_a_body_in_another_spelling_is_the_same(world):
    """The order of keys, the spelling of fields and defaults make no other body: the call is a replay."""
    first = world.ingest({"content": {"role": "user", "parts": [{"text": "I ski"}]}}, key="k", rule=MANY)
    again = world.ingest(
        {"event_id": "", "content": {"parts": [{"text": "I ski"}]}}, key="k", rule={"event_count": "5000"}
    )
    assert (again.accepted, again.duplicates) == (0, 1)
    assert again.operation.id == first.operation.id


def test_a_key_is_forgotten_with_the_ids_that_it_gave(world):
    """After the dedup horizon a key is a new one; the day before it is not."""
    world.ingest(*ONE, key="k", rule=MANY)
    world.clock.move(days=89)
    with pytest.raises(KeyReused):
        world.ingest(event("I ski"), key="k", rule=MANY)
    world.clock.move(days=2)
    assert world.ingest(event("I ski"), key="k", rule=MANY).accepted == 1


@pytest.mark.parametrize("count", [96, 97, 250])
def test_a_large_call_is_one_body(world, count):
    """A call in several parts is repeated as a whole; one event less or another last event is refused."""
    events = [event(f"I like tea {number}") for number in range(count)]
    assert world.ingest(*events, key="k", rule=MANY).accepted == count
    assert world.ingest(*events, key="k", rule=MANY).duplicates == count
    for others in (events[:-1], [*events[:-1], event("I ski")]):
        with pytest.raises(KeyReused):
            world.ingest(*others, key="k", rule=MANY)
    assert head(world).count == count


def test_a_call_that_broke_off_is_continued_by_its_own_body_alone(world):
    """After the first part of a call was stored, its repetition stores the rest, and another body nothing."""
    events = [event(f"I like tea {number}") for number in range(150)]
    calls = []

    def break_off(model, **_):
        calls.append(model.name)
        if calls.count("TransactWriteItems") == 2:
            raise RuntimeError

    world.client.meta.events.register("before-call.dynamodb", break_off)
    try:
        with pytest.raises(RuntimeError):
            world.ingest(*events, key="k", rule=MANY)
    finally:
        world.client.meta.events.unregister("before-call.dynamodb", break_off)
    with pytest.raises(KeyReused):
        world.ingest(event("I ski"), key="k", rule=MANY)
    receipt = world.ingest(*events, key="k", rule=MANY)
    assert receipt.accepted + receipt.duplicates == head(world).count == 150


def test_of_two_bodies_at_once_one_is_refused(world):
    """However calls with one key meet, exactly one body is stored."""

    def send(number: int) -> int | None:
        try:
            return world.ingest(event(f"I have {number} cats"), event("I ski"), key="k", rule=MANY).accepted
        except KeyReused:
            return None

    with ThreadPoolExecutor(4) as threads:
        outcomes = list(threads.map(send, [1, 2, 1, 2]))
    assert sorted(one or 0 for one in outcomes) == [0, 0, 0, 2]
    assert outcomes.count(None) == 2
    assert head(world).count == 2


def test_a_key_costs_one_item_and_no_call(world):
    """The marker of a key is one item in the transaction of its call; without a key there is none."""

    def cost(key: str | None) -> tuple[int, int]:
        items, calls = len(aws.dump(world.client)), []
        world.client.meta.events.register("before-call.dynamodb", lambda model, **_: calls.append(model.name), "n")
        world.ingest(event("I ski"), event("I sail", f"e {key}"), key=key, rule=MANY)
        world.client.meta.events.unregister("before-call.dynamodb", unique_id="n")
        return len(aws.dump(world.client)) - items, len(calls)

    world.ingest(event("Hm."), rule=MANY)
    (bare, calls), (keyed, keyed_calls) = cost(None), cost("k")
    assert (bare, keyed, keyed_calls) == (2, 4, calls)


def test_an_erasure_takes_the_fingerprint_of_a_call(world):
    """After a scope is erased, nothing that was derived from the body of a call with a key is left."""
    world.ingest(*ONE, key="k", rule=MANY)
    erase.erase_scope("default", SCOPE, ErasureTarget("u1", ()), context=world.erasing())
    markers = [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("D#")]
    assert len(markers) == 2
    assert not [item for item in markers if "h" in item]
    assert world.ingest(*ONE, key="k", rule=MANY).duplicates == 1


def test_an_erasure_takes_the_fingerprint_of_a_direct_call(world):
    """The window of a direct generation has the fingerprint of its call until it is erased; the key stays used."""
    given = GenerateCall("default", SCOPE, "k", memories=(DirectMemory("I ski"),), fingerprint=b"f" * 12)
    first = generate(given, context=world.generating)
    with pytest.raises(KeyReused):
        generate(replace(given, fingerprint=b"g" * 12), context=world.generating)
    world.settle()
    assert places(world.client, "ffffffffffff")
    erase.erase_scope("default", SCOPE, ErasureTarget("u1", ()), context=world.erasing())
    assert places(world.client, "ffffffffffff") == []
    assert generate(replace(given, fingerprint=b"g" * 12), context=world.generating).id == first.id
