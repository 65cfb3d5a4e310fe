"""A large scope is searched by its index, which may lag, be wrong or be away: no reader sees more, or less, of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.errors import Conflict
from streambank.model.erasure import ErasureTarget
from streambank.model.memory import Change, Profile
from streambank.model.scope_index import INDEX_LAG, IndexState
from streambank.pipeline.jobs import erase, index_scope, reindex
from streambank.pipeline.jobs.index_scope import CHECKED_EVERY, COMPARED_EVERY
from streambank.pipeline.memories import scope_reader
from streambank.pipeline.memories.scope_reader import Needed
from streambank.pipeline.memories.search import SearchQuery, search
from streambank.rules import vectors, word_vectors
from streambank.rules.search_ranking import NEAR_TIE, item_key
from streambank.rules.selection import parse_selection
from tests import aws
from tests.large_scopes import (
    CID,
    LARGE,
    build,
    entries,
    find,
    follow,
    forget,
    grown,
    index,
    rewrite,
    say,
    wrong_entries,
)
from tests.pipeline.test_pipeline_faults import Killer, _armed
from tests.pipeline.test_pipeline_interleavings import Interruption
from tests.pipeline.test_pipeline_reindex import ALL_CALLS, Named
from tests.world import SCOPE, World

# ---- growing and shrinking


def test_a_small_scope_has_no_index(client):
    """Up to the limit a scope is read whole, and nothing is written for an index."""
    world = World(client, large_scope=LARGE)
    say(world, *(f"fact number {number}" for number in range(LARGE)))
    assert len(find(world, "fact")) == LARGE
    assert world.indexes.get("default", CID) is None
    assert entries(world) == {}


def test_a_scope_that_has_grown_gets_an_index(client):
    """A search of a scope above the limit starts the work; the sweep does it, and each memory has its entry."""
    world = World(client, large_scope=LARGE)
    say(world, *(f"fact number {number}" for number in range(LARGE + 1)))
    assert len(find(world, "fact")) == LARGE + 1
    assert index(world).state is IndexState.BUILDING
    assert world.sweep().faults == []
    assert (index(world).state, wrong_entries(world)) == (IndexState.BUILDING, [])
    world.clock.instant += INDEX_LAG
    assert world.sweep().faults == []
    assert index(world).state is IndexState.READY


def test_a_generation_of_a_scope_that_has_grown_starts_its_index(client):
    """A scope that nobody searches gets its index too, since generations read it."""
    world = World(client, large_scope=LARGE)
    say(world, *(f"fact number {number}" for number in range(LARGE + 1)))
    assert world.indexes.get("default", CID) is None
    say(world, "one more")
    assert index(world).state is IndexState.BUILDING


def test_a_scope_that_has_shrunk_loses_its_index(client):
    """With half of the limit, no entry and no trace of the index is left at its next check; searches go on."""
    world = grown(client)
    for number in range(LARGE + 1):
        forget(world, f"fact number {number}")
    world.clock.move(hours=49)  # what was deleted is gone by then
    for item in aws.dump(client):
        if item["SK"]["S"].startswith("M#") and "del" in item:
            client.delete_item(TableName=aws.TABLE, Key={"PK": item["PK"], "SK": item["SK"]})
    assert world.sweep().faults == []
    assert world.indexes.get("default", CID) is None
    assert (entries(world), len(find(world, "fact"))) == ({}, 2)
    assert not [item for item in aws.dump(client) if "idx" in item]


def test_an_index_is_one_scopes(client):
    """The memories of another scope are in no result, whatever the index says."""
    world = grown(client)
    say(world, "fact of another scope", scope={"user_id": "u2"})
    other = world.memories.of_scope("default", {"user_id": "u2"}, now=world.clock())[0]
    stranger = next(one for one in entries(world).values())
    client.put_item(TableName=aws.TABLE, Item=stranger | {"SK": {"S": f"Y#{other.id}"}})
    client.put_item(TableName=aws.TABLE, Item=stranger | {"PK": {"S": "C#other#x"}, "SK": {"S": "Y#m"}})
    assert "fact of another scope" not in find(world, "fact of another scope")
    hits = world.indexes.search(index(world), [1.0] * word_vectors.DIMENSIONS, 100)
    assert "m" not in [hit.memory_id for hit in hits]


# ---- what changed lately


def test_what_is_deleted_is_gone_at_once(client):
    """A deleted memory is in no result although its entry is still there; an update shows the new text."""
    world = grown(client)
    forget(world, "fact number 3")
    rewrite(world, "fact number 4", "fact number four")
    facts = find(world, "fact number")
    assert "fact number 3" not in facts
    assert "fact number 4" not in facts
    assert "fact number four" in facts
    assert len(wrong_entries(world)) == 2
    follow(world)
    assert wrong_entries(world) == []


def test_what_is_new_is_there_at_once(client):
    """A new memory is in the results before it has an entry, and for as long as the index may not show its entry."""
    world = grown(client)
    say(world, "the cello is new")
    assert find(world, "cello", 1) == ["the cello is new"]
    follow(world)
    assert wrong_entries(world) == []
    _hide(world, "the cello is new")
    assert find(world, "cello", 1) == ["the cello is new"]


def _hide(world: World, fact: str) -> None:
    """Take the entry of a memory out of the index, as if it had not arrived there yet."""
    [name] = [one.id for one in world.memories.of_scope("default", SCOPE, now=world.clock()) if one.fact == fact]
    key = {"PK": entries(world)[name]["PK"], "SK": entries(world)[name]["SK"]}
    world.client.delete_item(TableName=aws.TABLE, Key=key)


@settings(max_examples=4)
@given(steps=st.lists(st.sampled_from(["new", "delete", "change", "follow", "wait", "sweep"]), min_size=4, max_size=10))
def test_a_search_by_the_index_is_a_search_of_the_whole(emulator, steps):
    """Whatever happens, and however late entries are written, the results are what a search of all memories finds."""
    aws.empty(emulator)
    world = grown(emulator)
    for number, step in enumerate(steps):
        _take(world, step, number)
        by_index = find(world, "fact number 4", 100)
        whole = world.memories.of_scope("default", SCOPE, now=world.clock())
        assert sorted(by_index) == sorted(one.fact for one in whole)
    follow(world)
    assert wrong_entries(world) == []


def _take(world: World, step: str, number: int) -> None:
    facts = sorted(one.fact for one in world.memories.of_scope("default", SCOPE, now=world.clock()))
    match step:
        case "new":
            say(world, f"fact number {number + 100}")
        case "delete" if facts:
            forget(world, facts[0])
        case "change" if facts:
            rewrite(world, facts[-1], f"fact number {number + 200}")
        case "follow":
            follow(world)
        case "wait":
            world.clock.instant += INDEX_LAG
        case "sweep":
            assert world.sweep().faults == []


# ---- generations


def test_a_repeated_fact_is_no_second_memory(client):
    """A generation of a large scope finds the memory with an equal text, also one without an entry yet."""
    world = grown(client)
    say(world, "the cello is new")
    before = world.facts()
    say(world, "the cello is new", "fact number 2")
    assert world.facts() == before


def test_a_model_reads_the_memories_near_the_turns(client):
    """The extraction of a window is given the nearest memories of a large scope."""
    world = grown(client, *(f"fact number {number}" for number in range(70)), "the cello is old")
    say(world, "my cello")
    offered = [memory.fact for memory in world.extractor.requests[-1].memories]
    assert offered[0] == "the cello is old"
    assert len(offered) <= 60


# ---- filters


def test_a_filter_that_rejects_the_nearest_looks_further(client, monkeypatch):
    """The memories that match are found behind those that do not; if not all were compared, the result says so."""
    world = grown(client)
    monkeypatch.setattr(scope_reader, "MAX_NEAREST", 3)
    only = parse_selection('fact="fact number 7"')
    assert find(world, "fact number 0", selection=only) == ["fact number 7"]
    near = lambda: scope_reader.NearText("fact number 0", b"", 3)
    pool = world.reader.pool("default", SCOPE, near, only.matches, 3, now=world.clock())
    assert pool.searched == 0
    monkeypatch.setattr(scope_reader, "MAX_COMPARED", 4)
    pool = world.reader.pool("default", SCOPE, near, only.matches, 3, now=world.clock())
    assert pool.searched == 4


# ---- an index that is away, or wrong


def test_a_word_that_all_the_nearest_memories_have_counts(client):
    """Memories that a search does not read count as memories without its words: what all it reads have is no noise."""
    request = SearchQuery("fact zeppelin", LARGE, explain=True)
    result = search("default", SCOPE, request, context=grown(client).searching())
    shares = [one.share for one in result.explanations.values()]
    # Were those that it reads all there are, "fact" would weigh a fiftieth of "zeppelin".
    assert shares
    assert min(shares) > 0.1
    scores = {key: one.score for key, one in result.explanations.items()}
    for distance, one in result.hits:
        assert distance == pytest.approx(vectors.distance(scores[item_key(one)]), abs=NEAR_TIE)


def test_without_the_tables_index_the_scope_is_read_whole(client, monkeypatch):
    """A client that does not know the call, or a table whose index is still being filled, costs time and no result."""
    world = grown(client)
    expected = find(world, "fact number 4")
    client.update_table(TableName=aws.TABLE, VectorIndexUpdates=[{"Delete": {"IndexName": "vectors"}}])
    try:
        assert find(world, "fact number 4") == expected
        say(world, "fact number 4")
        assert len(world.facts()) == len(expected)
    finally:
        definition = aws._table_definition()
        client.update_table(
            TableName=aws.TABLE,
            AttributeDefinitions=definition["AttributeDefinitions"],
            VectorIndexUpdates=[{"Create": definition["VectorIndexes"][0]}],
        )


def test_a_walk_mends_what_is_wrong(client):
    """Once a week each entry is compared: a missing, a changed and an orphaned one are right afterwards."""
    world = grown(client)
    first, second, *_ = sorted(entries(world).values(), key=lambda one: one["SK"]["S"])
    client.delete_item(TableName=aws.TABLE, Key={"PK": first["PK"], "SK": first["SK"]})
    client.put_item(TableName=aws.TABLE, Item=second | {"w": {"B": b"12345"}})
    client.put_item(TableName=aws.TABLE, Item=second | {"SK": {"S": "Y#gone"}})
    assert len(wrong_entries(world)) == 3
    for _ in range(int(COMPARED_EVERY / CHECKED_EVERY) - 1):
        world.clock.instant += CHECKED_EVERY
        assert world.sweep().faults == []
        assert len(wrong_entries(world)) == 3
    world.clock.instant += CHECKED_EVERY
    assert world.sweep().faults == []
    assert wrong_entries(world) == []


def test_an_index_that_nobody_looked_after_is_compared(client):
    """After half a day without a sweep the records of changes may be gone: everything is compared."""
    world = grown(client)
    say(world, "the cello is new")
    for item in aws.dump(client):
        if item["SK"]["S"].startswith("L#"):
            client.delete_item(TableName=aws.TABLE, Key={"PK": item["PK"], "SK": item["SK"]})
    world.clock.move(hours=19)
    assert world.sweep().faults == []
    assert wrong_entries(world) == []


def test_a_reindex_renews_the_entries(client):
    """A new vector of a memory is in its entry too."""
    world = grown(client, embedder=Named("old"))
    world.embedder = Named("new")
    reindex.reindex_bank("default", context=world.reindexing())
    assert wrong_entries(world) == []


# ---- deaths, and others at the same time


def story(client: Any, kill: Killer) -> World:
    """Build an index, change its scope and follow the changes, until *kill* does."""
    aws.empty(client)
    world = World(client, large_scope=LARGE)
    say(world, *(f"fact number {number}" for number in range(LARGE + 2)))
    world.indexes.begin("default", SCOPE, now=world.clock())
    disarm = _armed(client, kill)
    with suppress(aws.Killed):
        build(world)
        rewrite(world, "fact number 4", "fact number four")
        forget(world, "fact number 3")
        follow(world)
    disarm()
    return world


@ALL_CALLS
def test_a_death_at_any_call_leaves_an_index_that_comes_right(client, most):
    """Whoever builds or follows an index dies before or after a call of AWS: the sweep brings it home."""
    whole = Killer()
    story(client, whole)
    for at in aws.spread(range(2 * whole.calls), most):
        world = story(client, Killer(at=at // 2, after=bool(at % 2)))
        world.clock.move(minutes=5)
        for _ in range(3):
            assert world.sweep().faults == []
        follow(world)
        assert wrong_entries(world) == []


ERASE = lambda world: erase.erase_scope("default", SCOPE, ErasureTarget(), context=world.erasing())


def erased_meanwhile(client: Any, is_built: bool, at: int) -> tuple[World, int]:
    """Erase the scope before call number *at* of a build, or of following a change; return the number of calls too."""
    aws.empty(client)
    world = World(client, large_scope=LARGE)
    say(world, *(f"fact number {number}" for number in range(LARGE + 2)))
    world.indexes.begin("default", SCOPE, now=world.clock())
    if is_built:
        build(world)
        say(world, "the cello is new")
    interruption = Interruption(world, ERASE, at)
    client.meta.events.register("before-call.dynamodb", interruption)
    with suppress(Conflict):
        index_scope.resume("default", CID, context=world.indexing())
    client.meta.events.unregister("before-call.dynamodb", interruption)
    return world, interruption.calls


@ALL_CALLS
@pytest.mark.parametrize("is_built", [False, True], ids=["build", "follow"])
def test_nothing_of_an_erased_scope_is_left_in_the_index(client, is_built, most):
    """An erasure in the middle of a build, or of following changes, leaves no entry."""
    _, calls = erased_meanwhile(client, is_built, -1)
    for at in aws.spread(range(calls), most):
        world, _ = erased_meanwhile(client, is_built, at)
        world.clock.move(minutes=5)
        world.sweep()
        assert entries(world) == {}
        assert world.indexes.get("default", CID) is None


def test_a_deleted_bank_leaves_no_entry(client):
    """The entries go with the partition of their scope."""
    world = grown(client)
    list(world.banks.delete_contents("default"))
    assert [item for item in aws.dump(client) if item["PK"]["S"].startswith("C#")] == []


def test_an_entry_is_not_written_for_an_index_that_is_being_removed(client):
    """Who read the index before its removal writes nothing behind it, neither before its item is gone nor after."""
    world = grown(client)
    before = index(world)
    memories = world.memories.of_scope("default", SCOPE, now=world.clock())
    world.indexes.record_walk(before, state=IndexState.DROPPING)
    world.indexes.drop_entries(world.indexes.entries_after(before, "", 100))
    world.indexes.put(before, memories, now=world.clock())
    assert entries(world) == {}
    index_scope.resume("default", CID, context=world.indexing())
    world.indexes.put(before, memories, now=world.clock())
    assert (entries(world), world.indexes.get("default", CID)) == ({}, None)


def test_a_late_write_of_an_entry_changes_nothing(client):
    """Who read a memory before its change, or took it for deleted, leaves the entry that it has since."""
    world = grown(client)
    before = world.memories.of_scope("default", SCOPE, now=world.clock())
    rewrite(world, "fact number 4", "fact number four")
    follow(world)
    world.indexes.put(index(world), before, now=world.clock())
    assert wrong_entries(world) == []
    world.indexes.remove_entries(index(world), [one.id for one in before])
    assert wrong_entries(world) == []
    forget(world, "fact number 3")
    follow(world)
    world.indexes.put(index(world), before, now=world.clock())
    assert wrong_entries(world) == []


def test_an_entry_of_a_memory_without_a_vector_has_its_text(client):
    """Two texts without vectors differ by their words: a late write of the first one is passed over."""
    world = grown(client)
    [memory, *_] = world.memories.of_scope("default", SCOPE, now=world.clock())
    for fact in ("the first text", "the second text"):
        after = replace(memory, fact=fact, vector=b"")
        version = world.memories.version("default", SCOPE).version
        world.memories.commit_change("default", SCOPE, version, Change(memory, after, None), now=world.clock())
        before, memory = memory, after
    follow(world)
    world.indexes.put(index(world), [before], now=world.clock())
    assert wrong_entries(world) == []


def test_who_follows_late_moves_no_mark_back(client):
    """Two runs that follow the same changes: the later one is turned away."""
    world = grown(client)
    before = index(world)
    say(world, "the cello is new")
    follow(world)
    with pytest.raises(Conflict):
        world.indexes.advance(before, before.version, now=world.clock())


def test_a_generation_knows_all_profiles(client):
    """However long ago a profile was made: who needs profiles is given it, and who does not is not."""
    world = grown(client)
    [memory, *_] = world.memories.of_scope("default", SCOPE, now=world.clock())
    profile = replace(memory, id="p", fact="{}", profile=Profile("s", {}), vector=b"", evidence=())
    version = world.memories.version("default", SCOPE).version
    world.memories.commit_change("default", SCOPE, version, Change(None, profile, None), now=world.clock())
    follow(world)
    for text in ("the cello is new", "the piano is old"):  # the changes after it settle what is visible
        world.clock.instant += INDEX_LAG
        say(world, text)
        follow(world)
    for needed in (True, False):
        view = world.reader.view("default", SCOPE, Needed(profiles=needed), now=world.clock())
        assert ("p" in [one.id for one in view.memories]) is needed
