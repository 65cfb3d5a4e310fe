"""Reindexes in the table: the job, the walk over the memories, and the write of a vector."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.errors import Conflict
from streambank.model.memory import Change
from streambank.model.reindex import reindex_number
from streambank.pipeline.jobs import erase
from streambank.rules import vectors
from streambank.store.reindexes import Reindexes
from tests import aws
from tests.world import SCOPE, START, event

OLD, NEW = vectors.pack([1, 2], "old"), vectors.pack([2, 1], "new")
ELSEWHERE = {"user_id": "u2"}


@pytest.fixture
def reindexes(world):
    return Reindexes(world.table)


def remembered(world, *texts, scope=SCOPE):
    world.ingest(*map(event, texts), scope=scope, forceFlush=True)
    world.settle()


def memory_of(world, scope=SCOPE):
    [memory] = world.memories.of_scope("default", scope, now=world.clock())
    return memory


def changed(world, before, **more):
    """Store a change of a memory, as an edit does."""
    version = world.memories.version("default", before.scope).version
    after = replace(before, **more)
    world.memories.commit_change("default", before.scope, version, Change(before, after, None), now=world.clock())
    return after


def facts(reindexes, after=None):
    return sorted(memory.fact for _, memory in reindexes.memories("default", after, now=START) if memory)


def test_a_job_is_read_as_it_was_written(reindexes):
    """Whatever a run records is there for the next one."""
    begun = reindexes.begin("default", now=START)
    claimed = reindexes.claim(begun, now=START)
    going = reindexes.record_progress(claimed, (3, "C#x", "m"), {"reindexed": 2, "kept": 0}, now=START)
    assert reindexes.find("default") == going
    assert (going.id, going.run, going.counts) == ("reindex-1", 1, {"reindexed": 2})
    done = reindexes.finish(going, "no", now=START)
    assert reindexes.find("default") == done
    assert (done.ended, done.failure) == (START, "no")


def test_a_second_job_begins_after_the_first(reindexes):
    """A job under way is joined; after its end the next one has the next number and knows nothing of the first."""
    begun = reindexes.begin("default", now=START)
    assert reindexes.begin("default", now=START + timedelta(1)) == begun
    reindexes.finish(reindexes.record_progress(begun, (1, "C#x", ""), {"kept": 1}, now=START), "no", now=START)
    again = reindexes.begin("default", now=START)
    assert (again.number, again.cursor, again.counts) == (2, None, {})
    assert reindexes.find("default") == again
    assert reindexes.find("other") is None


def test_an_earlier_run_records_nothing(reindexes):
    """Once another run has claimed the job, the one before it neither records progress nor ends the job."""
    earlier = reindexes.claim(reindexes.begin("default", now=START), now=START)
    later = reindexes.claim(earlier, now=START)
    for write in (reindexes.claim, reindexes.finish):
        with pytest.raises(Conflict):
            write(earlier, now=START)
    with pytest.raises(Conflict):
        reindexes.record_progress(earlier, None, {}, now=START)
    assert reindexes.find("default") == later


def test_the_walk_goes_on_behind_each_cursor(world, reindexes):
    """From every cursor on exactly the rest is read, and no memory comes twice."""
    remembered(world, "a", "b", "c")
    remembered(world, "d", scope=ELSEWHERE)
    rows = list(reindexes.memories("default", None, now=START))
    assert sorted(memory.fact for _, memory in rows if memory) == ["a", "b", "c", "d"]
    for number, (cursor, _) in enumerate(rows, 1):
        assert list(reindexes.memories("default", cursor, now=START)) == rows[number:]


def test_only_live_memories_are_read(world, reindexes):
    """What is deleted or expired is left out, and so is a scope that is being erased."""
    remembered(world, "a")
    remembered(world, "b", scope=ELSEWHERE)
    kept = memory_of(world)
    changed(world, kept, expires=START)
    assert facts(reindexes) == ["b"]
    world.erasures.begin("default", ELSEWHERE, erase.ErasureTarget(), now=START)
    assert facts(reindexes) == []


def test_a_vector_changes_nothing_else(world, reindexes):
    """A new vector is the only difference: not the memory's time, and not its scope's version."""
    remembered(world, "a")
    before, items = memory_of(world), aws.dump(world.client)
    assert reindexes.write_vector("default", before, NEW)
    assert memory_of(world) == replace(before, vector=NEW)
    differing = [(one, two) for one, two in zip(items, aws.dump(world.client), strict=True) if one != two]
    [(old, new)] = differing
    assert old | {"vec": new["vec"]} == new


def test_a_memory_without_a_vector_gets_one(world, reindexes):
    """An absent vector is a vector that was read."""
    remembered(world, "a")
    bare = changed(world, memory_of(world), vector=b"")
    assert reindexes.write_vector("default", bare, NEW)
    assert not reindexes.write_vector("default", bare, OLD)
    assert memory_of(world).vector == NEW


@pytest.mark.parametrize("change", [{"fact": "b"}, {"vector": OLD}, {"deleted": START}])
def test_a_memory_that_changed_is_left(world, reindexes, change):
    """A new text, a new vector and a deletion each refuse the vector of what was read."""
    remembered(world, "a")
    before = memory_of(world)
    changed(world, before, **change)
    items = aws.dump(world.client)
    assert not reindexes.write_vector("default", before, NEW)
    assert aws.dump(world.client) == items


def test_a_memory_that_is_gone_is_not_brought_back(world, reindexes):
    """After an erasure the write of a vector makes no item."""
    remembered(world, "a")
    before = memory_of(world)
    erase.erase_bank("default", context=world.erasing())
    assert not reindexes.write_vector("default", before, NEW)
    assert world.facts() == []
    assert not [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("M#")]


def test_a_change_does_not_bring_back_an_older_vector(world, reindexes):
    """A change that keeps the vector which it read is refused after a reindex, though the version is the same."""
    remembered(world, "a")
    before = memory_of(world)
    reindexes.write_vector("default", before, NEW)
    with pytest.raises(Conflict):
        changed(world, before, display_name="x")
    assert memory_of(world).vector == NEW
    changed(world, memory_of(world), display_name="x")
    changed(world, memory_of(world), fact="b", vector=OLD)
    assert memory_of(world).vector == OLD


def test_ids_of_operations():
    """A number is read from an operation of a reindex, and from no other."""
    assert reindex_number("reindex-12") == 12
    for text in ("reindex", "reindex-0", "reindex-01", "export-1", "reindex-1-g"):
        assert reindex_number(text) is None
