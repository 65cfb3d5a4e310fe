"""Each deletion leaves a tombstone, which nothing reads but what keeps the past from coming back."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from streambank.model.erasure import ErasureTarget
from streambank.model.memory import Memory
from streambank.model.plan import Plan, PlanStep
from streambank.model.search import RawEvent
from streambank.model.tombstone import Tombstone
from streambank.model.transfer import TransferSpec
from streambank.model.verdict import Verdict
from streambank.model.window import Attempt
from streambank.pipeline.jobs import erase
from streambank.pipeline.memories import purge, search
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.memories.edit import EditContext, roll_back, update_memory
from streambank.pipeline.memories.search import SearchQuery
from streambank.rules.consolidation import deletion
from streambank.rules.edits import Edit
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store import memories as memories_store
from streambank.store.exports import Exports
from tests import aws
from tests.world import SCOPE, World, event

TEXT = "I keep bees"


@pytest.fixture
def world(client: Any) -> World:
    """A world with one memory, made of the event `e1` of stream `s`."""
    world = World(client)
    world.ingest(event(TEXT, "e1"), streamId="s", forceFlush=True)
    world.settle()
    return world


def hashes(world: World) -> KeyedHashes:
    return KeyedHashes.of_scope(world.id_secret, "default", SCOPE)


def the_memory(world: World) -> Memory:
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    return memory


def known(world: World, scope: dict[str, str] = SCOPE) -> list[Tombstone]:
    return world.memories.tombstones("default", scope, now=world.clock())


def by_route(world: World) -> None:
    stores = {"memories": world.memories, "retry_policy": world.retry_policy, "id_secret": world.id_secret}
    delete_memory("default", the_memory(world).id, now=world.clock(), **stores)


def by_purge(world: World) -> None:
    everything = purge.Purge("default", lambda _: True, lambda _: True)
    stores = {"memories": world.memories, "retry_policy": world.retry_policy, "id_secret": world.id_secret}
    assert purge.delete(everything, now=world.clock(), **stores) >= 1


def by_generation(world: World) -> None:
    """Commit the plan that a request to forget leads to."""
    memory = the_memory(world)
    world.ingest(event("Forget: bees", "e2"), streamId="s", forceFlush=True)
    world.deliver()
    world.deliver()
    [payload] = world.executions.running.values()
    attempt = Attempt(payload["bank"], payload["sid"], payload["win"], payload["att"])
    assert world.tasks()["Extract"](payload)["outcome"] == "extracted"
    version = world.memories.version("default", SCOPE).version
    plan = Plan(version, 0, (PlanStep(Verdict.DELETED, memory.id),), {})
    assert world.plans.save_plan(attempt, plan, expires=None)
    assert world.tasks()["Commit"](payload) == {"outcome": "committed"}


def editing(world: World) -> EditContext:
    return world.editing()


DELETIONS = pytest.mark.parametrize("delete", [by_route, by_purge, by_generation])


@DELETIONS
def test_each_deletion_leaves_a_tombstone(world: World, delete: Callable[[World], None]) -> None:
    """It names the event and every text of the memory, for 400 days, in the scope alone."""
    memory = the_memory(world)
    update_memory("default", memory.id, None, Edit(frozenset({"fact"}), "I keep wasps"), context=editing(world))
    world.clock.move(seconds=5)
    delete(world)
    [stone] = known(world)
    sid = memory.evidence[0].sid
    [told] = world.windows.events(world.windows.get("default", sid, 1))
    assert (stone.memory_id, stone.at, stone.is_merge) == (memory.id, world.clock(), False)
    assert stone.events == {hashes(world).of_event(sid, told.event)}
    assert stone.texts == {hashes(world).of_text(TEXT), hashes(world).of_text("I keep wasps")}
    assert known(world, {"user_id": "u2"}) == []
    world.clock.move(days=400, seconds=-1)
    assert known(world) == [stone]
    world.clock.move(seconds=1)
    assert known(world) == []


def test_a_rollback_removes_the_tombstone(world: World) -> None:
    """A memory that came back is not kept away, and its next deletion leaves a tombstone as complete."""
    memory = the_memory(world)
    by_route(world)
    [first] = known(world)
    world.clock.move(hours=1)
    roll_back("default", memory.id, 1, context=editing(world))
    assert known(world) == []
    assert the_memory(world).evidence == memory.evidence
    by_route(world)
    [second] = known(world)
    assert (second.events, second.texts) == (first.events, first.texts)


def test_the_newest_tombstones_are_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scope with more than are read has the newest ones read, newest first."""
    monkeypatch.setattr(memories_store, "MAX_TOMBSTONES", 3)
    for number in range(5):
        made = replace(the_memory(world), id=f"m{number}")
        change = deletion(made, hashes(world), now=world.clock() + timedelta(seconds=number))
        version = world.memories.version("default", SCOPE).version
        world.memories.commit_change("default", SCOPE, version, change, now=world.clock())
    assert [one.memory_id for one in known(world)] == ["m4", "m3", "m2"]


def test_as_many_deletions_as_go_together_are_one_transaction(world: World) -> None:
    """A purge of full transactions deletes all, with a tombstone each."""
    for number in range(2 * purge.TOGETHER):
        world.ingest(event(f"I like {number}", f"x{number}"), streamId="s", rule={"eventCount": 100})
    world.ingest(event("I like all", "x"), streamId="s", forceFlush=True)
    world.settle()
    count = len(world.facts())
    assert count == 2 * purge.TOGETHER + 2
    by_purge(world)
    assert (world.facts(), len(known(world))) == ([], count)


@DELETIONS
def test_an_erasure_takes_tombstones_along(world: World, delete: Callable[[World], None]) -> None:
    """An erased scope has no tombstone, and the erasure counts it, as its dry run did."""
    delete(world)
    would = erase.count_scope("default", SCOPE, ErasureTarget(), context=world.erasing())
    done = erase.erase_scope("default", SCOPE, ErasureTarget(), context=world.erasing())
    assert (would["tombstones"], done.counts["tombstones"], known(world)) == (1, 1, [])
    assert not [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("F#")]


def test_the_end_of_a_bank_takes_tombstones_along(world: World) -> None:
    """Nothing is left of a bank whose contents are deleted."""
    by_route(world)
    list(world.banks.delete_contents("default"))
    assert not [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("F#")]


def test_an_export_has_no_tombstone(world: World) -> None:
    """What was deleted leaves nothing in an export of its scope's memories."""
    by_route(world)
    exported = Exports(world.table, lambda: world.id_secret).records(
        "default", TransferSpec(SCOPE), None, now=world.clock()
    )
    stone = known(world)[0]
    spelled = repr([record for _, record in exported])
    assert not [one for one in (*stone.events, *stone.texts) if one in spelled]


def found(world: World, **asked: bool) -> list[str]:
    result = search.search("default", SCOPE, SearchQuery(TEXT, 9, **asked), context=world.searching())
    return [item.event.event.event_id for _, item in result.hits if isinstance(item, RawEvent)]


def test_a_search_hides_what_a_deleted_memory_cited(world: World) -> None:
    """Of raw events, pending ones too, those of a deleted memory are not found; others and later ones are."""
    world.ingest(event("I keep bees and wasps", "e2"), streamId="s", rule={"eventCount": 100})
    by_route(world)
    assert found(world, events=True, pending=True) == ["e2"]
    assert found(world, events=True) == []
    assert found(world, pending=True) == ["e2"]


def test_an_event_that_comes_again_stays_hidden(world: World) -> None:
    """An event that is accepted again, once its marker has expired, is not found: its id is recognised."""
    by_route(world)
    for item in aws.dump(world.client):
        if item["SK"]["S"].startswith(("D#", "B#")):
            world.client.delete_item(TableName=aws.TABLE, Key={"PK": item["PK"], "SK": item["SK"]})
    receipt = world.ingest(event(TEXT, "e1"), streamId="s", rule={"eventCount": 100})
    assert receipt.accepted == 1
    assert found(world, pending=True) == []


def test_only_a_search_of_events_reads_tombstones(world: World) -> None:
    """A search of memories reads no tombstone; one that searches events makes one query for them."""
    read: list[str] = []

    def note(params: dict[str, Any], **_: Any) -> None:
        read.extend(["tombstones"] if b'"F#' in bytes(params["body"]) else [])

    world.client.meta.events.register("before-call.dynamodb.Query", note)
    try:
        found(world)
        assert read == []
        found(world, events=True)
        assert read == ["tombstones"]
    finally:
        world.client.meta.events.unregister("before-call.dynamodb.Query", note)


def test_equal_texts_of_two_scopes_share_no_hash(world: World) -> None:
    """The tombstones of two scopes with the same words and ids have nothing in common."""
    other = {"user_id": "u2"}
    world.ingest(event(TEXT, "e1"), scope=other, streamId="s", forceFlush=True)
    world.settle()
    by_purge(world)
    [one], [two] = known(world), known(world, other)
    assert not (one.events | one.texts) & (two.events | two.texts)
